#include "committee/boosting/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "boosting/ranked_group.hpp"
#include "committee/base/clones.hpp"

namespace committee {
namespace {

constexpr std::size_t kLanes = 8;        // sums side by side, in any instruction set
constexpr std::size_t kPollEvery = 256;  // documents between two looks for an interruption
constexpr double kLeastDistance = 0.01;  // LightGBM's

enum class Weighing { none, ndcg, ndcg_by_distance };

/// One document and those it is to beat: `n` of them, from `low` on.
struct Rivals {
  double score, power, gain, discount;
  const double *low_score, *low_power, *low_gain, *low_discount;
  double *low_first, *low_second;
  std::size_t n;
};

Rivals rivals_of(const Documents& highs, std::size_t high, Documents& lows, std::size_t begin) {
  return {highs.score[high],         highs.power[high],
          highs.gain[high],          highs.discount[high],
          lows.score.data() + begin, lows.power.data() + begin,
          lows.gain.data() + begin,  lows.discount.data() + begin,
          lows.first.data() + begin, lows.second.data() + begin,
          lows.size() - begin};
}

struct Sums {
  double first = 0, second = 0;
};

COMMITTEE_CLONES
double sum_of(const double* x, std::size_t n) {
  double sums[kLanes] = {};
  const std::size_t whole = n - n % kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) sums[k] += x[i + k];
  }
  for (std::size_t i = whole; i < n; ++i) sums[i - whole] += x[i];
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

/// p = chance of the wrong order and p (1 - p), from powers: no exponential per pair.
COMMITTEE_CLONES
void write_chances(const Rivals& r, double* p, double* spread) {
  const double power = r.power;
  const double* low = r.low_power;
  for (std::size_t i = 0; i < r.n; ++i) {
    const double inverse = 1.0 / (power + low[i]);
    const double chance = low[i] * inverse;
    p[i] = chance;
    spread[i] = chance * (power * inverse);
  }
}

/// The same for scores so far apart that powers would leave the range of numbers.
COMMITTEE_CLONES
void write_far_chances(const Rivals& r, double sigmoid, double* p, double* spread) {
  for (std::size_t i = 0; i < r.n; ++i) {
    const double x = sigmoid * (r.score - r.low_score[i]);
    const double q = det_exp(-std::abs(x));
    const double inverse = 1.0 / (1.0 + q);
    p[i] = det_detail::select(x > 0.0, q, 1.0) * inverse;
    spread[i] = q * inverse * inverse;
  }
}

/// Times |delta NDCG|, but for the ideal DCG, which is the same for all pairs of the group.
COMMITTEE_CLONES
void weigh(const Rivals& r, double* p, double* spread) {
  const double *gain = r.low_gain, *discount = r.low_discount;
  for (std::size_t i = 0; i < r.n; ++i) {
    const double weight = std::abs(r.gain - gain[i]) * std::abs(r.discount - discount[i]);
    p[i] *= weight;
    spread[i] *= weight;
  }
}

COMMITTEE_CLONES
void weigh_by_distance(const Rivals& r, double* p, double* spread) {
  const double *gain = r.low_gain, *discount = r.low_discount, *score = r.low_score;
  for (std::size_t i = 0; i < r.n; ++i) {
    const double change = std::abs(r.gain - gain[i]) * std::abs(r.discount - discount[i]);
    const double weight = change / (kLeastDistance + std::abs(r.score - score[i]));
    p[i] *= weight;
    spread[i] *= weight;
  }
}

COMMITTEE_CLONES
void add(double* to, const double* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) to[i] += x[i];
}

/// Adds the pairs of one document to its rivals' sums, and returns its own.
Sums add_pairs(const Rivals& r, bool narrow, double sigmoid, Weighing weighing, double* p,
               double* spread) {
  if (narrow) {
    write_chances(r, p, spread);
  } else {
    write_far_chances(r, sigmoid, p, spread);
  }
  if (weighing == Weighing::ndcg) weigh(r, p, spread);
  if (weighing == Weighing::ndcg_by_distance) weigh_by_distance(r, p, spread);
  add(r.low_first, p, r.n);
  add(r.low_second, spread, r.n);
  return {sum_of(p, r.n), sum_of(spread, r.n)};
}

