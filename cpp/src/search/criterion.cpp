#include "committee/search/criterion.hpp"

#include "committee/base/clones.hpp"

namespace committee {
namespace {

// One function per criterion: clones are not made of templates.
template <class C>
COMMITTEE_INLINE void score_with(C s, const double* a, const double* b, std::size_t n,
                                 double total_a, double total_b, double* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = s(a[i], b[i]) + s(total_a - a[i], total_b - b[i]);
}

COMMITTEE_CLONES
void score_gini(const double* a, const double* b, std::size_t n, double ta, double tb,
                double* out) {
  score_with(pair::Gini{}, a, b, n, ta, tb, out);
}
COMMITTEE_CLONES
void score_entropy(const double* a, const double* b, std::size_t n, double ta, double tb,
                   double* out) {
  score_with(pair::Entropy{}, a, b, n, ta, tb, out);
}
COMMITTEE_CLONES
void score_error(const double* a, const double* b, std::size_t n, double ta, double tb,
                 double* out) {
  score_with(pair::Error{}, a, b, n, ta, tb, out);
}
COMMITTEE_CLONES
void score_exponential(const double* a, const double* b, std::size_t n, double ta, double tb,
                       double* out) {
  score_with(pair::Exponential{}, a, b, n, ta, tb, out);
}
/// Deviations from the node's mean, of both sides alike: mirrored splits must tie to the last bit.
COMMITTEE_CLONES
void score_squared(const double* a, const double* b, std::size_t n, double ta, double tb,
                   double* out) {
  const double mean = ta / tb;
  for (std::size_t i = 0; i < n; ++i) {
    const double rest = tb - b[i];
    const double left = a[i] - mean * b[i], right = (ta - a[i]) - mean * rest;
    out[i] = left * left / b[i] + right * right / rest;
  }
}
COMMITTEE_CLONES
void score_newton(double l2, const double* a, const double* b, std::size_t n, double ta, double tb,
                  double* out) {
  const pair::Squared one{l2};
  const pair::NewtonSides sides(ta, tb, l2);
  for (std::size_t i = 0; i < n; ++i) {
    const double h = b[i] + l2, rest = (tb - b[i]) + l2;
    const double apart = one(a[i], b[i]) + one(ta - a[i], tb - b[i]) - one(ta, tb);
    out[i] = h > 0 && rest > 0 ? sides(a[i], b[i]) : apart;  // no weight counts nothing
  }
}
COMMITTEE_CLONES
void score_poisson(const double* a, const double* b, std::size_t n, double ta, double tb,
                   double* out) {
  score_with(pair::Poisson{}, a, b, n, ta, tb, out);
}

}  // namespace

void score_boundaries(Criterion criterion, double l2, const double* a, const double* b,
                      std::size_t n, double total_a, double total_b, double* out) {
  switch (criterion) {
    case Criterion::gini:
      return score_gini(a, b, n, total_a, total_b, out);
    case Criterion::error:
      return score_error(a, b, n, total_a, total_b, out);
    case Criterion::exponential:
      return score_exponential(a, b, n, total_a, total_b, out);
    case Criterion::squared_error:
      return score_squared(a, b, n, total_a, total_b, out);
    case Criterion::newton:
      return score_newton(l2, a, b, n, total_a, total_b, out);
    case Criterion::poisson:
      return score_poisson(a, b, n, total_a, total_b, out);
    default:
      return score_entropy(a, b, n, total_a, total_b, out);
  }
}

double perfect_score(Criterion criterion, const SumShape& shape, const double* sums) {
  if (criterion == Criterion::entropy || criterion == Criterion::exponential) return 0;
  if (criterion != Criterion::gini && criterion != Criterion::error)
    return std::numeric_limits<double>::infinity();
  return many::over_outputs(shape, sums,
                            [](const double*, std::uint32_t, double total) { return total; });
}

double node_score(Criterion criterion, const SumShape& shape, const double* s) {
  switch (criterion) {
    case Criterion::gini:
      return many::Gini{}(shape, s);
    case Criterion::entropy:
    case Criterion::gain_ratio:
    case Criterion::normalized_gain:
      return many::Entropy{}(shape, s);
    case Criterion::error:
      return many::Error{}(shape, s);
    case Criterion::exponential:
      return many::Exponential{}(shape, s);
    case Criterion::squared_error:
      return many::Squared{}(shape, s);
    case Criterion::poisson:
      return many::Poisson{}(shape, s);
    case Criterion::newton:
      return many::Newton{}(shape, s);
    case Criterion::absolute_error:
      break;
  }
  throw std::invalid_argument("absolute_error is not a function of sums");
}

double normalised(Criterion criterion, double gain, double parent_score, double left_weight,
                  double right_weight) {
  if (criterion != Criterion::gain_ratio && criterion != Criterion::normalized_gain) return gain;
  // Both sides are added first: a split and its mirror image must tie to the last bit.
  const double split_entropy =
      x_log_x(left_weight + right_weight) - (x_log_x(left_weight) + x_log_x(right_weight));
  if (criterion == Criterion::gain_ratio) return split_entropy > 0 ? gain / split_entropy : 0.0;
  const double both = split_entropy - parent_score;
  return both > 0 ? 2 * gain / both : 0.0;
}

}  // namespace committee
