// Pruning a grown tree: cost-complexity (Breiman et al. 1984, chapter 3) and C4.5's pessimistic
// estimate (Quinlan 1993, chapter 4: subtree replacement with the binomial upper limit on the
// leaf's error; subtree raising, J48's second operation, moves rows between nodes and is not done).
//
// Both look at the arrays of exactly one tree, which must be in level order, and answer with the
// nodes to turn into leaves; `collapse` carries it out. Below a cut node further flags mean
// nothing. Anything else, or a fact that is missing from the arrays, throws std::invalid_argument.
#pragma once

#include "committee/forest/forest.hpp"

namespace committee {

/// The effective alphas at which minimal cost-complexity pruning collapses nodes, ascending, and
/// the total leaf impurity after each step (the first entry is the full tree at alpha 0). Risk of a
/// node: impurity * weight / root weight. One entry a collapse: nodes with the same alpha that are
/// not above one another have an entry each, from left to right; a node above takes the others in.
struct PruningPath {
  std::vector<double> alphas;
  std::vector<double> impurities;
};
PruningPath cost_complexity_path(const ForestArrays& tree);

/// cut[node] = 1 where the subtree below `node` goes for complexity parameter alpha >= 0: all nodes
/// of the path with an effective alpha <= alpha. Alpha 0 keeps the full tree, useless splits too.
std::vector<std::uint8_t> cost_complexity_cut(const ForestArrays& tree, double alpha);

/// Same for C4.5's rule: a subtree is replaced by a leaf where the leaf's pessimistic error does
/// not exceed the sum over its leaves by more than 0.1, bottom-up. confidence in (0, 0.5]. values
/// must hold class shares (one output); a node's rows are its weight.
std::vector<std::uint8_t> pessimistic_cut(const ForestArrays& tree, double confidence);

/// C4.5's addErrs (release 8): the errors to add to e observed in n so that the sum is the upper
/// confidence limit.
double pessimistic_errors(double n, double e, double confidence);

/// The tree with every cut node made a leaf and what hangs below removed; level order and category
/// sets renewed. Facts about training that are absent (empty arrays) stay absent.
ForestArrays collapse(const ForestArrays& tree, std::span<const std::uint8_t> cut);

}  // namespace committee
