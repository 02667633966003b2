// What each feature adds to a prediction: exact Shapley values of trees and their interactions.
//
// The game of one row is the one of Lundberg, Erion and Lee (2018), "path dependent": a coalition
// is a set of features whose values are known. At a split on a known feature the row goes as in
// prediction, on an unknown one it goes both ways, to each child with its share of the cover
// (ForestArrays::weight). A child's share is its cover over that of both children; where both have
// none it is one half.
//
// Each row's sums are taken in the order of trees and nodes, so one row alone gives the same bits
// as the same row in any batch on any number of threads.
#pragma once

#include "committee/base/parallel.hpp"
#include "committee/bins/input.hpp"
#include "committee/forest/forest.hpp"

namespace committee {

/// out[row, feature, output]: what the feature adds to the weighted sum of trees; the last of the
/// n_features + 1 entries is what the forest says when nothing is known. They add up to predict().
/// weight: empty (all one) or n_trees. The forest must have kept the cover of all nodes, none
/// negative; else std::invalid_argument.
void shap_values(const Forest& forest, const Input& input, std::span<const double> weight,
                 std::span<double> out, const Context& context);

/// out[row, i, j, output], i and j of n_features + 1: half the interaction of two features, what is
/// left of a feature's value on the diagonal, and the answer without any feature in the last place.
/// Symmetric; the features' entries of a line add up to shap_values.
void shap_interactions(const Forest& forest, const Input& input, std::span<const double> weight,
                       std::span<double> out, const Context& context);

}  // namespace committee