/// Calls one_high(rivals) for each document of the group that has any, and adds the Sums it returns
/// to the document, the first with `sign`. Returns the total of the first sums.
template <class F>
double over_pairs(GroupLayout& group, double sign, const Context& context, F one_high) {
  Documents& all = group.all;
  double total = 0;
  for (std::size_t high = 0; high < all.size(); ++high) {
    if (high % kPollEvery == 0) check_interrupt(context);
    const bool with_all = !group.truncated() || group.is_top(all.row[high]);
    Documents& lows = with_all ? all : group.top;
    const std::size_t begin = lows.level_end[all.level[high]];
    if (begin == lows.size()) continue;
    const Sums own = one_high(rivals_of(all, high, lows, begin));
    all.first[high] += sign * own.first;
    all.second[high] += own.second;
    total += own.first;
  }
  return total;
}

/// Writes the sums of the documents to their rows.
void write_out(const Documents& documents, double scale, double square, double* gradient,
               double* hessian) {
  for (std::size_t i = 0; i < documents.size(); ++i) {
    gradient[documents.row[i]] += scale * documents.first[i];
    hessian[documents.row[i]] += square * documents.second[i];
  }
}

void group_gradients(GroupLayout& group, const LambdaParams& params, bool by_ndcg,
                     const Context& context, double* gradient, double* hessian) {
  Weighing weighing = by_ndcg ? Weighing::ndcg : Weighing::none;
  if (by_ndcg && params.normalize && !group.all_equal()) weighing = Weighing::ndcg_by_distance;
  const double lambdas = over_pairs(group, -1.0, context, [&](const Rivals& r) {
    return add_pairs(r, group.narrow(), params.sigmoid, weighing, group.pair_first.data(),
                     group.pair_second.data());
  });
  const double ideal = by_ndcg ? group.ideal_dcg() : 1.0;
  // Below that the quotient of two gains is no number to rely on, or infinite.
  if (!(lambdas > 0 && ideal >= std::numeric_limits<double>::min())) return;
  double scale = params.sigmoid / ideal;
  if (by_ndcg && params.normalize) {
    const double sum = 2 * scale * lambdas;
    if (sum > 0) scale *= det_log1p(sum) / det_log(2.0) / sum;
  }
  write_out(group.all, scale, scale * params.sigmoid, gradient, hessian);
  if (group.truncated()) write_out(group.top, scale, scale * params.sigmoid, gradient, hessian);
}

void check_sigmoid(double sigmoid) {
  if (!(sigmoid > 0 && std::isfinite(sigmoid))) {
    throw std::invalid_argument("sigmoid must be a number above 0");
  }
}

void check_lengths(std::span<const double> score, std::span<const double> out) {
  if (score.size() != out.size()) throw std::invalid_argument("results differ in length");
}

/// One GroupLayout a thread, and body(layout, first row, rows) for each group with two documents.
template <class F>
void over_groups(std::span<const double> score, const Queries& queries, const Gains& gains,
                 double sigmoid, const Context& context, F body) {
  check_sigmoid(sigmoid);
  const std::vector<double> discount = discounts(queries.begin);
  std::vector<GroupLayout> layouts(static_cast<std::size_t>(std::max(context.n_threads, 1)),
                                   GroupLayout(gains, sigmoid, discount));
  for_groups(queries.begin, context, [&](std::size_t g, int slot) {
    const auto first = static_cast<std::size_t>(queries.begin[g]);
    const auto n = static_cast<std::size_t>(queries.begin[g + 1]) - first;
    if (n < 2) return;
    GroupLayout& layout = layouts[static_cast<std::size_t>(slot)];
    layout.arrange(score.subspan(first, n), queries.relevance.subspan(first, n));
    body(layout, first);
  });
}

void gradients(std::span<const double> score, const Queries& queries, const LambdaParams& params,
               bool by_ndcg, std::span<double> gradient, std::span<double> hessian,
               const Context& context) {
  check_lengths(score, gradient);
  check_lengths(score, hessian);
  std::fill(gradient.begin(), gradient.end(), 0.0);
  std::fill(hessian.begin(), hessian.end(), 0.0);
  const auto body = [&](GroupLayout& layout, std::size_t first) {
    group_gradients(layout, params, by_ndcg, context, gradient.data() + first,
                    hessian.data() + first);
  };
  over_groups(score, queries, params.gains, params.sigmoid, context, body);
}

