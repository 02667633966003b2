#include "committee/block.hpp"

#include <algorithm>
#include <bit>

namespace committee {
namespace {

constexpr std::size_t kTile = 32;  // features copied together: one write stream each

/// Sums by bin while reading rows: cells of the occupied bins only, a bit for each, emptied by the reading.
struct Cells {
  std::vector<std::int64_t> sums;
  std::vector<std::uint64_t> occupied;

  void reserve(std::size_t codes, std::size_t width) {
    if (sums.size() < codes * width) sums.resize(codes * width, 0);
    if (occupied.size() < (codes + 63) / 64) occupied.resize((codes + 63) / 64, 0);
  }
  void mark(std::size_t code) { occupied[code / 64] |= std::uint64_t{1} << (code % 64); }
};

Cells& cells_of_this_thread() {
  thread_local Cells cells;
  return cells;
}

}  // namespace

Block::Block(const BinnedMatrix& matrix, const Stats& stats) : matrix_(matrix), stats_(stats) {}

template <class Code>
void Block::load_dense(const Code* codes, std::vector<Code>& columns) {
  const std::size_t p = matrix_.n_features, m = rows_.size();
  if (columns.size() < p * m) columns.resize(p * m);
  for (std::size_t first = 0; first < p; first += kTile) {
    const std::size_t last = std::min(p, first + kTile);
    for (std::size_t i = 0; i < m; ++i) {
      const Code* x = codes + rows_[i] * p;
      for (std::size_t f = first; f < last; ++f) columns[f * m + i] = x[f];
    }
  }
}

void Block::load_sparse() {
  entries_.clear();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    for (std::size_t e = matrix_.row_begin[rows_[i]]; e < matrix_.row_begin[rows_[i] + 1]; ++e) {
      entries_.push_back({matrix_.entry_feature[e], matrix_.entry_code[e], static_cast<std::uint16_t>(i)});
    }
  }
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.feature < b.feature; });
  present_.clear();
  present_begin_.clear();
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    if (!present_.empty() && present_.back() == entries_[e].feature) continue;
    present_.push_back(entries_[e].feature);
    present_begin_.push_back(static_cast<std::uint32_t>(e));
  }
  present_begin_.push_back(static_cast<std::uint32_t>(entries_.size()));
}

void Block::load(std::span<const RowId> rows) {
  rows_.assign(rows.begin(), rows.end());
  const std::size_t m = rows_.size();
  order_.resize(m);
  spare_order_.resize(m);
  for (std::size_t i = 0; i < m; ++i) order_[i] = static_cast<std::uint16_t>(i);
  if (matrix_.layout == Layout::dense8) {
    load_dense(matrix_.codes8.data(), columns8_);
  } else if (matrix_.layout == Layout::dense16) {
    load_dense(matrix_.codes16.data(), columns16_);
  } else {
    load_sparse();
  }
  if (stats_.form == RowForm::packed) {
    words_.resize(m);
    spare_words_.resize(m);
    for (std::size_t i = 0; i < m; ++i) words_[i] = stats_.words[rows_[i]];
  }
  focus(0, m);
}

void Block::focus(std::size_t begin, std::size_t end) {
  begin_ = begin;
  end_ = end;
}

const std::vector<std::uint32_t>* Block::varying() const {
  return matrix_.layout == Layout::sparse ? &present_ : nullptr;
}

std::uint32_t Block::sparse_code(std::size_t feature, std::size_t local) const {
  const auto at = std::lower_bound(present_.begin(), present_.end(), feature);
  if (at == present_.end() || *at != feature) return matrix_.zero_bin[feature];
  const auto k = static_cast<std::size_t>(at - present_.begin());
  const auto first = entries_.begin() + present_begin_[k], last = entries_.begin() + present_begin_[k + 1];
  const auto entry = std::lower_bound(first, last, local, [](const Entry& e, std::size_t x) { return e.local < x; });
  return entry != last && entry->local == local ? entry->code : matrix_.zero_bin[feature];
}

