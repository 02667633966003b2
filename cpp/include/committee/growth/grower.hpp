// The grower decides; it does no I/O. It names the nodes it wants sums for, is fed their profiles,
// and emits splits. Whoever drives it owns the rows: one machine's memory, several shards, pages on
// disk or workers elsewhere.
//
//   grower.start(totals, facts)
//   loop:  wanted() -> nodes;  feed(node, profiles) for each;  given_up() -> nodes of no use any
//   more
//          splits() -> nodes to split now; route their rows; describe(child, facts) for both
//          children
//   finish(leaf sums) -> the tree
//
// Growth order is a policy of its own: depth-first (smaller child first, so that few histograms are
// alive), best-first (largest gain first, bounded by leaves) or level by level (one exchange of
// sums a level).
#pragma once

#include <memory>
#include <set>

#include "committee/forest/forest.hpp"
#include "committee/search/column_draw.hpp"
#include "committee/search/node_rows.hpp"

namespace committee {

using NodeId = std::uint32_t;

/// What only the rows can tell.
struct RowFacts {
  std::size_t rows = 0;
  bool constant_target = false;  // regression: nothing left to explain
  RowId row = 0;                 // any of them
};

/// A cache line: they are written in the order of growth and read in the order of levels.
struct alignas(64) GrownNode {
  NodeId left = 0;  // 0: a leaf (the root is nobody's child); the right child is left + 1
  std::uint32_t depth = 0;
  std::uint32_t feature = 0;
  RowId row = 0;            // any of its rows
  std::int32_t bound = -1;  // multiway: the feature whose levels are still being taken apart
  std::int32_t set = -1;    // categorical: index of its set
  double threshold = 0;
  double gain = 0;  // decoded
  std::uint64_t key = 0;
  std::uint64_t rows = 0;
  RowId begin = 0;  // of its rows in the driver's order
  bool missing_left = false;
  bool open = false;      // may be split
  bool constant = false;  // its target does not vary
  bool marked = false;    // its rows stay among its parent's: the driver's own note
};
static_assert(sizeof(GrownNode) == 64);

/// What only monotone constraints and medians ask for.
struct NodeRange {
  double lower = -std::numeric_limits<double>::infinity();  // bounds on its value, decoded
  double upper = std::numeric_limits<double>::infinity();   // (medians: as they are)
  double value = 0, impurity = 0;  // absolute error: set by the driver, which sees the rows
};

class Grower {
 public:
  Grower(const TreeParams& params, const SplitSearch& search, const Stats& stats,
         std::size_t n_features);

  // --- the protocol ---
  void start(std::span<const std::int64_t> totals, RowFacts facts);
  std::vector<NodeId> wanted();
  /// `rows` are asked where sums cannot tell whether a side has enough of them; none where sums
  /// count the rows.
  void feed(NodeId node, const ProfileSource& profiles, const Context& context,
            const NodeRows* rows = nullptr);
  /// Nodes whose split can no longer come: as many better ones wait as leaves may still be added.
  std::vector<NodeId> given_up();
  std::vector<NodeId> splits();
  void describe(NodeId child, RowFacts facts);
  /// The tree in level order. fine: Stats::fine_width() exact sums a node, given for the leaves.
  ForestArrays finish(std::vector<__int128> fine);
  /// The nodes as the finished tree has them.
  std::vector<NodeId> level_order() const;

  // --- pieces of it, for a driver that handles whole subtrees itself ---
  const GrownNode& node(NodeId id) const { return nodes_[id]; }
  GrownNode& node(NodeId id) { return nodes_[id]; }
  /// Of a node; only where the tree is monotone or made of medians.
  NodeRange& range(NodeId id) { return ranges_[id]; }
  std::size_t size() const { return nodes_.size(); }
  std::span<const std::int64_t> sums(NodeId id) const {
    return {raw_.data() + id * stats_.width, stats_.width};
  }
  /// Where the split does not say it: the sums of a child, before it is described.
  std::span<std::int64_t> sums(NodeId id) {
    return {raw_.data() + id * stats_.width, stats_.width};
  }
  /// Such a driver sees by itself which nodes are open.
  void forget_wanted() { wanted_.clear(); }
  const Split& pending(NodeId id) const;
  std::span<const std::uint32_t> candidates(NodeId id) const;  // features the node may be split on
  /// Nodes may be looked at by different threads at once. Newton's score: false also where no split
  /// gains more than `floor`.
  bool find(NodeId id, const ProfileSource& profiles, const Context& context, Split& split,
            const NodeRows* rows = nullptr,
            double floor = -std::numeric_limits<double>::infinity());
  NodeId apply(NodeId id, const Split& split);  // makes the children; returns the left one
  /// A grower for the subtree below `id`, and its return.
  Grower detach(NodeId id) const;
  void graft(NodeId id, Grower&& branch);
  /// Takes back the split of a node whose children are leaves.
  void cut(NodeId id);

 private:
  bool may_split(const GrownNode& node, std::span<const std::int64_t> sums, RowFacts facts) const;
  bool ranged() const {
    return !params_.monotone.empty() || params_.criterion == Criterion::absolute_error;
  }
  bool admits(const GrownNode& node, const Split& split, const NodeRows* rows) const;
  void bound_children(NodeId parent, const Split& split);
  void retire_children(NodeId parent);
  void group_children(NodeId parent, std::uint32_t feature);
  void set_values(ForestArrays& out, std::span<const NodeId> order,
                  std::vector<__int128>& fine) const;
  void set_shares(ForestArrays& out, std::size_t at, NodeId id, const double* sums) const;
  void set_numbers(ForestArrays& out, std::size_t at, NodeId id, const __int128* fine) const;

  struct Pending {
    NodeId node;
    Split split;
  };
  struct Better {  // the largest gain first, the oldest of equals
    bool operator()(const Pending& a, const Pending& b) const {
      return a.split.gain > b.split.gain || (a.split.gain == b.split.gain && a.node < b.node);
    }
  };
  struct FeatureGroups;  // interaction constraints: which groups are still open below a node

  const TreeParams& params_;
  const SplitSearch& search_;
  const Stats& stats_;
  std::size_t n_features_;
  ColumnDraw columns_;
  std::vector<GrownNode> nodes_;
  std::vector<NodeRange> ranges_;  // per node; empty unless ranged()
  std::vector<std::int64_t> raw_;  // width a node
  std::vector<std::vector<std::uint64_t>> sets_;
  std::vector<std::shared_ptr<const FeatureGroups>> groups_;  // per node; empty without constraints
  std::size_t retired_words_;           // a node's bits of features that retired; 0: none does
  std::vector<std::uint64_t> retired_;  // above or in each node
  std::vector<Pending> pending_;        // depth-first and level by level
  std::set<Pending, Better> ranked_;    // best-first
  std::vector<NodeId> given_up_;
  std::vector<Pending> emitted_;
  std::vector<NodeId> wanted_;
  std::size_t n_leaves_ = 1;
};

}  // namespace committee
