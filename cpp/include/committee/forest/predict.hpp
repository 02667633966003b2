// Prediction: rows in parallel, several rows in flight, trees in order. One row alone gives the
// same bits as the same row in any batch on any number of threads, because each row's sum is taken
// tree after tree.
#pragma once

#include "committee/base/parallel.hpp"
#include "committee/bins/input.hpp"
#include "committee/forest/forest.hpp"

namespace committee {

/// out[row, output] = intercept[output] + sum over trees of weight[tree] * value of its leaf, added
/// in tree order. weight: empty (all one) or n_trees; intercept: empty (zero) or n_outputs. out:
/// n_rows * n_outputs, row-major.
void predict(const Forest& forest, const Input& input, std::span<const double> weight,
             std::span<const double> intercept, std::span<double> out, const Context& context);

/// out[tree, row, output]: every tree's own answer.
void predict_members(const Forest& forest, const Input& input, std::span<double> out,
                     const Context& context);

/// out[row, output] = sum over the trees that left the row out, added in tree order; count[row] =
/// how many did. left_out: a bit for each row of the input, (n_rows + 7) / 8 bytes a tree.
void predict_left_out(const Forest& forest, const Input& input,
                      std::span<const std::uint8_t> left_out, std::span<double> out,
                      std::span<std::uint32_t> count, const Context& context);

/// out[row, tree]: the leaf's index inside its tree.
void apply(const Forest& forest, const Input& input, std::span<std::uint32_t> out,
           const Context& context);

}  // namespace committee
