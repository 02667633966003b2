#include "committee/growth/block.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "committee/base/clones.hpp"
#include "growth/block_lanes.hpp"
#include "sums/units.hpp"

namespace committee {
namespace {

static_assert(kMaxBlockRows <= kMinBlock);
constexpr std::size_t kTile = 32;    // features copied together: one write stream each
constexpr std::size_t kTurned = 16;  // rows and features of bytes that are turned together

/// The smallest and the largest byte of each column of some rows, 32 columns at a time.
COMMITTEE_CLONES
void bound_columns(const std::uint8_t* rows, std::size_t stride, const std::uint16_t* order,
                   std::size_t n, std::uint8_t* low, std::uint8_t* high) {
  for (std::size_t first = 0; first < stride; first += kLanes) {
    Lanes least, most, x;
    std::memcpy(&least, rows + order[0] * stride + first, kLanes);
    most = least;
    for (std::size_t i = 1; i < n; ++i) {
      std::memcpy(&x, rows + order[i] * stride + first, kLanes);
      least = x < least ? x : least;
      most = x > most ? x : most;
    }
    std::memcpy(low + first, &least, kLanes);
    std::memcpy(high + first, &most, kLanes);
  }
}

/// Sixteen rows of sixteen bytes, which four perfect shuffles turn into columns.
struct Square {
  using Row = std::uint8_t __attribute__((vector_size(kTurned)));
  Row row[kTurned];

  void turn() {
    for (int round = 0; round < 4; ++round) {
      Row next[kTurned];
#pragma GCC unroll 8
      for (std::size_t i = 0; i < kTurned / 2; ++i) {
        const Row a = row[i], b = row[i + kTurned / 2];
        next[2 * i] =
            __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        next[2 * i + 1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13,
                                                  29, 14, 30, 15, 31);
      }
      std::memcpy(row, next, sizeof(row));
    }
  }
};

/// 64 bytes, each 0 or 1, as bits, and clears them. A loop over these bits ends once for 64 codes:
/// where a loop ends can rarely be foretold, and costs more than the codes themselves.
inline std::uint64_t take_bits(std::uint64_t* bytes) {
  constexpr std::uint64_t kGather = 0x0102040810204080;  // brings byte i to bit 56 + i
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < 8; ++i) bits |= (std::exchange(bytes[i], 0) * kGather >> 56) << (8 * i);
  return bits;
}

}  // namespace

std::size_t block_rows(const BinnedMatrix& matrix, const Stats& stats, bool by_row) {
  if (by_row) return kMaxBlockRows;
  constexpr std::size_t kSecondCache = std::size_t{1} << 20;
  const bool near = matrix.histogram_size() * stats.width * 8 <= kSecondCache;
  const bool dense = matrix.layout != Layout::sparse;
  if (stats.kind == SumKind::newton && stats.packed_histogram() && dense) return near ? 64 : 128;
  return near && stats.width <= 2 ? 32 : 512;
}

Block::Block(const BinnedMatrix& matrix, const Stats& stats, bool by_row)
    : matrix_(matrix),
      stats_(stats),
      by_row_(by_row),
      stride_((matrix.n_features + kLanes - 1) / kLanes * kLanes) {}

void Block::load_rows() {
  const std::size_t p = matrix_.n_features;
  rows8_.resize(rows_.size() * stride_);
  for (auto* lanes : {&low_, &high_, &cut_, &below_, &above_}) lanes->resize(stride_);
  n_below_.resize(stride_);
  n_second_below_.resize(stride_);
  for (std::size_t i = 0; i < rows_.size(); ++i)
    std::memcpy(rows8_.data() + i * stride_, matrix_.rows8() + rows_[i] * matrix_.stride8(), p);
}

