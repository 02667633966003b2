#include "committee/criterion.hpp"

namespace committee {

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
    case Criterion::squared_error:
      return many::Squared{}(shape, s);
    case Criterion::poisson:
      return many::Poisson{}(shape, s);
    case Criterion::newton:
      return pair::Squared{shape.l2}(s[0], s[1]);
    case Criterion::absolute_error:
      break;
  }
  throw std::invalid_argument("absolute_error is not a function of sums");
}

double normalised(Criterion criterion, double gain, double parent_score, double left_weight,
                  double right_weight) {
  if (criterion != Criterion::gain_ratio && criterion != Criterion::normalized_gain) return gain;
  const double split_entropy =
      x_log_x(left_weight + right_weight) - x_log_x(left_weight) - x_log_x(right_weight);
  if (criterion == Criterion::gain_ratio) return split_entropy > 0 ? gain / split_entropy : 0.0;
  const double both = split_entropy - parent_score;
  return both > 0 ? 2 * gain / both : 0.0;
}

}  // namespace committee
