// Growing one tree on rows in memory: the driver that owns the rows and feeds the grower.
//
// Large nodes are summed in histograms (the smaller child built, its sibling subtracted) on all
// threads; below kTaskRows whole subtrees become tasks of one thread each; below block_rows() a
// subtree is grown inside a block. None of this changes a decision, so the tree does not depend on
// the number of threads.
#pragma once

#include "committee/forest/forest.hpp"
#include "committee/growth/grower.hpp"
#include "committee/growth/partition.hpp"

namespace committee {

/// The rows of each leaf of a grown tree, for updating scores without walking the tree again.
struct LeafRows {
  std::vector<RowId> rows;           // all rows, leaf by leaf
  std::vector<std::uint64_t> begin;  // n_leaves + 1
  std::vector<std::uint32_t> node;   // the leaf's index in the tree
};

/// Memory that trees grown one after another on the same rows share: fresh pages for each would
/// cost a fifth of the time.
class Workspace {
 public:
  Partition take_partition(const Stats& stats, const Context& context);
  void give(Partition&& partition);
  HistogramPool& pool(std::size_t size);

 private:
  std::vector<RowId> rows_;
  std::unique_ptr<RowId[]> spare_;
  std::size_t n_spare_ = 0;
  std::unique_ptr<HistogramPool> pool_;
  std::size_t pool_size_ = 0;
};

/// The checks of check_growth come first. A bound on leaves makes growth best-first.
ForestArrays grow_tree(const BinnedMatrix& matrix, const BinMapper& mapper, const Stats& stats,
                       const TreeParams& params, const Context& context,
                       LeafRows* leaf_rows = nullptr);

/// The same tree, and leaf_of[row], for every row of the matrix, becomes the index of its leaf in
/// the tree. A row that the statistics do not count is led by its bins: where forests' own apply
/// leads it, unless a drawn threshold (random rule) lies inside its bin, which then goes right.
ForestArrays grow_tree_with_leaves(const BinnedMatrix& matrix, const BinMapper& mapper,
                                   const Stats& stats, const TreeParams& params,
                                   const Context& context, std::span<std::uint32_t> leaf_of,
                                   Workspace* workspace = nullptr);

/// Throws std::invalid_argument where matrix, mapper, statistics and parameters do not belong
/// together.
void check_growth(const BinnedMatrix& matrix, const BinMapper& mapper, const Stats& stats,
                  const TreeParams& params);

/// Whether rows differ in their target: what a grower cannot see from sums.
RowFacts row_facts(const Stats& stats, std::span<const RowId> rows);

}  // namespace committee
