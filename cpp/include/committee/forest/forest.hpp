// All trees of a model in flat arrays: 16 bytes a node, immutable, the same in memory and in numpy
// (pack.hpp has the form for files).
//
// A tree's nodes are consecutive, in level order, the two children of a node side by side (right =
// left + 1) and behind their parent. So one number names both children, a walk never goes back, and
// "left > self" is the whole proof that there is no cycle. A leaf points to itself (left == self),
// which lets several rows walk in step.
#pragma once

#include <memory>

#include "committee/base/parallel.hpp"
#include "committee/base/types.hpp"

namespace committee {

/// 16 bytes. Numeric: a value x goes left when x <= threshold. Categorical: when its bit is set in
/// the node's set. Missing (NaN, or for a categorical split a code that is no bit of the set's
/// range) goes left when missing_left.
struct Node {
  double threshold;  // leaf: +infinity; categorical: the index of its set, exact in a double
  std::uint32_t
      feature;         // bits 0..29 the feature, bit 30 missing_left, bit 31 categorical; leaf: 0
  std::uint32_t left;  // index of the left child inside the tree; leaf: its own index
};
inline constexpr std::uint32_t kFeatureMask = (1u << 30) - 1;
inline constexpr std::uint32_t kMissingLeft = 1u << 30;
inline constexpr std::uint32_t kCategorical = 1u << 31;

/// The arrays of a forest, as made by the grower or read from a file (then checked by Forest's
/// constructor).
struct ForestArrays {
  std::size_t n_features = 0;
  std::size_t n_outputs = 1;                 // values per node
  std::vector<std::uint64_t> tree_begin{0};  // n_trees + 1: first node of each tree
  std::vector<Node> nodes;
  std::vector<double> values;  // n_nodes * n_outputs: every node has its value, leaves are used
  std::vector<std::uint64_t> set_begin{0};  // n_sets + 1: first word of each category set
  std::vector<std::uint64_t> set_words;     // bit c of a set: level code c goes left
  // Facts about training, not needed to predict: per node.
  std::vector<double> gain;  // score gained by the split in units of weight; 0 for leaves
  std::vector<double> impurity;
  std::vector<double> weight;        // weighted rows
  std::vector<std::uint64_t> count;  // rows
};

struct RankedForest;  // a form for fast batches, made on demand: src/predict_ranked.hpp

class Forest {
 public:
  /// Checks everything (sizes, offsets, every child, feature, set index, finite thresholds and
  /// values, depth of the arrays against overflow) and throws std::invalid_argument naming the
  /// array and the first bad index.
  explicit Forest(ForestArrays arrays, const Context& context = {});

  const ForestArrays& arrays() const { return a_; }
  std::size_t n_trees() const { return a_.tree_begin.size() - 1; }
  std::size_t n_nodes() const { return a_.nodes.size(); }
  std::size_t max_depth(std::size_t tree) const { return depth_[tree]; }
  bool has_categorical(std::size_t tree) const { return categorical_[tree] != 0; }
  /// The features that some split looks at, ascending: all that prediction has to load.
  std::span<const std::uint32_t> used_features() const { return used_; }
  /// Per node the position of its feature in used_features(), where most features are unused; else
  /// empty.
  std::span<const std::uint32_t> used_position() const { return position_; }

  /// Trees of all forests one after another; they must agree on n_features and n_outputs. Facts
  /// about training are kept when every forest has them.
  static Forest concatenate(std::span<const Forest* const> forests);
  /// Trees [begin, end), with the category sets that they use.
  Forest slice(std::size_t begin, std::size_t end) const;

  /// The same trees without facts, where each leaf gives one vote per output to its largest value
  /// (of equals the first). n_classes: values of each output.
  Forest votes(std::span<const std::uint32_t> n_classes) const;

  /// The same splits and facts with other values, n_outputs a node, which must be finite. Nothing
  /// else is checked again: linear in the nodes, a microsecond or two for a small tree.
  Forest revalued(std::span<const double> values, std::size_t n_outputs) const;

  /// The form for fast batches, or null where walking the nodes is better. It is made once the rows
  /// asked for, summed over calls, pay for making it. Safe from several threads; copies of a forest
  /// share it.
  const RankedForest* ranked(std::size_t n_rows) const;

 private:
  struct RankedCache;
  static std::shared_ptr<RankedCache> make_cache();

  ForestArrays a_;
  std::vector<std::uint32_t> depth_;
  std::vector<std::uint8_t> categorical_;
  std::vector<std::uint32_t> used_;
  std::vector<std::uint32_t> position_;
  std::shared_ptr<RankedCache> cache_;
};

}  // namespace committee
