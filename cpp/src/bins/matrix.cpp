// Reading single cells of the binned data, and taking rows out of it.
#include "committee/bins/matrix.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/large_pages.hpp"

namespace committee {
namespace {

constexpr std::size_t kLine = 64;          // bytes of the cache
constexpr std::size_t kReadablePast = 64;  // bytes a kernel may read past the last code

void check_row(std::size_t row, std::size_t n_rows) {
  if (row >= n_rows) {
    throw std::invalid_argument("row " + std::to_string(row) + " is not in a matrix of " +
                                std::to_string(n_rows) + " rows");
  }
}

template <class Code>
std::vector<Code> take_dense(const Code* codes, std::size_t stride, std::size_t width,
                             std::span<const RowId> rows) {
  std::vector<Code> taken(rows.size() * width + kReadablePast / sizeof(Code));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::copy_n(codes + rows[i] * stride, width, taken.data() + i * width);
  }
  return taken;
}

void take_sparse(const BinnedMatrix& from, std::span<const RowId> rows, BinnedMatrix& to) {
  to.row_begin.resize(rows.size() + 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    to.row_begin[i + 1] = to.row_begin[i] + from.row_begin[rows[i] + 1] - from.row_begin[rows[i]];
  }
  to.entry_feature.resize(to.row_begin.back());
  to.entry_code.resize(to.row_begin.back());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t begin = from.row_begin[rows[i]];
    const std::size_t n = from.row_begin[rows[i] + 1] - begin;
    std::copy_n(from.entry_feature.data() + begin, n, to.entry_feature.data() + to.row_begin[i]);
    std::copy_n(from.entry_code.data() + begin, n, to.entry_code.data() + to.row_begin[i]);
  }
}

}  // namespace

std::uint32_t BinnedMatrix::code(std::size_t row, std::size_t feature) const {
  if (layout == Layout::dense8) return rows8()[row * stride8() + feature];
  if (layout == Layout::dense16) return codes16[row * n_features + feature];
  const auto begin = entry_feature.begin() + static_cast<std::ptrdiff_t>(row_begin[row]);
  const auto end = entry_feature.begin() + static_cast<std::ptrdiff_t>(row_begin[row + 1]);
  const auto at = std::lower_bound(begin, end, feature);
  if (at == end || *at != feature) return zero_bin[feature];
  return entry_code[static_cast<std::size_t>(at - entry_feature.begin())];
}

void BinnedMatrix::add_sparse_columns() {
  column_begin.assign(n_features + 1, 0);
  column_row.resize(entry_feature.size());
  column_code.resize(entry_feature.size());
  for (const std::uint32_t f : entry_feature) ++column_begin[f + 1];
  std::partial_sum(column_begin.begin(), column_begin.end(), column_begin.begin());
  for (std::size_t f = 0; f < n_features; ++f)
    bins_per_entry += static_cast<double>((column_begin[f + 1] - column_begin[f]) * n_bins[f]);
  bins_per_entry /= static_cast<double>(std::max<std::size_t>(1, entry_feature.size()));
  std::vector<std::uint64_t> next(column_begin.begin(), column_begin.end() - 1);
  for (std::size_t r = 0; r < n_rows; ++r) {
    for (std::size_t e = row_begin[r]; e < row_begin[r + 1]; ++e) {
      const std::size_t at = next[entry_feature[e]]++;
      column_row[at] = static_cast<RowId>(r);
      column_code[at] = entry_code[e];
    }
  }
}

void BinnedMatrix::add_columns(const Context& context) {
  if (layout == Layout::sparse && column_begin.empty()) add_sparse_columns();
  if (layout != Layout::dense8 || !columns8.empty()) return;
  constexpr std::size_t kTile = 64;  // rows and features that stay in the first cache
  resize_on_large_pages(columns8, n_rows * n_features, context);
  const std::uint8_t* const rows = rows8();
  const std::size_t stride = stride8();
  parallel_for((n_rows + kTile - 1) / kTile, context, [&](std::size_t k, int) {
    const std::size_t first = k * kTile, last = std::min(n_rows, first + kTile);
    for (std::size_t f = 0; f < n_features; ++f) {
      std::uint8_t* column = columns8.data() + f * n_rows;
      for (std::size_t r = first; r < last; ++r) column[r] = rows[r * stride + f];
    }
  });
}

std::size_t BinnedMatrix::spread_stride() const {
  if (layout != Layout::dense8 || n_rows < kNarrowRows) return 0;
  std::size_t stride = 16;
  while (stride < n_features + kStatBytes) stride *= 2;
  return stride > kLine ? 0 : stride;
}

std::size_t BinnedMatrix::spread_bytes() const {
  const std::size_t stride = spread_stride();
  return stride == 0 ? 0 : n_rows * stride + kLine + kReadablePast;
}

/// In place, so that no memory is touched for the first time but what the rows grow by: fresh pages
/// cost more than the copy. Rows from `first` on go where no row lies any more, on all threads at
/// once; then those of what is left, and so on. The first few rows, whose places overlap, move one
/// by one.
void BinnedMatrix::spread_rows(const Context& context, std::size_t n_drawn) {
  if (layout != Layout::dense8 || room8() != nullptr || n_rows < kNarrowRows) return;
  if (!few_drawn(n_drawn)) bundles_ = Bundles(*this, context);
  const std::size_t stride = spread_stride();
  if (!bundles_.empty() || stride == 0) return;
  codes8.resize(spread_bytes());
  std::uint8_t* const codes = codes8.data();
  const std::size_t origin = (kLine - reinterpret_cast<std::uintptr_t>(codes) % kLine) % kLine;
  const auto move = [&](std::size_t first, std::size_t last) {
    for (std::size_t r = last; r-- > first;) {
      std::uint8_t* const to = codes + origin + r * stride;
      std::memmove(to, codes + r * n_features, n_features);
      std::memset(to + n_features, 0, stride - n_features);
    }
  };
  constexpr std::size_t kTaskRows = 4096;
  for (std::size_t n_left = n_rows; n_left > 0;) {
    const std::size_t first = (n_left * n_features + stride - 1) / stride, n = n_left - first;
    if (n < kTaskRows) {
      move(0, n_left);
      break;
    }
    parallel_for((n + kTaskRows - 1) / kTaskRows, context, [&](std::size_t k, int) {
      move(first + k * kTaskRows, std::min(n_left, first + (k + 1) * kTaskRows));
    });
    n_left = first;
  }
  origin8_ = origin;
  stride8_ = stride;
}

std::size_t BinnedMatrix::n_bytes() const {
  return codes8.size() + columns8.size() + 2 * codes16.size() + 8 * row_begin.size() +
         6 * entry_feature.size() + 8 * column_begin.size() + 6 * column_row.size() +
         bundles_.n_bytes();
}

BinnedMatrix BinnedMatrix::take(std::span<const RowId> rows) const {
  if (rows.size() > kMaxRows) throw std::invalid_argument("too many rows for one matrix");
  for (const RowId row : rows) check_row(row, n_rows);
  BinnedMatrix taken;
  taken.layout = layout;
  taken.n_rows = rows.size();
  taken.n_features = n_features;
  taken.n_bins = n_bins;
  taken.zero_bin = zero_bin;
  taken.categorical = categorical;
  taken.column_offset = column_offset;
  if (layout == Layout::dense8) taken.codes8 = take_dense(rows8(), stride8(), n_features, rows);
  if (layout == Layout::dense16)
    taken.codes16 = take_dense(codes16.data(), n_features, n_features, rows);
  if (layout == Layout::sparse) take_sparse(*this, rows, taken);
  return taken;
}

}  // namespace committee
