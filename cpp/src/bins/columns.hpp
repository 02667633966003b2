// The columns of a sparse input, a range of features at a time: CSC columns are read where they
// lie, CSR rows are transposed by counting.
#pragma once

#include "committee/bins/input.hpp"

namespace committee {

/// Stored entries of one feature, by ascending row.
struct SparseColumn {
  std::span<const double> value;
  std::span<const RowId> row;
};

/// Cuts [0, n) into ranges of about equal numbers of entries, at most n_ranges: `count[i]` entries
/// at i.
std::vector<std::size_t> balanced_ranges(std::span<const std::uint64_t> count,
                                         std::size_t n_ranges);

/// Stored entries of each feature.
std::vector<std::uint64_t> entries_per_feature(const Input& input);

class SparseColumns {
 public:
  /// Makes the columns [begin, end) readable; `count` as of entries_per_feature. Memory is reused.
  void load(const Input& input, std::span<const std::uint64_t> count, std::size_t begin,
            std::size_t end);
  SparseColumn column(std::size_t feature) const;

 private:
  void transpose(const Input& input, std::size_t end);

  std::size_t first_ = 0;
  std::vector<std::size_t> begin_;  // where a column's entries begin in value_ and row_
  std::vector<std::size_t> next_;
  std::vector<double> value_;
  std::vector<RowId> row_;
};

}  // namespace committee
