// Each range of features is transposed on its own, by one thread, from the part of every row that
// lies in it: no atomics, memory bounded by the range, and the same columns for any division into
// ranges.
#include "bins/columns.hpp"

#include <algorithm>

#include "bins/dtype.hpp"

namespace committee {

std::vector<std::size_t> balanced_ranges(std::span<const std::uint64_t> count,
                                         std::size_t n_ranges) {
  std::uint64_t total = 0;
  for (const std::uint64_t n : count) total += n + 1;  // empty features cost something too
  std::vector<std::size_t> bounds{0};
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count.size(); ++i) {
    sum += count[i] + 1;
    if (sum * n_ranges >= total * bounds.size()) bounds.push_back(i + 1);
  }
  return bounds;
}

std::vector<std::uint64_t> entries_per_feature(const Input& input) {
  const SparseInput& csx = input.csx;
  std::vector<std::uint64_t> count(input.n_features);
  if (csx.by_row) {
    const auto n = static_cast<std::size_t>(csx.indptr[input.n_rows]);
    for (std::size_t i = 0; i < n; ++i) ++count[static_cast<std::size_t>(csx.indices[i])];
  } else {
    for (std::size_t f = 0; f < input.n_features; ++f) {
      count[f] = static_cast<std::uint64_t>(csx.indptr[f + 1] - csx.indptr[f]);
    }
  }
  return count;
}

void SparseColumns::load(const Input& input, std::span<const std::uint64_t> count,
                         std::size_t begin, std::size_t end) {
  first_ = begin;
  begin_.assign(1, 0);
  for (std::size_t f = begin; f < end; ++f) begin_.push_back(begin_.back() + count[f]);
  value_.resize(begin_.back());
  row_.resize(begin_.back());
  if (input.csx.by_row) {
    transpose(input, end);
  } else {
    const auto from = static_cast<std::size_t>(input.csx.indptr[begin]);
    load_stored(input, from, from + begin_.back(), value_.data());
    std::copy_n(input.csx.indices + from, begin_.back(), row_.data());
  }
}

void SparseColumns::transpose(const Input& input, std::size_t end) {
  const SparseInput& csx = input.csx;
  next_.assign(begin_.begin(), begin_.end() - 1);
  visit_dtype(csx.dtype, [&]<class T>(std::type_identity<T>) {
    for (std::size_t row = 0; row < input.n_rows; ++row) {
      const std::int32_t* const row_end = csx.indices + csx.indptr[row + 1];
      const std::int32_t* at = csx.indices + csx.indptr[row];
      if (first_ > 0) at = std::lower_bound(at, row_end, static_cast<std::int64_t>(first_));
      for (; at != row_end && static_cast<std::size_t>(*at) < end; ++at) {
        const std::size_t to = next_[static_cast<std::size_t>(*at) - first_]++;
        value_[to] = read_number<double, T>(csx.values +
                                            static_cast<std::size_t>(at - csx.indices) * sizeof(T));
        row_[to] = static_cast<RowId>(row);
      }
    }
  });
}

SparseColumn SparseColumns::column(std::size_t feature) const {
  const std::size_t begin = begin_[feature - first_];
  const std::size_t n = begin_[feature - first_ + 1] - begin;
  return {{value_.data() + begin, n}, {row_.data() + begin, n}};
}

}  // namespace committee
