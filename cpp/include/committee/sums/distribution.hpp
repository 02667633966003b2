// Weights of rows kept as logarithms, as boosting keeps them, made a distribution: the same bits on
// any number of threads and in any instruction set.
#pragma once

#include "committee/base/parallel.hpp"
#include "committee/base/types.hpp"

namespace committee {

/// out[i] = exp(log_weight[i] - max) / sum of these. log_weight: not empty, without NaN or
/// +infinity, and not all -infinity (std::invalid_argument); out: of the same length.
void distribution(std::span<const double> log_weight, std::span<double> out,
                  const Context& context);

}  // namespace committee
