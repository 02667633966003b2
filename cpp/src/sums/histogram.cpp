#include "committee/sums/histogram.hpp"

#include <algorithm>
#include <cstring>

#include "committee/base/clones.hpp"
#include "sums/wide_histogram.hpp"

namespace committee {
namespace {

constexpr std::size_t kAhead = 32;  // rows prefetched ahead of the one being added
constexpr std::size_t kTileFeatures =
    64;  // 64 * 256 words: the tile stays in the second cache, rows in the first
constexpr std::size_t kTileRows = 2048;
constexpr std::size_t kChunkRows = 2048;  // of one task when a node is shared among threads

/// Adds a word to the first n <= 8 features of `w`, a byte each. By the bits of n: a loop would
/// cost more than the sums.
COMMITTEE_INLINE void add_rest8(std::uint64_t w, std::int64_t a, std::int64_t* h, std::size_t n) {
  if ((n & 4) != 0) {
    h[w & 255] += a;
    h[kApart8 + ((w >> 8) & 255)] += a;
    h[2 * kApart8 + ((w >> 16) & 255)] += a;
    h[3 * kApart8 + ((w >> 24) & 255)] += a;
    w >>= 32;
    h += 4 * kApart8;
  }
  if ((n & 2) != 0) {
    h[w & 255] += a;
    h[kApart8 + ((w >> 8) & 255)] += a;
    w >>= 16;
    h += 2 * kApart8;
  }
  if ((n & 1) != 0) h[w & 255] += a;
}

/// Adds a word to the bins of 8 n_whole + n_rest features of one row, read eight at a time.
COMMITTEE_INLINE void add_row8(const std::uint8_t* x, std::int64_t a, std::int64_t* h,
                               std::size_t n_whole, std::size_t n_rest) {
  std::uint64_t w;
#pragma GCC unroll 8
  for (std::size_t j = 0; j < n_whole; ++j, x += 8, h += 8 * kApart8) {
    std::memcpy(&w, x, 8);
    h[w & 255] += a;
    h[kApart8 + ((w >> 8) & 255)] += a;
    h[2 * kApart8 + ((w >> 16) & 255)] += a;
    h[3 * kApart8 + ((w >> 24) & 255)] += a;
    h[4 * kApart8 + ((w >> 32) & 255)] += a;
    h[5 * kApart8 + ((w >> 40) & 255)] += a;
    h[6 * kApart8 + ((w >> 48) & 255)] += a;
    h[7 * kApart8 + (w >> 56)] += a;
  }
  if (n_rest == 0) return;
  std::memcpy(&w, x, 8);  // may read past the row: the matrix keeps 64 bytes behind its last one
  add_rest8(w, a, h, n_rest);
}

/// Most rows that are not are told by their ends; the others are read in one pass, which
/// vectorises.
bool in_order(const RowId* rows, std::size_t n_rows) {
  if (rows[n_rows - 1] - rows[0] != n_rows - 1) return false;
  RowId strange = 0;
  for (std::size_t i = 0; i < n_rows; ++i) strange |= rows[i] ^ (rows[0] + static_cast<RowId>(i));
  return strange == 0;
}

/// Rows in order need no index and no prefetch; gathered ones are asked for kAhead rows early.
template <std::size_t kWhole>
COMMITTEE_INLINE void add_rows8(const std::uint8_t* codes, std::size_t stride, const RowId* rows,
                                std::size_t n_rows, const std::int64_t* words, std::int64_t* out,
                                std::size_t n_rest) {
  if (in_order(rows, n_rows)) {
    const std::uint8_t* x = codes + std::size_t{rows[0]} * stride;
    const std::int64_t* a = words + rows[0];
    for (std::size_t i = 0; i < n_rows; ++i, x += stride) add_row8(x, a[i], out, kWhole, n_rest);
    return;
  }
  for (std::size_t i = 0; i < n_rows; ++i) {
    const std::size_t ahead = rows[std::min(i + kAhead, n_rows - 1)];
    __builtin_prefetch(codes + ahead * stride);
    __builtin_prefetch(codes + ahead * stride + stride - 1);  // of many a row the next line
    __builtin_prefetch(words + ahead);
    add_row8(codes + std::size_t{rows[i]} * stride, words[rows[i]], out, kWhole, n_rest);
  }
}

/// Packed words, one byte a bin: the kernel that everything rests on. At most kTileFeatures
/// features; that they are so and so many words is known to the compiler, because a loop over the
/// words of a row would cost a tenth of the time.
COMMITTEE_CLONES
void add_packed8(const std::uint8_t* codes, std::size_t stride, const RowId* rows,
                 std::size_t n_rows, const std::int64_t* words, std::int64_t* out,
                 std::size_t first, std::size_t last) {
  const std::size_t n_rest = (last - first) % 8;
  codes += first;
  out += first * kApart8;
  switch ((last - first) / 8) {
    case 0:
      return add_rows8<0>(codes, stride, rows, n_rows, words, out, n_rest);
    case 1:
      return add_rows8<1>(codes, stride, rows, n_rows, words, out, n_rest);
    case 2:
      return add_rows8<2>(codes, stride, rows, n_rows, words, out, n_rest);
    case 3:
      return add_rows8<3>(codes, stride, rows, n_rows, words, out, n_rest);
    case 4:
      return add_rows8<4>(codes, stride, rows, n_rows, words, out, n_rest);
    case 5:
      return add_rows8<5>(codes, stride, rows, n_rows, words, out, n_rest);
    case 6:
      return add_rows8<6>(codes, stride, rows, n_rows, words, out, n_rest);
    case 7:
      return add_rows8<7>(codes, stride, rows, n_rows, words, out, n_rest);
    default:
      return add_rows8<8>(codes, stride, rows, n_rows, words, out, n_rest);
  }
}
static_assert(kTileFeatures == 64);

/// Rows with their statistics behind their bins, in records of 8 kWords bytes.
template <std::size_t kWords>
COMMITTEE_INLINE void add_records(const std::uint8_t* records, const RowId* rows,
                                  std::size_t n_rows, unsigned shift, std::int64_t* out,
                                  std::size_t p) {
  constexpr std::size_t kSize = 8 * kWords;
  const std::size_t n_whole = p / 8, n_rest = p % 8;
  for (std::size_t i = 0; i < std::min(kAhead, n_rows); ++i)
    __builtin_prefetch(records + rows[i] * kSize);
  for (std::size_t i = 0; i < n_rows; ++i) {
    __builtin_prefetch(records + rows[std::min(i + kAhead, n_rows - 1)] * kSize);
    const std::uint8_t* x = records + std::size_t{rows[i]} * kSize;
    const std::int64_t a = narrow_word(x + kSize - kStatBytes, shift);
    if (kWords == 4 && p == 28) {
      add_row8(x, a, out, 3, 4);
    } else {
      add_row8(x, a, out, n_whole, n_rest);
    }
  }
}

COMMITTEE_CLONES
void add_record_rows(const std::uint8_t* records, std::size_t size, const RowId* rows,
                     std::size_t n_rows, unsigned shift, std::int64_t* out, std::size_t p) {
  switch (size) {
    case 16:
      return add_records<2>(records, rows, n_rows, shift, out, p);
    case 32:
      return add_records<4>(records, rows, n_rows, shift, out, p);
    default:
      return add_records<8>(records, rows, n_rows, shift, out, p);
  }
}

/// Rows in tiles so that a wide matrix's histogram is written tile by tile.
void add_packed8_tiled(const BinnedMatrix& m, const Stats& stats, const RowId* rows,
                       std::size_t n_rows, std::int64_t* out) {
  const std::size_t p = m.n_features;
  if (p <= kTileFeatures) {
    add_packed8(m.rows8(), m.stride8(), rows, n_rows, stats.words.data(), out, 0, p);
    return;
  }
  for (std::size_t begin = 0; begin < n_rows; begin += kTileRows) {
    const std::size_t n = std::min(kTileRows, n_rows - begin);
    for (std::size_t first = 0; first < p; first += kTileFeatures) {
      const std::size_t last = std::min(p, first + kTileFeatures);
      add_packed8(m.rows8(), m.stride8(), rows + begin, n, stats.words.data(), out, first, last);
    }
  }
}

/// Calls visit(histogram slot) for each stored cell of a row.
template <class Visit>
void for_each_slot(const BinnedMatrix& m, std::size_t row, Visit visit) {
  const std::uint64_t* offset = m.column_offset.data();
  if (m.layout == Layout::dense8) {
    const std::uint8_t* x = m.rows8() + row * m.stride8();
    for (std::size_t j = 0; j < m.n_features; ++j) visit(j * kApart8 + x[j]);
  } else if (m.layout == Layout::dense16) {
    const std::uint16_t* x = m.codes16.data() + row * m.n_features;
    for (std::size_t j = 0; j < m.n_features; ++j) visit(offset[j] + x[j]);
  } else {
    for (std::size_t e = m.row_begin[row]; e < m.row_begin[row + 1]; ++e) {
      visit(offset[m.entry_feature[e]] + m.entry_code[e]);
    }
  }
}

/// Sums of bundles, then of their features.
void add_bundled(const Bundles& bundles, const Stats& stats, const RowId* rows, std::size_t n,
                 std::int64_t* out) {
  thread_local std::vector<std::int64_t> sums;
  sums.assign(bundles.size() * kApart8, 0);
  if (stats.beside_bins()) {
    add_record_rows(bundles.rows(), bundles.stride(), rows, n, stats.shift, sums.data(),
                    bundles.size());
  } else {
    add_packed8(bundles.rows(), bundles.stride(), rows, n, stats.words.data(), sums.data(), 0,
                bundles.size());
  }
  bundles.expand(sums.data(), out);
}

/// Any layout, packed rows into single words.
void add_packed(const BinnedMatrix& m, const Stats& stats, const RowId* rows, std::size_t n,
                std::int64_t* out) {
  if (!m.bundles().empty()) return add_bundled(m.bundles(), stats, rows, n, out);
  if (stats.beside_bins()) {
    return add_record_rows(m.rows8(), m.stride8(), rows, n, stats.shift, out, m.n_features);
  }
  if (m.layout == Layout::dense8) return add_packed8_tiled(m, stats, rows, n, out);
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t a = stats.words[rows[i]];
    for_each_slot(m, rows[i], [&](std::size_t slot) { out[slot] += a; });
  }
}

/// Packed rows into two words: blocks that cannot overflow are summed packed, then widened.
void add_blocks(const BinnedMatrix& m, const Stats& stats, std::span<const RowId> rows,
                Histogram& out) {
  std::vector<std::int64_t> block(m.histogram_size(), 0);
  const std::int64_t mask = (std::int64_t{1} << stats.shift) - 1;
  for (std::size_t begin = 0; begin < rows.size(); begin += stats.block_rows) {
    const std::size_t n = std::min(stats.block_rows, rows.size() - begin);
    add_packed(m, stats, rows.data() + begin, n, block.data());
    for (std::size_t i = 0; i < block.size(); ++i) {
      out[2 * i] += block[i] >> stats.shift;
      out[2 * i + 1] += block[i] & mask;
      block[i] = 0;
    }
  }
}

void add_wide(const BinnedMatrix& m, const Stats& stats, std::span<const RowId> rows,
              Histogram& out) {
  const std::size_t width = stats.width;
  if (m.layout == Layout::dense8) {
    return add_wide8(m.rows8(), m.stride8(), m.n_features, rows.data(), rows.size(),
                     stats.words.data(), width, out.data());
  }
  for (const RowId row : rows) {
    const std::int64_t* v = stats.words.data() + row * width;
    for_each_slot(m, row, [&](std::size_t slot) {
      std::int64_t* cell = out.data() + slot * width;
      for (std::size_t j = 0; j < width; ++j) cell[j] += v[j];
    });
  }
}

void add_one_hot(const BinnedMatrix& m, const Stats& stats, std::span<const RowId> rows,
                 Histogram& out) {
  const std::size_t width = stats.width;
  for (const RowId row : rows) {
    const std::uint32_t* slots = stats.slots.data() + row * stats.n_outputs;
    const std::int64_t w = stats.words[row];
    for_each_slot(m, row, [&](std::size_t slot) {
      std::int64_t* cell = out.data() + slot * width;
      for (std::size_t k = 0; k < stats.n_outputs; ++k) cell[slots[k]] += w;
      if (stats.has_count()) cell[width - 1] += 1;
    });
  }
}

COMMITTEE_CLONES
void add_words(std::int64_t* a, const std::int64_t* b, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) a[i] += b[i];
}

