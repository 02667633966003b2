// Criteria score sums; they know nothing of rows, bins or trees.
//
// A criterion is a function s of a node's sums such that splitting P into L and R gains s(L) + s(R)
// - s(P), the decrease of weight * impurity (CART, Breiman et al. 1984; Quinlan 1993). Gini and
// squared error are one idea (squared error on one-hot targets), and Newton's G^2 / (H + lambda)
// contains squared error (G = weight * y, H = weight, lambda = 0). Only these small structs are
// specific; the split search is written once over them.
#pragma once

#include <algorithm>
#include <cmath>

#include "committee/base/det_math.hpp"
#include "committee/base/types.hpp"
#include "committee/search/soft_threshold.hpp"

namespace committee {

enum class Criterion : std::uint8_t {
  gini,
  entropy,
  gain_ratio,       // information gain / entropy of the split (C4.5)
  normalized_gain,  // 2 * information gain / (entropy of the split + entropy of the classes)
  error,            // weighted misclassification
  exponential,      // the bound of confidence-rated boosting (Schapire and Singer 1999)
  squared_error,
  absolute_error,
  poisson,
  newton,
};

constexpr bool for_classes(Criterion c) { return c <= Criterion::exponential; }

/// The shape of the sums a criterion reads, and its free numbers.
struct SumShape {
  std::size_t n_sums = 2;
  std::vector<std::uint32_t> n_classes;  // per output; empty for regression
  double l2 = 0;                         // newton: lambda
  double l1 = 0;                         // newton: alpha
  double least = 0;  // newton, several outputs: hessian that each counts with at least
};

// Two sums (a, b): two classes, or (weight * y, weight), or (gradient, hessian).
namespace pair {

struct Gini {
  double operator()(double a, double b) const { return (a * a + b * b) / (a + b); }
};
struct Entropy {
  double operator()(double a, double b) const { return x_log_x(a) + x_log_x(b) - x_log_x(a + b); }
};
struct Error {
  double operator()(double a, double b) const { return std::max(a, b); }
};
/// 2 sqrt(a b), which the best confidences leave of the exponential loss of a node (Kearns and
/// Mansour 1996 grow by it too). The root of a product of sums is rounded once by IEEE 754, so it
/// is the same everywhere; the sums are >= 0.
struct Exponential {
  double operator()(double a, double b) const { return -2 * std::sqrt(a * b); }
};
struct Squared {  // also Newton
  double l2 = 0;
  double operator()(double a, double b) const {
    const double h = b + l2;
    return h > 0 ? a * a / h : 0.0;
  }
};
/// What Newton's score gains by two sides with a = HL + l2 and b = HR + l2. Since GL + GR = G,
///   GL^2 / a + GR^2 / b = G^2 / (a + b) + (a + b) (GL - G a / (a + b))^2 / (a b):
/// the first term is the same for all cuts, and the second loses nothing by cancellation. Sums are
/// taken from the middle between the sides: the square is that of (GL - G/2) - mean (HL - H/2), and
/// mirrored splits differ in signs alone, so that they tie to the last bit.
struct NewtonSides {
  double half_gradient, half_hessian, mean, middle, whole, less;
  NewtonSides(double g, double h, double lambda)
      : half_gradient(g / 2),
        half_hessian(h / 2),
        mean(g / (h + 2 * lambda)),
        middle(h / 2 + lambda),
        whole(h + 2 * lambda),
        less(g * mean * lambda / (h + lambda)) {}
  /// From the part that varies, (GL - mean a)^2 / (a b).
  double gain(double varying) const { return whole * varying - less; }
  double varying(double gain) const { return (gain + less) / whole; }
  double operator()(double g, double h) const {
    const double from = h - half_hessian, apart = (g - half_gradient) - mean * from;
    return gain(apart * apart / ((middle + from) * (middle - from)));
  }
};
struct Poisson {  // half the deviance: sum y log(mean); a side whose sum of y is zero has no finite
                  // leaf
  double operator()(double a, double b) const {
    return a > 0 ? a * det_log(a / b) : -std::numeric_limits<double>::infinity();
  }
};

}  // namespace pair

// Any number of sums.
namespace many {

/// Adds f(classes of one output, their total) over the outputs.
template <class F>
double over_outputs(const SumShape& shape, const double* s, F f) {
  double score = 0;
  for (const std::uint32_t k : shape.n_classes) {
    double total = 0;
    for (std::uint32_t j = 0; j < k; ++j) total += s[j];
    score += f(s, k, total);
    s += k;
  }
  return score;
}

struct Gini {
  double operator()(const SumShape& shape, const double* s) const {
    return over_outputs(shape, s, [](const double* w, std::uint32_t k, double total) {
      double squares = 0;
      for (std::uint32_t j = 0; j < k; ++j) squares += w[j] * w[j];
      return squares / total;
    });
  }
};
struct Entropy {
  double operator()(const SumShape& shape, const double* s) const {
    return over_outputs(shape, s, [](const double* w, std::uint32_t k, double total) {
      double sum = 0;
      for (std::uint32_t j = 0; j < k; ++j) sum += x_log_x(w[j]);
      return sum - x_log_x(total);
    });
  }
};
struct Error {
  double operator()(const SumShape& shape, const double* s) const {
    return over_outputs(shape, s, [](const double* w, std::uint32_t k, double) {
      return *std::max_element(w, w + k);
    });
  }
};
/// Each class against the rest, sum of sqrt(w_k (W - w_k)): for two the pair's.
struct Exponential {
  double operator()(const SumShape& shape, const double* s) const {
    return over_outputs(shape, s, [](const double* w, std::uint32_t k, double total) {
      if (k == 2) return pair::Exponential{}(w[0], w[1]);
      double sum = 0;
      for (std::uint32_t j = 0; j < k; ++j) sum += std::sqrt(w[j] * rest(w, k, j, total));
      return -sum;
    });
  }

