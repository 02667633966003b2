// What only the rows of a node can tell about a split: how many go left. Sums of boosting do not
// count rows, and a limit on the rows of a leaf must hold nevertheless. Most splits leave so much
// hessian on both sides that rows need not be asked; where a split does not, its rows are counted,
// and if they are too few the rows of all bins are.
#pragma once

#include "committee/bins/matrix.hpp"
#include "committee/search/split.hpp"

namespace committee {

/// Rows in each bin of each feature, missing ones last, laid out as a histogram is. Of few sparse
/// rows only the features that occur are counted: others have no cut.
struct BinCounts {
  std::vector<std::uint32_t> rows;
  std::span<const std::uint64_t> offset;  // of a feature's bins
  /// Where rows are not zero, if that is known: what to clear before the next ones are counted.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> counted;
  bool all_counted = true;

  const std::uint32_t* of(std::size_t feature) const { return rows.data() + offset[feature]; }
};

class NodeRows {
 public:
  virtual ~NodeRows() = default;
  virtual std::size_t n_left(const Split& split) const = 0;
  virtual void count(BinCounts& counts) const = 0;
};

/// Rows of a matrix in memory; both are borrowed.
class RowsInMemory final : public NodeRows {
 public:
  RowsInMemory(const BinnedMatrix& matrix, std::span<const RowId> rows, const Context& context)
      : matrix_(matrix), rows_(rows), context_(context) {}
  std::size_t n_left(const Split& split) const override;
  void count(BinCounts& counts) const override;
  /// Adds to counts that are there.
  void add(std::vector<std::uint32_t>& counts) const;

 private:
  void count_few(BinCounts& counts) const;

  const BinnedMatrix& matrix_;
  std::span<const RowId> rows_;
  const Context& context_;
};

}  // namespace committee
