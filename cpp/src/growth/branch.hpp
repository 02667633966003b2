// A branch: the part of a tree below one node, grown by one driver over a range of the rows.
#pragma once

#include "committee/growth/grower.hpp"
#include "committee/growth/partition.hpp"
#include "growth/drawn_profiles.hpp"
#include "growth/few_rows.hpp"

namespace committee {

/// What all branches of a tree share; read-only but for the rows, of which each branch has its own
/// range.
struct TreeData {
  const BinnedMatrix& matrix;
  const Stats& stats;
  const TreeParams& params;
  Partition& partition;
  HistogramPool& pool;
  /// Rows are asked for leaf by leaf at the end. Else those of a node whose children are leaves by
  /// their depth need not move, only be counted and, where asked for, told which leaf is theirs.
  bool ordered = true;
  std::uint32_t* node_of = nullptr;  // where not ordered: per row, the node marked so far

  /// Whether no features are drawn node by node.
  bool all_features() const {
    return params.node_features == 0 || params.node_features >= matrix.n_features;
  }
};

class Branch {
 public:
  /// task_rows: nodes of at most so many rows are left for tasks instead of being grown here (0:
  /// none are).
  Branch(const TreeData& data, Grower grower, std::size_t task_rows);

  void grow(Histogram root, const Context& context);

  /// Nodes left for others, with their histograms.
  struct Task {
    NodeId node;
    Histogram histogram;
  };
  std::vector<Task>& tasks() { return tasks_; }
  Grower& grower() { return grower_; }

 private:
  bool small(NodeId id) const { return grower_.node(id).rows <= block_rows_; }
  void divide(NodeId id, const Context& context);
  bool last_level(NodeId left) const;
  void open_children(NodeId parent, const Context& context);
  void take(NodeId id, Histogram histogram, const Context& context);
  Histogram sum_rows(NodeId id, const Context& context);
  void grow_block(NodeId id, Block& block, const Context& context);
  Histogram& histogram(NodeId id);

  const TreeData& data_;
  Grower grower_;
  FewRows few_;
  DrawnProfiles drawn_;
  std::size_t task_rows_;
  std::size_t block_rows_;
  bool few_drawn_;                     // nodes read the drawn features only, no histograms
  std::vector<Histogram> histograms_;  // by node; empty where none is kept
  std::vector<Task> tasks_;
};

}  // namespace committee
