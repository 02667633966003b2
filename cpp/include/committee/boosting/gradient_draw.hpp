// Minimal variance sampling (Ibragimov and Gusev 2019; "gradient_based" in XGBoost): a round that
// sees a share of the rows draws those more often that say more.
//
// Row r is drawn with chance p = min(1, s / mu), where s^2 is the sum over the outputs of
// g^2 + lambda h^2, and what is drawn counts 1 / p times: sums of gradients and hessians are right
// on average, and of all chances with the same expected number of rows these make the gain of a
// split vary least. lambda is the square of what a leaf is worth, which is not known beforehand;
// sum |g| / sum h of each output stands for it (the paper takes the leaf of all rows; CatBoost the
// mean |g|). With lambda = 0 a row of small gradient would, when drawn, bring a huge hessian.
//
// mu is found by counting, not by sorting: scores of one row are floats, whose upper bits part them
// into buckets of one exponent. In such a bucket the sum of scores is a sum of integers, so that it
// is exact on any number of threads; the bucket that holds mu is then looked at value by value.
#pragma once

#include <span>
#include <vector>

#include "committee/base/parallel.hpp"
#include "committee/base/types.hpp"

namespace committee {

class GradientDraw {
 public:
  explicit GradientDraw(std::size_t n_rows);

  /// The derivatives of one more output; an empty hessian is one for every row.
  void add(std::span<const float> gradient, std::span<const float> hessian, const Context& context);
  /// Finds mu for all outputs added since the last time: share * n_rows rows are expected.
  void settle(double share, const Context& context);

  double chance(std::size_t row) const {
    const double s = score_[row];
    return s >= mu_ ? (s > 0 ? 1.0 : 0.0) : s / mu_;
  }

  /// Rows drawn by the hash of (seed, number, key), ascending; at least one.
  std::vector<RowId> rows(std::uint64_t seed, std::size_t number,
                          std::span<const std::uint64_t> row_key, const Context& context) const;
  /// The derivatives of drawn rows over their chance; 0 for the others.
  void weigh(std::span<const RowId> rows, std::span<const float> gradient,
             std::span<const float> hessian, std::span<float> to_gradient,
             std::span<float> to_hessian, const Context& context) const;

 private:
  std::size_t n_rows_;
  std::vector<double> square_;  // of the scores, output by output
  std::vector<float> score_;
  double mu_ = 0;
};

/// The mu of scores >= 0 for which the chances min(1, score / mu) add up to `wanted`; 0 where all
/// positive scores are not enough.
double chance_bound(std::span<const float> score, double wanted, const Context& context);

}  // namespace committee
