// The rows of a tree in the order of its nodes: splitting a node divides its range in two, stably,
// so that a node's rows stay ascending and its memory accesses nearly sequential.
#pragma once

#include <memory>
#include <utility>

#include "committee/base/parallel.hpp"
#include "committee/bins/matrix.hpp"
#include "committee/search/split.hpp"

namespace committee {

class Partition {
 public:
  explicit Partition(std::vector<RowId> rows)
      : rows_(std::move(rows)), spare_(std::make_unique_for_overwrite<RowId[]>(rows_.size())) {}
  /// With memory of its own kind that was used before, for at least as many rows.
  Partition(std::vector<RowId> rows, std::unique_ptr<RowId[]> spare)
      : rows_(std::move(rows)), spare_(std::move(spare)) {}
  /// Gives the memory back; the partition is then of no use.
  std::pair<std::vector<RowId>, std::unique_ptr<RowId[]>> release() {
    return {std::move(rows_), std::move(spare_)};
  }

  std::span<RowId> rows() { return rows_; }
  std::span<RowId> rows(std::size_t begin, std::size_t n) { return {rows_.data() + begin, n}; }
  std::span<const RowId> rows(std::size_t begin, std::size_t n) const {
    return {rows_.data() + begin, n};
  }

  /// Moves the rows of [begin, begin + n) that go left to the front; returns how many. Disjoint
  /// ranges may be divided by different threads at once.
  std::size_t divide(std::size_t begin, std::size_t n, const BinnedMatrix& matrix,
                     const Split& split, const Context& context);

  /// Leaves the rows of [begin, begin + n) where they are; returns how many go left. Unless
  /// node_of is null, node_of[row] becomes `left` for these and left + 1 for the others.
  std::size_t mark(std::size_t begin, std::size_t n, const BinnedMatrix& matrix, const Split& split,
                   std::uint32_t left, std::uint32_t* node_of, const Context& context) const;

 private:
  std::vector<RowId> rows_;
  std::unique_ptr<RowId[]> spare_;  // as large; what is never written never becomes resident
};

}  // namespace committee