 private:
  /// Of a class that outweighs all others these are added, not taken from the total: a root would
  /// blow up what cancels.
  static double rest(const double* w, std::uint32_t k, std::uint32_t j, double total) {
    if (2 * w[j] <= total) return total - w[j];
    double others = 0;
    for (std::uint32_t i = 0; i < k; ++i) others += i == j ? 0.0 : w[i];
    return others;
  }
};
struct Squared {
  double operator()(const SumShape& shape, const double* s) const {
    const double weight = s[shape.n_sums - 1];
    double squares = 0;
    for (std::size_t m = 0; m + 1 < shape.n_sums; ++m) squares += s[m] * s[m];
    return squares / weight;
  }
};
/// One output, or the sum over several (gradient, hessian) of leaves that are vectors. These check
/// the hessian of all outputs together: one that has next to none must not divide by it.
struct Newton {
  double operator()(const SumShape& shape, const double* s) const {
    if (shape.n_sums == 2 && shape.l1 > 0) return pair::Thresholded{shape.l1, shape.l2}(s[0], s[1]);
    if (shape.n_sums == 2) return pair::Squared{shape.l2}(s[0], s[1]);
    double score = 0;
    for (std::size_t m = 0; m < shape.n_sums; m += 2)
      score += pair::Squared{shape.l2}(s[m], std::max(s[m + 1], shape.least));
    return score;
  }
};
struct Poisson {
  double operator()(const SumShape& shape, const double* s) const {
    const double weight = s[shape.n_sums - 1];
    double score = 0;
    for (std::size_t m = 0; m + 1 < shape.n_sums; ++m) score += pair::Poisson{}(s[m], weight);
    return score;
  }
};

}  // namespace many

/// out[i] = s(a[i], b[i]) + s(total_a - a[i], total_b - b[i]) for two sums: every boundary of a
/// profile at once. Squared error and Newton: the gain itself, taken from the node's mean.
void score_boundaries(Criterion criterion, double l2, const double* a, const double* b,
                      std::size_t n, double total_a, double total_b, double* out);

/// The score of two sides that leave nothing to gain, where it does not depend on the split: then
/// the search may stop.
double perfect_score(Criterion criterion, const SumShape& shape, const double* sums);

/// s(sums) for any criterion: what nodes are scored with once they stand. The two normalised gains
/// score by entropy.
double node_score(Criterion criterion, const SumShape& shape, const double* sums);

/// Turns the information gained by a split into the quality the criterion ranks by. parent_score is
/// s(P) <= 0 (the negative class entropy times weight), all in units of weight.
double normalised(Criterion criterion, double gain, double parent_score, double left_weight,
                  double right_weight);

}  // namespace committee