template <class CodeAt>
void Block::read_rows(CodeAt code_at, std::size_t n_bins, Profile& out) const {
  Cells& cells = cells_of_this_thread();
  const std::size_t width = stats_.width;
  cells.reserve(n_bins + 1, width);
  const std::size_t n = end_ - begin_;
  if (stats_.form == RowForm::packed) {  // at most kBlockRows of them: one word holds the sums
    std::int64_t* sums = cells.sums.data();
    std::uint64_t* occupied = cells.occupied.data();
    for (std::size_t i = begin_; i < end_; ++i) {
      const std::size_t code = code_at(order_[i]);
      sums[code] += words_[i];
      occupied[code / 64] |= std::uint64_t{1} << (code % 64);
    }
  } else {
    for (std::size_t i = begin_; i < end_; ++i) {
      const std::size_t code = code_at(order_[i]);
      stats_.add_row(rows_[order_[i]], cells.sums.data() + code * width);
      cells.mark(code);
    }
  }
  out.reserve(std::min(n, n_bins) + 1, width);
  const bool packed = stats_.form == RowForm::packed;
  const std::int64_t mask = (std::int64_t{1} << stats_.shift) - 1;
  std::size_t k = 0;
  out.has_missing = false;
  for (std::size_t word = 0; word < (n_bins + 64) / 64; ++word) {
    std::uint64_t bits = cells.occupied[word];
    cells.occupied[word] = 0;
    for (; bits != 0; bits &= bits - 1) {
      const std::size_t code = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
      std::int64_t* cell = cells.sums.data() + code * (packed ? 1 : width);
      std::int64_t* to = out.raw.data() + k * width;
      if (packed && width == 2) {
        to[0] = cell[0] >> stats_.shift;
        to[1] = cell[0] & mask;
        cell[0] = 0;
      } else {
        for (std::size_t j = 0; j < width; ++j) {
          to[j] = cell[j];
          cell[j] = 0;
        }
      }
      if (std::all_of(to, to + width, [](std::int64_t v) { return v == 0; })) continue;
      if (code == n_bins) {
        std::copy_n(to, width, out.missing.data());
        out.has_missing = true;
        continue;
      }
      out.bin[k++] = static_cast<std::uint32_t>(code);
    }
  }
  out.n = k;
}

/// Stable and without branches on the side, as in Partition; packed statistics move along.
template <class CodeAt>
std::size_t Block::divide_rows(CodeAt code_at, std::size_t begin, std::size_t end, const Split& split) {
  const std::uint32_t missing = matrix_.n_bins[split.feature];
  const bool packed = stats_.form == RowForm::packed;
  std::size_t left = begin, right = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const std::uint16_t local = order_[i];
    const std::size_t goes_left = split.goes_left(code_at(local), missing) ? 1 : 0;
    order_[left] = local;
    spare_order_[right] = local;
    if (packed) {
      const std::int64_t word = words_[i];
      words_[left] = word;
      spare_words_[right] = word;
    }
    left += goes_left;
    right += 1 - goes_left;
  }
  std::copy_n(spare_order_.begin(), right, order_.begin() + static_cast<std::ptrdiff_t>(left));
  if (packed) std::copy_n(spare_words_.begin(), right, words_.begin() + static_cast<std::ptrdiff_t>(left));
  return left - begin;
}

/// Calls use(code_at) with the feature's column in the form it has here.
template <class Use>
auto Block::with_column(std::size_t feature, Use use) const {
  const std::size_t m = rows_.size();
  if (matrix_.layout == Layout::dense8) {
    const std::uint8_t* column = columns8_.data() + feature * m;
    return use([=](std::size_t local) -> std::uint32_t { return column[local]; });
  }
  if (matrix_.layout == Layout::dense16) {
    const std::uint16_t* column = columns16_.data() + feature * m;
    return use([=](std::size_t local) -> std::uint32_t { return column[local]; });
  }
  return use([=, this](std::size_t local) -> std::uint32_t { return sparse_code(feature, local); });
}

void Block::read(std::size_t feature, Profile& out) const {
  with_column(feature, [&](auto code_at) { read_rows(code_at, matrix_.n_bins[feature], out); });
}

std::size_t Block::divide(std::size_t begin, std::size_t end, const Split& split) {
  return with_column(split.feature, [&](auto code_at) { return divide_rows(code_at, begin, end, split); });
}

}  // namespace committee
