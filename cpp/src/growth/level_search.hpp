// The one split of all nodes of a level, for symmetric trees: the feature, cut and side of the
// missing rows whose gains, summed over the nodes, are the largest.
//
// All nodes together hold the rows of the tree, so where cuts may lie, and the order in which the
// levels of a category are cut (by G / (H + l2) of all its rows), are read from the root once and
// for all. A node counts where both sides have the rows and the hessian that leaves must have.
// Features are searched side by side, each by one thread, node after node: the sums are rounded
// alike on any number of threads. Ties go to the lower feature, then the lower cut, then missing to
// the right.
#pragma once

#include <atomic>
#include <optional>

#include "committee/search/split.hpp"
#include "search/newton_scan.hpp"

namespace committee {

/// A node that may be split, as the search sees it.
struct LevelNode {
  const std::int64_t* sums = nullptr;  // its histogram; or null:
  std::span<const RowId> rows;         // its cells are summed from these
  double total[2] = {0, 0};            // decoded
  double score = 0;                    // of the whole node
  double least = 0;                    // hessian of a side, decoded
  std::optional<NewtonTerms> newton;   // where cuts can be scored on the histogram itself
};

class LevelSearch {
 public:
  /// `root` holds the sums of all rows.
  LevelSearch(const TreeParams& params, const BinnedMatrix& matrix, const BinMapper& mapper,
              const Stats& stats, const SplitSearch& search, Histogram root);

  /// Sets all of `split` but the sums of its sides; its gain is that of the whole level. `key` is
  /// that of the draw of features.
  bool best(std::span<const LevelNode> nodes, std::span<const std::uint32_t> features,
            std::uint64_t key, const Context& context, Split& split) const;

 private:
  struct Best {
    double gain = 0;        // a level that gains nothing is not split
    std::size_t index = 0;  // among the occupied bins in the order of the cuts, or
    bool by_bin = false;    // that of the bin itself
    bool missing_left = false;
  };
  struct Cuts;  // of a feature: its bins in the order in which they are cut
  struct Scratch;

  const std::int64_t* cells(const Histogram& sums, std::uint32_t feature) const {
    return sums.data() + matrix_.column_offset[feature];
  }
  bool read_cuts(std::uint32_t feature, Cuts& cuts) const;
  std::vector<std::uint32_t> drawn(std::span<const std::uint32_t> features,
                                   std::uint64_t key) const;
  Best try_feature(std::span<const LevelNode> nodes, std::uint32_t feature,
                   std::atomic<double>& most, Scratch& scratch) const;
  Best try_bins(std::span<const LevelNode> nodes, std::uint32_t feature, std::atomic<double>& most,
                Scratch& scratch) const;
  const std::int64_t* node_cells(const LevelNode& node, std::uint32_t feature,
                                 Scratch& scratch) const;
  const std::int64_t* sum_cells(std::span<const RowId> rows, std::uint32_t feature,
                                Scratch& scratch) const;
  void add_node(const LevelNode& node, const std::int64_t* sums, Scratch& scratch) const;
  void add_gains(const LevelNode& node, std::size_t n, bool right, bool left,
                 Scratch& scratch) const;
  void spell(std::uint32_t feature, const Best& best, Split& split) const;

  const TreeParams& params_;
  const BinnedMatrix& matrix_;
  const BinMapper& mapper_;
  const Stats& stats_;
  const SplitSearch& search_;
  Histogram root_;
};

}  // namespace committee