COMMITTEE_CLONES
void subtract_words(std::int64_t* a, const std::int64_t* b, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) a[i] -= b[i];
}

}  // namespace

void accumulate(const BinnedMatrix& matrix, const Stats& stats, std::span<const RowId> rows,
                Histogram& out) {
  if (rows.empty()) return;
  if (stats.form == RowForm::packed) {
    if (stats.width == 1) {
      add_packed(matrix, stats, rows.data(), rows.size(), out.data());
    } else {
      add_blocks(matrix, stats, rows, out);
    }
  } else if (stats.form == RowForm::wide) {
    add_wide(matrix, stats, rows, out);
  } else {
    add_one_hot(matrix, stats, rows, out);
  }
}

void accumulate(const BinnedMatrix& matrix, const Stats& stats, std::span<const RowId> rows,
                Histogram& out, HistogramPool& spare, const Context& context) {
  const std::size_t n_chunks = (rows.size() + kChunkRows - 1) / kChunkRows;
  if (context.n_threads <= 1 || n_chunks < 2) return accumulate(matrix, stats, rows, out);
  std::vector<Histogram> own(static_cast<std::size_t>(context.n_threads));
  parallel_for(n_chunks, context, [&](std::size_t chunk, int slot) {
    Histogram& mine = slot == 0 ? out : own[static_cast<std::size_t>(slot)];
    if (mine.empty()) mine = spare.take();
    const std::size_t begin = chunk * kChunkRows;
    accumulate(matrix, stats, rows.subspan(begin, std::min(kChunkRows, rows.size() - begin)), mine);
  });
  for (Histogram& histogram : own) {
    if (histogram.empty()) continue;
    add(out, histogram);
    spare.give(std::move(histogram));
  }
}