/// Rows become columns sixteen by sixteen: what is read past the last feature becomes a column that
/// nobody looks at.
void Block::load_bytes() {
  const std::size_t m = rows_.size(), p = matrix_.n_features, stride = matrix_.stride8();
  apart_ = (m + kLineRows - 1) / kLineRows * kLineRows;
  const std::size_t n_columns = (p + kTurned - 1) / kTurned * kTurned;
  if (columns8_.size() < n_columns * apart_) columns8_.resize(n_columns * apart_);
  for (std::size_t first = 0; first < p; first += kTurned) {
    const std::uint8_t* const codes = matrix_.rows8() + first;
    for (std::size_t begin = 0; begin < apart_; begin += kTurned) {
      Square square;
      for (std::size_t i = 0; i < kTurned; ++i) {
        square.row[i] = Square::Row{};
        if (begin + i < m) std::memcpy(&square.row[i], codes + rows_[begin + i] * stride, kTurned);
      }
      square.turn();
      for (std::size_t f = 0; f < kTurned; ++f)
        std::memcpy(columns8_.data() + (first + f) * apart_ + begin, &square.row[f], kTurned);
    }
  }
}

void Block::load_pairs() {
  const std::size_t p = matrix_.n_features, m = rows_.size();
  if (columns16_.size() < p * m) columns16_.resize(p * m);
  for (std::size_t first = 0; first < p; first += kTile) {
    const std::size_t last = std::min(p, first + kTile);
    for (std::size_t i = 0; i < m; ++i) {
      const std::uint16_t* x = matrix_.codes16.data() + rows_[i] * p;
      for (std::size_t f = first; f < last; ++f) columns16_[f * m + i] = x[f];
    }
  }
}

void Block::load(std::span<const RowId> rows) {
  rows_.assign(rows.begin(), rows.end());
  const std::size_t m = rows_.size();
  order_.resize(m);
  spare_order_.resize(m);
  for (std::size_t i = 0; i < m; ++i) order_[i] = static_cast<std::uint16_t>(i);
  divided_ = false;
  if (by_row_) {
    load_rows();
  } else if (matrix_.layout == Layout::dense8) {
    load_bytes();
  } else if (matrix_.layout == Layout::dense16) {
    load_pairs();
  } else {
    load_sparse();
  }
  if (stats_.form == RowForm::packed) load_words();
  if (matrix_.layout == Layout::sparse) {
    place_.resize(m);
    place_rows(0, m);
  }
  focus(0, m);
}

/// Most blocks of a forest of two classes have two words.
void Block::load_words() {
  const std::size_t m = rows_.size();
  words_.resize(m);
  spare_words_.resize(m);
  two_worded_ = by_row_ && m > 0;
  stats_.with_words([&](auto word) {
    for (std::size_t i = 0; i < m; ++i) words_[i] = word(rows_[i]);
  });
  if (!two_worded_) return;
  second_.resize(m);
  spare_second_.resize(m);
  const std::int64_t first = words_[0];
  std::int64_t other = first;
  for (std::size_t i = 0; i < m; ++i) {
    const std::int64_t word = words_[i];
    second_[i] = word != first ? 0xff : 0;
    if (word == first || word == other) continue;
    two_worded_ &= other == first;
    other = word;
  }
  two_words_[0] = first;
  two_words_[1] = other;
}

void Block::focus(std::size_t begin, std::size_t end) {
  begin_ = begin;
  end_ = end;
  bounded_ = false;
  cut_features_.clear();
  if (matrix_.layout == Layout::sparse) sum_focus();
}

/// Packed rows (at most kMaxBlockRows: one word holds their sums). Which codes occur is kept as a
/// byte each, written blindly: a bit set in memory would make every row wait for the one before.
template <class CodeAt>
void Block::read_packed(CodeAt code_at, std::size_t n_words, Profile& out) const {
  std::int64_t* cells = cells_.data();
  std::uint64_t* seen = seen_.data();
  auto* seen_bytes = reinterpret_cast<std::uint8_t*>(seen);
  const std::uint16_t* order = order_.data();
  const auto add = [&](auto word_at) {
    for (std::size_t i = begin_, end = end_; i < end; ++i) {
      const std::size_t code = code_at(order[i]);
      cells[code] += word_at(i);
      seen_bytes[code] = 1;
    }
  };
  if (two_worded_) {
    add([&](std::size_t i) { return two_words_[second_[i] & 1]; });
  } else {
    add([words = words_.data()](std::size_t i) { return words[i]; });
  }
  take_packed(n_words, out);
}

