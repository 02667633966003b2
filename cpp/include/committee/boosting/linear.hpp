// Linear leaves: a leaf says b + sum of slope * x over the numeric features on its path, instead of
// a constant (Shi, Li and Li, "Gradient boosting with piece-wise linear regression trees", 2019;
// LightGBM's linear_tree).
//
// The tree is grown as ever. Then each leaf takes the Newton step of a linear model on its rows,
//   least over b and w of  sum g (b + w x) + h / 2 (b + w x)^2 + slope_l2 / 2 |w|^2.
// Around the mean of x (weighed by h) b and w have nothing to do with each other: b is the constant
// that the grower gave the leaf by its own rules, and w solves a small symmetric system.
//
// A slope says nothing of what lies beyond the rows that it was fitted to, and a sum of many trees
// would be as wrong there as one is, many times. So a leaf keeps the range of each feature among
// its rows, and takes a value outside for its nearest end: predictions are bounded, which they are
// not in LightGBM. A row that misses one of the leaf's features gets the constant.
//
// Sums of a leaf run over its rows in order on one thread: the same bits on any number of threads,
// though not for rows in another order.
#pragma once

#include "committee/forest/linear_forest.hpp"

namespace committee {

/// What leaves are fitted to; spans are borrowed.
struct LinearTask {
  const Input& input;                   // the rows as they are
  std::span<const float> gradient;      // per row
  std::span<const float> hessian;       // per row; empty: ones
  std::span<const std::uint32_t> leaf;  // per row: its node
  std::span<const RowId> rows;          // that count, ascending; empty: all
  double l2 = 0;                        // on constants, as the tree was grown
  double slope_l2 = 0;
  double max_value = std::numeric_limits<double>::infinity();  // of a leaf, as it was grown
};

/// The terms of one tree's leaves. A leaf keeps its constant where it has no numeric feature on its
/// path, fewer rows than unknowns and one more, or numbers beyond range. A feature that does not
/// vary among the leaf's rows, or that the ones before it all but determine, is left out. Slopes
/// are made as much flatter as keeps what the leaf says within max_value.
LinearTerms fit_linear_leaves(const ForestArrays& tree, const LinearTask& task,
                              const Context& context);

/// raw[row] += scale * what its leaf says, in the bits of predict.
void add_linear_leaves(const ForestArrays& tree, const LinearTerms& terms, const Input& input,
                       std::span<const std::uint32_t> leaf, double scale, std::span<double> raw,
                       const Context& context);

}  // namespace committee