void fill_zero_bin(const BinnedMatrix& matrix, std::span<const std::int64_t> totals,
                   std::size_t feature, Histogram& histogram) {
  const std::size_t width = totals.size(), first = matrix.column_offset[feature];
  const std::size_t n_cells = matrix.column_offset[feature + 1] - first;
  std::int64_t* const cells = histogram.data() + first * width;
  std::int64_t* const zero = cells + matrix.zero_bin[feature] * width;
  std::copy(totals.begin(), totals.end(), zero);
  for (std::int64_t* cell = cells; cell < cells + n_cells * width; cell += width) {
    if (cell == zero) continue;
    for (std::size_t j = 0; j < width; ++j) zero[j] -= cell[j];
  }
}

void fill_zero_bins(const BinnedMatrix& matrix, std::span<const std::int64_t> totals,
                    Histogram& histogram) {
  if (matrix.layout != Layout::sparse) return;
  for (std::size_t f = 0; f < matrix.n_features; ++f) fill_zero_bin(matrix, totals, f, histogram);
}

void subtract_rows(const BinnedMatrix& matrix, const Stats& stats, std::span<const RowId> rows,
                   Histogram& parent) {
  stats.with_words([&](auto word) {
    for (const RowId row : rows)
      for_each_slot(matrix, row, [&, a = word(row)](std::size_t slot) { parent[slot] -= a; });
  });
}

void subtract(Histogram& parent, const Histogram& child) {
  subtract_words(parent.data(), child.data(), parent.size());
}

void add(Histogram& sum, const Histogram& other) {
  add_words(sum.data(), other.data(), sum.size());
}

Histogram HistogramPool::take() {
  Histogram histogram;
  {
    const std::scoped_lock lock(mutex_);
    if (!free_.empty()) {
      histogram = std::move(free_.back());
      free_.pop_back();
    }
  }
  histogram.assign(size_, 0);
  return histogram;
}

void HistogramPool::give(Histogram&& histogram) {
  if (histogram.empty()) return;
  const std::scoped_lock lock(mutex_);
  free_.push_back(std::move(histogram));
}

}  // namespace committee