/// The cells that were added to become a profile, and are zero again.
void Block::take_packed(std::size_t n_words, Profile& out) const {
  std::int64_t* cells = cells_.data();
  std::uint64_t* seen = seen_.data();
  std::uint32_t* bin = out.bin.data();
  std::int64_t* raw = out.raw.data();
  std::size_t k = 0;
  for (std::size_t first = 0; first < n_words; first += 8) {
    for (std::uint64_t bits = take_bits(seen + first); bits != 0; bits &= bits - 1) {
      const std::size_t code = 8 * first + static_cast<std::size_t>(std::countr_zero(bits));
      bin[k] = static_cast<std::uint32_t>(code);
      raw[k] = std::exchange(cells[code], 0);
      k += raw[k] != 0;
    }
  }
  out.n = k;
  if (stats_.width == 1) return;
  const std::int64_t mask = (std::int64_t{1} << stats_.shift) - 1;
  for (std::size_t i = k; i-- > 0;) {
    const std::int64_t word = raw[i];
    raw[2 * i] = word >> stats_.shift;
    raw[2 * i + 1] = word & mask;
  }
}

/// Any other form of statistics: a cell is `width` words.
template <class CodeAt>
void Block::read_wide(CodeAt code_at, std::size_t n_words, Profile& out) const {
  const std::size_t width = stats_.width;
  auto* seen_bytes = reinterpret_cast<std::uint8_t*>(seen_.data());
  for (std::size_t i = begin_; i < end_; ++i) {
    const std::size_t code = code_at(order_[i]);
    stats_.add_row(rows_[order_[i]], cells_.data() + code * width);
    seen_bytes[code] = 1;
  }
  take_wide(n_words, out);
}

void Block::take_wide(std::size_t n_words, Profile& out) const {
  const std::size_t width = stats_.width;
  std::size_t k = 0;
  for (std::size_t first = 0; first < n_words; first += 8) {
    for (std::uint64_t bits = take_bits(seen_.data() + first); bits != 0; bits &= bits - 1) {
      const std::size_t code = 8 * first + static_cast<std::size_t>(std::countr_zero(bits));
      std::int64_t any = 0;
      for (std::size_t j = 0; j < width; ++j) {
        any |= out.raw[k * width + j] = std::exchange(cells_[code * width + j], 0);
      }
      out.bin[k] = static_cast<std::uint32_t>(code);
      k += any != 0;
    }
  }
  out.n = k;
}

template <class CodeAt>
void Block::read_rows(CodeAt code_at, std::size_t n_bins, Profile& out) const {
  const bool packed = stats_.form == RowForm::packed;
  const std::size_t n_words = make_room(n_bins, end_ - begin_, out);
  if (packed) {
    read_packed(code_at, n_words, out);
  } else {
    read_wide(code_at, n_words, out);
  }
  part_missing(n_bins, out);
}

/// Cells for the codes of a feature, and room for as many bins as may occur among n rows.
std::size_t Block::make_room(std::size_t n_bins, std::size_t n, Profile& out) const {
  const bool packed = stats_.form == RowForm::packed;
  const std::size_t width = stats_.width, n_words = (n_bins + 64) / 64 * 8;
  if (seen_.size() < n_words) seen_.resize(n_words, 0);
  if (const std::size_t size = n_words * 8 * (packed ? 1 : width); cells_.size() < size)
    cells_.resize(size, 0);
  out.reserve(std::min(n, n_bins) + 2,
              width);  // one more is written before it is known to be empty
  return n_words;
}

void Block::part_missing(std::size_t n_bins, Profile& out) const {
  out.has_missing = out.n > 0 && out.bin[out.n - 1] == n_bins;  // the largest code there is
  if (!out.has_missing) return;
  --out.n;
  std::copy_n(out.raw.data() + out.n * stats_.width, stats_.width, out.missing.data());
}

