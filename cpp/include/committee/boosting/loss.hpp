// Losses that gradient boosting knows natively: first and second derivative by the raw score, a row
// at a time. committee/losses holds the same formulas in Python, which is where they are explained;
// tests hold the two together.
#pragma once

#include <span>

#include "committee/base/parallel.hpp"
#include "committee/base/types.hpp"

namespace committee {

enum class LossKind : std::uint8_t {
  squared,
  absolute,
  huber,     // parameter: where it turns linear
  quantile,  // parameter: the level
  poisson,   // scores are logarithms of means here and below
  gamma,
  tweedie,   // parameter: the power, between 1 and 2
  logistic,  // y is 0 or 1, scores are log odds
  exponential,
  multinomial,  // y is a class code, one score a class
};

struct Loss {
  LossKind kind = LossKind::squared;
  double parameter = 0;
  std::vector<double> levels{};  // quantile with several outputs: of each; else empty

  double parameter_of(std::size_t output) const {
    return levels.empty() ? parameter : levels[output];
  }
};

/// Whether the hessian is one for every row, so that none is written.
bool has_unit_hessian(LossKind kind);

/// gradient[row], hessian[row] of one output, times the row's weight (empty: 1). Where the hessian
/// is one and rows are not weighted, `hessian` is empty. Multinomial: `raw` are the scores of class
/// `output`, and `norm` the logarithm of the sum of all exponentials (log_sum_exp).
struct GradientTask {
  Loss loss;
  std::span<const double> y, raw, weight, norm;
  std::size_t output = 0, n_outputs = 1;
};
void write_gradients(const GradientTask& task, std::span<float> gradient, std::span<float> hessian,
                     const Context& context);

/// norm[row] = log sum over outputs of exp(raw[output * n_rows + row]).
void log_sum_exp(std::span<const double> raw, std::size_t n_outputs, std::span<double> norm,
                 const Context& context);

/// raw[row] += scale * value[leaf[row]].
void add_leaves(std::span<const std::uint32_t> leaf, std::span<const double> value, double scale,
                std::span<double> raw, const Context& context);

}  // namespace committee
