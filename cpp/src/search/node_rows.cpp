#include "committee/search/node_rows.hpp"

#include <algorithm>
#include <numeric>

#include "bins/column_codes.hpp"

namespace committee {
namespace {

constexpr std::size_t kChunkRows = 16384;
constexpr std::size_t kFewRows = 4096;  // whose entries are fewer than bins, most likely

/// What is in no other bin of a sparse feature is in its zero bin.
void fill_zero_counts(const BinnedMatrix& m, std::size_t n_rows, std::uint32_t* counts) {
  for (std::size_t f = 0; f < m.n_features; ++f) {
    const auto first = counts + m.column_offset[f], last = counts + m.column_offset[f + 1];
    const auto others = std::accumulate(first, last, std::uint32_t{0}) - first[m.zero_bin[f]];
    first[m.zero_bin[f]] = static_cast<std::uint32_t>(n_rows) - others;
  }
}

void add_rows(const BinnedMatrix& m, std::span<const RowId> rows, std::uint32_t* counts) {
  const std::uint64_t* const offset = m.column_offset.data();
  const std::size_t p = m.n_features;
  for (const RowId r : rows) {
    if (m.layout == Layout::dense8) {
      const std::uint8_t* x = m.rows8() + r * m.stride8();
      for (std::size_t f = 0; f < p; ++f) ++counts[offset[f] + x[f]];
    } else if (m.layout == Layout::dense16) {
      const std::uint16_t* x = m.codes16.data() + r * p;
      for (std::size_t f = 0; f < p; ++f) ++counts[offset[f] + x[f]];
    } else {
      for (std::size_t e = m.row_begin[r]; e < m.row_begin[r + 1]; ++e)
        ++counts[offset[m.entry_feature[e]] + m.entry_code[e]];
    }
  }
}

}  // namespace

std::size_t RowsInMemory::n_left(const Split& split) const {
  const std::vector<std::uint8_t> side = side_table(split, matrix_.n_bins[split.feature]);
  std::vector<std::size_t> n((rows_.size() + kChunkRows - 1) / kChunkRows);
  parallel_for(n.size(), context_, [&](std::size_t k, int) {
    const std::size_t last = std::min(rows_.size(), (k + 1) * kChunkRows);
    with_codes(matrix_, split.feature, [&](auto code) {
      for (std::size_t i = k * kChunkRows; i < last; ++i) n[k] += side[code(rows_[i])];
    });
  });
  return std::accumulate(n.begin(), n.end(), std::size_t{0});
}

void RowsInMemory::add(std::vector<std::uint32_t>& counts) const {
  const std::size_t n_chunks = (rows_.size() + kChunkRows - 1) / kChunkRows;
  if (n_chunks <= 1 && matrix_.layout != Layout::sparse)
    return add_rows(matrix_, rows_, counts.data());
  std::vector<std::vector<std::uint32_t>> own(
      static_cast<std::size_t>(std::max(1, context_.n_threads)));
  parallel_for(n_chunks, context_, [&](std::size_t k, int slot) {
    std::vector<std::uint32_t>& mine = own[static_cast<std::size_t>(slot)];
    if (mine.empty()) mine.resize(matrix_.histogram_size());
    const std::size_t first = k * kChunkRows;
    add_rows(matrix_, rows_.subspan(first, std::min(kChunkRows, rows_.size() - first)),
             mine.data());
  });
  std::vector<std::uint32_t> sum(matrix_.histogram_size());
  for (const std::vector<std::uint32_t>& some : own) {
    for (std::size_t i = 0; i < some.size(); ++i) sum[i] += some[i];
  }
  if (matrix_.layout == Layout::sparse) fill_zero_counts(matrix_, rows_.size(), sum.data());
  for (std::size_t i = 0; i < sum.size(); ++i) counts[i] += sum[i];
}

/// A feature's zero bin begins with all rows, and each entry takes one from it.
void RowsInMemory::count_few(BinCounts& counts) const {
  if (counts.all_counted || counts.rows.size() != matrix_.histogram_size()) {
    counts.rows.assign(matrix_.histogram_size(), 0);
  } else {
    for (const auto& [first, last] : counts.counted)
      std::fill(counts.rows.data() + first, counts.rows.data() + last, 0u);
  }
  counts.counted.clear();
  counts.all_counted = false;
  const std::uint64_t* const offset = matrix_.column_offset.data();
  for (const RowId r : rows_) {
    for (std::size_t e = matrix_.row_begin[r]; e < matrix_.row_begin[r + 1]; ++e) {
      const std::uint32_t f = matrix_.entry_feature[e];
      std::uint32_t* const bins = counts.rows.data() + offset[f];
      std::uint32_t& zero = bins[matrix_.zero_bin[f]];
      if (zero == 0) {  // 0 again only after as many entries as rows, the last of the feature
        zero = static_cast<std::uint32_t>(rows_.size());
        counts.counted.emplace_back(offset[f], offset[f + 1]);
      }
      ++bins[matrix_.entry_code[e]];
      --zero;
    }
  }
}

void RowsInMemory::count(BinCounts& counts) const {
  counts.offset = matrix_.column_offset;
  if (matrix_.layout == Layout::sparse && rows_.size() <= kFewRows) return count_few(counts);
  counts.rows.assign(matrix_.histogram_size(), 0);
  counts.all_counted = true;
  add(counts.rows);
}

}  // namespace committee