/// Stable and without branches on the side, as in Partition; `word` moves along with the order.
template <class CodeAt, class LeftOf, class Word>
std::size_t Block::divide_rows(CodeAt code_at, LeftOf left_of, std::size_t begin, std::size_t end,
                               Word* word, Word* spare_word) {
  std::uint16_t *order = order_.data(), *spare_order = spare_order_.data();
  std::size_t left = begin, right = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const std::uint16_t local = order[i];
    const std::size_t goes_left = left_of(code_at(local)) ? 1 : 0;
    order[left] = local;
    spare_order[right] = local;
    if constexpr (!std::is_void_v<Word>) {
      const Word x = word[i];
      word[left] = x;
      spare_word[right] = x;
    }
    left += goes_left;
    right += 1 - goes_left;
  }
  std::copy_n(spare_order, right, order + left);
  if constexpr (!std::is_void_v<Word>) std::copy_n(spare_word, right, word + left);
  return left - begin;
}

template <class CodeAt, class LeftOf>
std::size_t Block::divide_by(CodeAt code_at, LeftOf left_of, std::size_t begin, std::size_t end) {
  if (two_worded_)
    return divide_rows(code_at, left_of, begin, end, second_.data(), spare_second_.data());
  if (stats_.form == RowForm::packed)
    return divide_rows(code_at, left_of, begin, end, words_.data(), spare_words_.data());
  void* none = nullptr;
  return divide_rows(code_at, left_of, begin, end, none, none);
}

/// Calls use(code_at) with the feature's column in the form it has here.
template <class Use>
auto Block::with_column(std::size_t feature, Use use) const {
  const std::size_t m = rows_.size();
  if (by_row_) {
    const std::uint8_t* first = rows8_.data() + feature;
    return use([first, stride = stride_](std::size_t local) -> std::uint32_t {
      return first[local * stride];
    });
  }
  if (matrix_.layout == Layout::dense8) {
    const std::uint8_t* column = columns8_.data() + feature * apart_;
    return use([=](std::size_t local) -> std::uint32_t { return column[local]; });
  }
  if (matrix_.layout == Layout::dense16) {
    const std::uint16_t* column = columns16_.data() + feature * m;
    return use([=](std::size_t local) -> std::uint32_t { return column[local]; });
  }
  return use([=, this](std::size_t local) -> std::uint32_t { return sparse_code(feature, local); });
}

void Block::read(std::size_t feature, Profile& out) const {
  if (matrix_.layout == Layout::sparse) return read_sparse(feature, out);
  with_column(feature, [&](auto code_at) { read_rows(code_at, matrix_.n_bins[feature], out); });
}

Ends Block::ends(std::size_t feature) const {
  const std::uint32_t missing = matrix_.n_bins[feature];
  if (by_row_) {
    if (!bounded_) {
      bound_columns(rows8_.data(), stride_, order_.data() + begin_, end_ - begin_, low_.data(),
                    high_.data());
      bounded_ = true;
    }
    if (high_[feature] != missing) return {low_[feature], high_[feature], true, false};
  }
  return with_column(feature, [&](auto code_at) {
    std::uint32_t low = missing, high = 0;
    bool any_missing = false;
    for (std::size_t i = begin_; i < end_; ++i) {
      const std::uint32_t code = code_at(order_[i]);
      any_missing |= code == missing;
      low = std::min(low, code);
      high = std::max(high, code == missing ? 0 : code);
    }
    return Ends{low, high, low != missing, any_missing};
  });
}

std::size_t Block::divide(std::size_t begin, std::size_t end, const Split& split) {
  divided_ = true;
  const std::uint32_t missing = matrix_.n_bins[split.feature], bin = split.bin;
  const std::size_t n_left = with_column(split.feature, [&](auto code_at) {
    if (split.categorical || (split.missing_left && !complete(split.feature))) {
      const auto left_of = [&](std::uint32_t code) { return split.goes_left(code, missing); };
      return divide_by(code_at, left_of, begin, end);
    }
    // No row is missing, or those that are go right with the largest code.
    return divide_by(code_at, [bin](std::uint32_t code) { return code <= bin; }, begin, end);
  });
  if (matrix_.layout == Layout::sparse) place_rows(begin, end);
  return n_left;
}

}  // namespace committee
