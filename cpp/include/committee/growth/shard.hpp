// A shard owns rows, wherever they live, and answers three verbs: accumulate the histogram of a
// node, route rows by splits, settle leaf values into scores. A tree over several shards equals the
// tree over all rows in one, bit for bit, because the sums are integers.
#pragma once

#include "committee/growth/grower.hpp"
#include "committee/growth/partition.hpp"

namespace committee {

class Shard {
 public:
  virtual ~Shard() = default;

  /// Rows and totals of the root; the start of a tree.
  virtual RowFacts begin(std::vector<std::int64_t>& totals, std::span<double> y_range) = 0;
  virtual void accumulate(NodeId node, Histogram& sum, const Context& context) = 0;
  /// Divides the rows of `node`; adds the children's rows and widens their ranges of y (low, high
  /// per output).
  virtual void route(NodeId node, NodeId left, const Split& split, RowFacts facts[2],
                     std::span<double> y_range, const Context& context) = 0;
  /// Rows of a node that go left by a split, and those in each bin, added to what is there.
  virtual std::size_t n_left(NodeId node, const Split& split, const Context& context) const = 0;
  virtual void count(NodeId node, std::vector<std::uint32_t>& counts,
                     const Context& context) const = 0;
  virtual void add_fine(NodeId leaf, __int128* fine) const = 0;
  /// scores[row] += value for the rows of a leaf.
  virtual void settle(NodeId leaf, double value, std::span<double> scores) const = 0;
};

/// Rows in this process's memory.
class MemoryShard final : public Shard {
 public:
  MemoryShard(const BinnedMatrix& matrix, const Stats& stats, std::span<const RowId> rows);

  RowFacts begin(std::vector<std::int64_t>& totals, std::span<double> y_range) override;
  void accumulate(NodeId node, Histogram& sum, const Context& context) override;
  void route(NodeId node, NodeId left, const Split& split, RowFacts facts[2],
             std::span<double> y_range, const Context& context) override;
  std::size_t n_left(NodeId node, const Split& split, const Context& context) const override;
  void count(NodeId node, std::vector<std::uint32_t>& counts,
             const Context& context) const override;
  void add_fine(NodeId leaf, __int128* fine) const override;
  void settle(NodeId leaf, double value, std::span<double> scores) const override;

 private:
  struct Range {
    std::size_t begin = 0, n = 0;
  };
  std::span<const RowId> rows(NodeId node) const {
    return partition_.rows(ranges_[node].begin, ranges_[node].n);
  }
  void widen(std::span<const RowId> rows, std::span<double> y_range) const;

  const BinnedMatrix& matrix_;
  const Stats& stats_;
  Partition partition_;
  std::vector<Range> ranges_;  // by node
};

/// Grows a tree over shards of one matrix's rows; the same tree as grow_tree over all of them.
/// Absolute error needs its rows in one place and is refused.
ForestArrays grow_tree(std::span<const std::unique_ptr<Shard>> shards, const BinnedMatrix& layout,
                       const BinMapper& mapper, const Stats& stats, const TreeParams& params,
                       const Context& context);

}  // namespace committee
