// LambdaMART, RankNet and NDCG, against loops over all pairs.
#include <algorithm>
#include <cmath>
#include <random>

#include "check.hpp"
#include "committee/boosting/ranking.hpp"

using namespace committee;

namespace {

using Doubles = std::vector<double>;

struct Both {
  Doubles gradient, hessian;
  bool operator==(const Both&) const = default;
};

struct Task {
  Doubles score, relevance;
  std::vector<std::int64_t> begin;
  Queries queries() const { return {relevance, begin}; }
};

Context threads(int n) {
  Context context;
  context.n_threads = n;
  return context;
}

Both lambdas(const Task& task, const LambdaParams& params, int n_threads = 1) {
  Both out{Doubles(task.score.size()), Doubles(task.score.size())};
  lambda_gradients(task.score, task.queries(), params, out.gradient, out.hessian,
                   threads(n_threads));
  return out;
}

Both pairwise(const Task& task, double sigmoid, int n_threads = 1) {
  Both out{Doubles(task.score.size()), Doubles(task.score.size())};
  pairwise_gradients(task.score, task.queries(), sigmoid, out.gradient, out.hessian,
                     threads(n_threads));
  return out;
}

Doubles ndcg_of(const Task& task, const Gains& gains, int n_threads = 1) {
  Doubles out(task.begin.size() - 1);
  ndcg(task.score, task.queries(), gains, out, threads(n_threads));
  return out;
}

/// Groups of 0 to `most` documents; some scores are equal, `width` says how far apart they lie.
Task random_task(std::size_t n_groups, std::size_t most, double width, int seed) {
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  std::normal_distribution<double> normal(0, width);
  Task task;
  task.begin.push_back(0);
  for (std::size_t g = 0; g < n_groups; ++g) {
    const std::size_t n = random() % (most + 1);
    for (std::size_t i = 0; i < n; ++i) {
      const double score = normal(random);
      task.score.push_back(g % 3 == 0 ? std::round(score) : score);
      task.relevance.push_back(static_cast<double>(random() % 5));
    }
    task.begin.push_back(static_cast<std::int64_t>(task.score.size()));
  }
  return task;
}

std::size_t place_of(const Task& task, std::size_t begin, std::size_t end, std::size_t row) {
  std::size_t place = 0;
  for (std::size_t j = begin; j < end; ++j) {
    place += task.score[j] > task.score[row] || (task.score[j] == task.score[row] && j < row);
  }
  return place;
}

/// RankNet, or LambdaMART without normalisation, by definition; the ideal DCG is left out.
Both by_definition(const Task& task, std::size_t k, bool by_ndcg) {
  Both out{Doubles(task.score.size()), Doubles(task.score.size())};
  for (std::size_t g = 0; g + 1 < task.begin.size(); ++g) {
    const auto begin = static_cast<std::size_t>(task.begin[g]);
    const auto end = static_cast<std::size_t>(task.begin[g + 1]);
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t j = begin; j < end; ++j) {
        if (task.relevance[i] <= task.relevance[j]) continue;
        const std::size_t a = place_of(task, begin, end, i), b = place_of(task, begin, end, j);
        if (std::min(a, b) >= k) continue;
        const auto discount = [](std::size_t at) { return 1 / std::log2(2.0 + double(at)); };
        const double gap = std::exp2(task.relevance[i]) - std::exp2(task.relevance[j]);
        const double weight = by_ndcg ? gap * std::abs(discount(a) - discount(b)) : 1.0;
        const double x = task.score[i] - task.score[j];
        const double p = 1 / (1 + std::exp(x)), q = 1 / (1 + std::exp(-x));
        out.gradient[i] -= weight * p;
        out.gradient[j] += weight * p;
        out.hessian[i] += weight * p * q;
        out.hessian[j] += weight * p * q;
      }
    }
  }
  return out;
}

double ideal_dcg(const Task& task, std::size_t g, std::size_t k) {
  Doubles gains;
  for (auto i = task.begin[g]; i < task.begin[g + 1]; ++i) {
    gains.push_back(std::exp2(task.relevance[static_cast<std::size_t>(i)]) - 1);
  }
  std::sort(gains.rbegin(), gains.rend());
  double sum = 0;
  for (std::size_t i = 0; i < std::min(k, gains.size()); ++i) {
    sum += gains[i] / std::log2(2.0 + double(i));
  }
  return sum;
}

bool near(const Doubles& a, const Doubles& b) {
  bool ok = a.size() == b.size();
  for (std::size_t i = 0; ok && i < a.size(); ++i) {
    ok = std::abs(a[i] - b[i]) <= 1e-11 * (1 + std::abs(b[i]));
  }
  return ok;
}

}  // namespace

TEST(pairwise_is_the_sum_over_pairs) {
  for (const double width : {1.0, 300.0}) {  // the second leaves the range of powers
    const Task task = random_task(40, 30, width, 1);
    const Both got = pairwise(task, 1.0), exact = by_definition(task, task.score.size(), false);
    CHECK(near(got.gradient, exact.gradient) && near(got.hessian, exact.hessian));
  }
}

