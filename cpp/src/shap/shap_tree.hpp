// Trees made ready for Shapley values.
//
// Owen's integral: draw t from [0, 1], let every feature be known with probability t, and a
// feature's Shapley value is the mean over t of what it changes. For a leaf of value v whose path
// asks d features, of which feature j lets the row through (o_j = 1) or not (o_j = 0) and has the
// share z_j of the cover, that is
//
//   phi_i = v * integral of (o_i - z_i) * product over j != i of (z_j + t (o_j - z_j)),
//
// a polynomial of degree d - 1, for which the rule of Gauss and Legendre with d / 2 points is
// exact. At one point t all leaves are summed by one walk through the tree. Let P be the product
// over the features above a node, f and 1 - f the factors that its two sides multiply to it, and H
// what the leaves below sum up to by the factors below. Then with `share` z of the left side and go
// = 1 where the row goes left
//
//   e = go - z,  f = z + t e,  H = H_right + f (H_left - H_right),
//   phi_i gets e * P * (H_left - H_right).
//
// Where the feature was already asked above, with share y of the cover left and the row still let
// through (on = 1) or not, the same holds with F = y + t (1 - y) and
//
//   e = on (go - z),  f = z + (t / F) e,  phi_i gets e * P * (y / F^2) * (H_left - H_right).
//
// For pairs: a node's term times g_j = (o_j - z_j) / (z_j + t (o_j - z_j)) of each other feature
// above it, and half of that for each of the two.
#pragma once

#include "committee/forest/forest.hpp"

namespace committee {

/// Points and weights on [0, 1], exact for polynomials of degree 2 n - 1.
struct GaussRule {
  std::vector<double> point, weight;
  std::vector<double> off;  // g of a feature that does not let the row through: -1 / (1 - t)
  explicit GaussRule(std::size_t n);
};

inline constexpr std::uint32_t kNoTable = 0xFFFFFFFF;

/// A split as the walk reads it.
struct ShapSplit {
  Node node;
  double share;               // of the cover, that goes left
  double above;               // of the cover, that splits on the same feature above let through
  std::uint32_t column;       // position of the feature in used_features()
  std::uint32_t slot;         // place of the feature on the path
  std::uint32_t n_slots;      // features on the path above
  std::uint32_t repeated;     // the number of the split among the repeated ones; kNoTable: first
  std::uint32_t above_split;  // repeated: the split that asked before, and on which side we are
  bool above_right;
  bool leaf_left, leaf_right;
  std::size_t left_value, right_value;  // where a leaf's values are, in numbers
};

/// What the walk does next. A split whose children are leaves is one step; else it is entered, left
/// side first, turned if both sides go on, and left.
struct ShapStep {
  enum class Kind : std::uint8_t { stump, enter, turn, leave };
  Kind kind;
  bool right;           // this split is the right child of its parent: where its sums go
  std::uint32_t depth;  // of the split
  std::uint32_t split;
};

struct ShapTree {
  std::size_t n_points = 0;  // of the rule; 0 for a lone leaf
  std::size_t n_slots = 0;
  std::size_t depth = 0;  // levels of splits
  std::vector<ShapSplit> splits;
  std::vector<ShapStep> steps;
  std::vector<double> values;  // of leaves, times the tree's weight
  std::vector<double> slope;   // of repeated splits: t / F, then y / F^2, n_points each
  std::vector<double> known;   // for pairs, of each split: g if let through left, then right
};

/// All trees, and the rules they use.
struct ShapForest {
  std::size_t n_outputs = 1, n_columns = 0;
  std::size_t n_points = 0, n_slots = 0, depth = 0, n_splits = 0;  // the largest of all trees
  std::vector<ShapTree> trees;
  std::vector<std::shared_ptr<const GaussRule>> rules;  // by the number of points
  std::vector<double> bias;  // of each output: the answer without features

  ShapForest(const Forest& forest, std::span<const double> weight, bool pairs);
};

}  // namespace committee
