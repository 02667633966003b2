// Forests and rows made at random for tests: every topology from a lone leaf to a chain, ties
// between values and thresholds, signed zeros, denormals, category sets, both directions of
// missing. And the oracle: the plain walk of one row through one tree, as the contract in
// forest.hpp words it.
#pragma once

#include <cmath>
#include <random>

#include "committee/forest/forest.hpp"

namespace committee::testing {

using Random = std::mt19937_64;

struct ForestShape {
  std::size_t n_trees = 5, max_leaves = 20, n_features = 6, n_outputs = 1;
  double categorical = 0.0, missing_left = 0.3, chain = 0.2;
  bool facts = false;
  bool few_values = false;  // many leaves then have equal ones
};

inline bool chance(Random& random, double p) {
  return std::uniform_real_distribution<double>(0, 1)(random) < p;
}
inline std::size_t below(Random& random, std::size_t n) { return random() % n; }

/// Values and thresholds share a small stock, so that many comparisons are ties.
inline double stock(Random& random) {
  switch (below(random, 12)) {
    case 0:
      return 0.0;
    case 1:
      return -0.0;
    case 2:
      return 5e-324;
    case 3:
      return -1e-310;
    case 4:
      return 1e300;
    case 5:
      return static_cast<double>(0.1F);
    case 6:
      return 0.1;
    default:
      return static_cast<double>(below(random, 17)) - 8.0;
  }
}

inline void split_node(Random& random, const ForestShape& shape, ForestArrays& a, Node& node) {
  node.feature = static_cast<std::uint32_t>(below(random, shape.n_features));
  if (chance(random, shape.missing_left)) node.feature |= kMissingLeft;
  if (!chance(random, shape.categorical)) {
    node.threshold = stock(random);
    return;
  }
  node.feature |= kCategorical;
  node.threshold = static_cast<double>(a.set_begin.size() - 1);
  const std::size_t n_words = 1 + below(random, 2);
  for (std::size_t w = 0; w < n_words; ++w) a.set_words.push_back(random());
  a.set_begin.push_back(a.set_words.size());
}

/// Splits random open leaves (or always the last one: a chain), then numbers the nodes level by
/// level.
inline void add_tree(Random& random, const ForestShape& shape, ForestArrays& a) {
  const std::size_t n_leaves = shape.n_features == 0 ? 1 : 1 + below(random, shape.max_leaves);
  const bool chain = chance(random, shape.chain);
  std::vector<std::pair<std::size_t, std::size_t>> children(1);
  std::vector<std::size_t> open{0};
  while (open.size() < n_leaves) {
    const std::size_t pick = chain ? open.size() - 1 : below(random, open.size());
    const std::size_t node = open[pick];
    children[node] = {children.size(), children.size() + 1};
    open[pick] = children[node].first;
    open.push_back(children[node].second);
    children.resize(children.size() + 2);
  }
  std::vector<std::size_t> order{0};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto [left, right] = children[order[i]];
    const auto self = static_cast<std::uint32_t>(i);
    Node node{std::numeric_limits<double>::infinity(), 0, self};
    if (left != 0) {
      node.left = static_cast<std::uint32_t>(order.size());
      order.push_back(left);
      order.push_back(right);
      split_node(random, shape, a, node);
    }
    a.nodes.push_back(node);
    for (std::size_t k = 0; k < shape.n_outputs; ++k) {
      a.values.push_back(shape.few_values ? stock(random)
                                          : std::normal_distribution<double>()(random));
    }
  }
  a.tree_begin.push_back(a.nodes.size());
}

inline ForestArrays random_arrays(Random& random, const ForestShape& shape) {
  ForestArrays a;
  a.n_features = shape.n_features;
  a.n_outputs = shape.n_outputs;
  for (std::size_t t = 0; t < shape.n_trees; ++t) add_tree(random, shape, a);
  if (shape.facts) {
    a.gain.assign(a.nodes.size(), 0.5);
    a.impurity.assign(a.nodes.size(), 0.25);
    a.weight.assign(a.nodes.size(), 2.0);
    a.count.assign(a.nodes.size(), 2);
  }
  return a;
}

inline bool oracle_goes_left(const ForestArrays& a, const Node& node, const double* row) {
  const double x = row[node.feature & kFeatureMask];
  bool left = x <= node.threshold, missing = std::isnan(x);
  if ((node.feature & kCategorical) != 0) {
    const auto set = static_cast<std::size_t>(node.threshold);
    const std::uint64_t first = a.set_begin[set], last = a.set_begin[set + 1];
    missing = true;
    for (std::uint64_t code = 0; code < 64 * (last - first); ++code) {
      if (x != static_cast<double>(code)) continue;
      missing = false;
      left = ((a.set_words[first + code / 64] >> (code % 64)) & 1) == 1;
    }
  }
  return missing ? (node.feature & kMissingLeft) != 0 : left;
}

inline std::uint32_t oracle_leaf(const ForestArrays& a, std::size_t tree, const double* row) {
  const Node* nodes = a.nodes.data() + a.tree_begin[tree];
  std::uint32_t at = 0;
  while (nodes[at].left != at) {
    at = nodes[at].left + (oracle_goes_left(a, nodes[at], row) ? 0 : 1);
  }
  return at;
}

}  // namespace committee::testing