TEST(lambdas_are_the_sum_over_pairs) {
  for (const std::size_t k : {1u, 5u, 1000u}) {
    for (const double width : {1.0, 300.0}) {
      const Task task = random_task(40, 30, width, 2);
      LambdaParams params;
      params.gains.k = k;
      params.normalize = false;
      Both got = lambdas(task, params);
      for (std::size_t g = 0; g + 1 < task.begin.size(); ++g) {
        const double ideal = ideal_dcg(task, g, k);
        for (auto i = task.begin[g]; i < task.begin[g + 1]; ++i) {
          got.gradient[static_cast<std::size_t>(i)] *= ideal;
          got.hessian[static_cast<std::size_t>(i)] *= ideal;
        }
      }
      const Both exact = by_definition(task, k, true);
      CHECK(near(got.gradient, exact.gradient) && near(got.hessian, exact.hessian));
    }
  }
}

TEST(ranking_is_the_same_on_any_number_of_threads) {
  const Task task = random_task(500, 60, 2, 3);
  LambdaParams params;
  params.gains.k = 10;
  const Both one = lambdas(task, params), pairs = pairwise(task, 1.0);
  const Doubles measure = ndcg_of(task, params.gains);
  for (const int n : {2, 5}) {
    CHECK(lambdas(task, params, n) == one && pairwise(task, 1.0, n) == pairs);
    CHECK(ndcg_of(task, params.gains, n) == measure);
  }
}

TEST(many_levels_of_relevance) {
  Task task = random_task(1, 0, 1, 4);
  for (int i = 0; i < 300; ++i) {
    task.score.push_back(std::sin(i));
    task.relevance.push_back((i * 7919 % 300) / 32.0);
  }
  task.begin.back() = 300;
  const Both got = pairwise(task, 1.0), exact = by_definition(task, 300, false);
  CHECK(near(got.gradient, exact.gradient) && near(got.hessian, exact.hessian));
}

TEST(scores_may_be_as_far_apart_as_numbers_go) {
  const Task task{{1e308, -1e308, 0, 1e-308}, {0, 2, 1, 3}, {0, 4}};
  for (const bool normalize : {false, true}) {
    LambdaParams params;
    params.normalize = normalize;
    const Both got = lambdas(task, params);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(std::isfinite(got.gradient[i]) && got.hessian[i] >= 0);
    }
  }
}

TEST(gains_may_be_tiny_or_huge) {
  LambdaParams params;
  params.gains.linear = true;
  for (const double unit : {1e-320, 1e-300, 1e-150, 1e149}) {
    const Both got = lambdas({{1, 2, 0}, {2 * unit, unit, 0}, {0, 3}}, params);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(std::isfinite(got.gradient[i]) && std::isfinite(got.hessian[i]));
    }
    if (unit > 1e-301) CHECK(got.gradient[0] < -0.1);
  }
}

TEST(ndcg_by_hand) {
  const Task task{{3, 2, 1, 1, 2, 0, 0}, {0, 1, 2, 0, 0, 0, 1}, {0, 3, 5, 5, 7}};
  const double ideal = 3 + 1 / std::log2(3.0);
  const Doubles all = ndcg_of(task, {});
  CHECK(std::abs(all[0] - (1 / std::log2(3.0) + 1.5) / ideal) < 1e-15);
  CHECK(all[1] == 1 && all[2] == 1);                     // nothing relevant, nothing at all
  CHECK(std::abs(all[3] - 1 / std::log2(3.0)) < 1e-15);  // equal scores: the first row is first
  Gains one;
  one.k = 1;
  CHECK(ndcg_of(task, one)[0] == 0);
}

TEST(ranking_refuses) {
  const LambdaParams params;
  const double nan = std::nan("");
  CHECK_THROWS(lambdas({{1, 2}, {0, 1}, {0, 1}}, params), std::invalid_argument);
  CHECK_THROWS(lambdas({{1, 2}, {0, 1}, {1, 2}}, params), std::invalid_argument);
  CHECK_THROWS(lambdas({{1, 2}, {0, 1}, {0, 3, 2}}, params), std::invalid_argument);
  CHECK_THROWS(lambdas({{1, 2}, {0, 1}, {}}, params), std::invalid_argument);
  CHECK_THROWS(lambdas({{1, 2}, {0}, {0, 2}}, params), std::invalid_argument);
  CHECK_THROWS(lambdas({{1, nan}, {0, 1}, {0, 2}}, params), std::invalid_argument);
  CHECK_THROWS(lambdas({{1, 2}, {0, -1}, {0, 2}}, params), std::invalid_argument);
  CHECK_THROWS(lambdas({{1, 2}, {0, 32}, {0, 2}}, params), std::invalid_argument);
  LambdaParams linear;
  linear.gains.linear = true;
  CHECK_THROWS(lambdas({{1, 2}, {0, 1e151}, {0, 2}}, linear), std::invalid_argument);
  CHECK_THROWS(pairwise({{1, 2}, {0, 1}, {0, 2}}, 0.0), std::invalid_argument);
  CHECK_THROWS(pairwise({{1, 2}, {0, nan}, {0, 2}}, 1.0), std::invalid_argument);
  CHECK_THROWS(ndcg_of({{1, 2}, {0, 1}, {0, 2}}, Gains{0, false}), std::invalid_argument);
}