COMMITTEE_CLONES
void write_losses(const Rivals& r, double sigmoid, double* loss) {
  for (std::size_t i = 0; i < r.n; ++i) {
    const double x = sigmoid * (r.score - r.low_score[i]);
    const double wrong = det_detail::select(x < 0.0, -x, 0.0);
    loss[i] = wrong + det_log1p(det_exp(-std::abs(x)));
  }
}

/// Sorts at least the first `n` of `items`; a heap is worth its while for few only.
template <class T, class Less>
void sort_first(std::vector<T>& items, std::ptrdiff_t n, Less less) {
  if (static_cast<std::size_t>(n) < items.size() / 4) {
    std::partial_sort(items.begin(), items.begin() + n, items.end(), less);
  } else {
    std::sort(items.begin(), items.end(), less);
  }
}

/// NDCG of one group after another; buffers are kept.
class NdcgOf {
 public:
  double operator()(std::span<const double> score, std::span<const double> relevance,
                    const Gains& gains, const std::vector<double>& discount) {
    const std::size_t n = score.size();
    const auto seen = static_cast<std::ptrdiff_t>(std::min(n, gains.k));
    placed_.resize(n);
    gain_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      placed_[i] = {score[i], static_cast<std::uint32_t>(i)};
      gain_[i] = gain_of(relevance[i], gains.linear);
    }
    sort_first(placed_, seen, std::less<>());
    double reached = 0, ideal = 0;
    for (std::ptrdiff_t i = 0; i < seen; ++i) reached += gain_[placed_[i].row] * discount[i];
    sort_first(gain_, seen, std::greater<>());
    for (std::ptrdiff_t i = 0; i < seen; ++i) ideal += gain_[i] * discount[i];
    return ideal > 0 ? reached / ideal : 1.0;
  }

 private:
  std::vector<Placed> placed_;
  std::vector<double> gain_;
};

}  // namespace

void lambda_gradients(std::span<const double> score, const Queries& queries,
                      const LambdaParams& params, std::span<double> gradient,
                      std::span<double> hessian, const Context& context) {
  check_queries(score, queries);
  check_relevance(queries.relevance, params.gains);
  gradients(score, queries, params, true, gradient, hessian, context);
}

void pairwise_gradients(std::span<const double> score, const Queries& queries, double sigmoid,
                        std::span<double> gradient, std::span<double> hessian,
                        const Context& context) {
  check_queries(score, queries);
  LambdaParams params;
  params.gains.linear = true;  // not used, and defined for every relevance
  params.sigmoid = sigmoid;
  gradients(score, queries, params, false, gradient, hessian, context);
}

void pairwise_values(std::span<const double> score, const Queries& queries, double sigmoid,
                     std::span<double> value, const Context& context) {
  check_queries(score, queries);
  check_lengths(score, value);
  std::fill(value.begin(), value.end(), 0.0);
  Gains any;
  any.linear = true;
  over_groups(score, queries, any, sigmoid, context, [&](GroupLayout& layout, std::size_t first) {
    double* loss = layout.pair_first.data();
    over_pairs(layout, 1.0, context, [&](const Rivals& r) {
      write_losses(r, sigmoid, loss);
      add(r.low_first, loss, r.n);
      return Sums{sum_of(loss, r.n), 0};
    });
    for (std::size_t i = 0; i < layout.all.size(); ++i) {
      value[first + layout.all.row[i]] = 0.5 * layout.all.first[i];
    }
  });
}

void ndcg(std::span<const double> score, const Queries& queries, const Gains& gains,
          std::span<double> out, const Context& context) {
  check_queries(score, queries);
  check_relevance(queries.relevance, gains);
  if (out.size() + 1 != queries.begin.size()) {
    throw std::invalid_argument("results differ in length");
  }
  const std::vector<double> discount = discounts(queries.begin);
  std::vector<NdcgOf> measures(static_cast<std::size_t>(std::max(context.n_threads, 1)));
  for_groups(queries.begin, context, [&](std::size_t g, int slot) {
    const auto first = static_cast<std::size_t>(queries.begin[g]);
    const auto n = static_cast<std::size_t>(queries.begin[g + 1]) - first;
    out[g] = measures[static_cast<std::size_t>(slot)](
        score.subspan(first, n), queries.relevance.subspan(first, n), gains, discount);
  });
}

}  // namespace committee
