// The distributions bags are named after.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "bag_data.hpp"
#include "check.hpp"

using namespace committee;
using testing::plan_of, testing::some_keys, testing::sum, testing::weights;

namespace {

double chi_square(const std::vector<double>& seen) {
  const double expected = sum(seen) / static_cast<double>(seen.size());
  double out = 0.0;
  for (const double n : seen) out += (n - expected) * (n - expected) / expected;
  return out;
}

/// Far beyond any chance result for `cells` - 1 degrees of freedom (about 5 standard deviations).
double chi_limit(std::size_t cells) {
  const double freedom = static_cast<double>(cells) - 1.0;
  return freedom + 5.0 * std::sqrt(2.0 * freedom) + 10.0;
}

}  // namespace

TEST(bag_r31_unique_share) {
  for (const auto& [n, want, tolerance] :
       {std::tuple{10, 0.6513, 0.01}, {100, 0.6340, 0.005}, {1000, 0.6323, 0.002}}) {
    const auto rows = static_cast<std::size_t>(n);
    const Bags bags(some_keys(rows), plan_of(Draw::replace, rows));
    double share = 0.0, squares = 0.0;
    const int members = n == 1000 ? 200 : 2000;
    for (int m = 0; m < members; ++m) {
      const std::vector<double> w = weights(bags, static_cast<std::uint64_t>(m));
      const double unique =
          static_cast<double>(std::count_if(w.begin(), w.end(), [](double x) { return x > 0; })) /
          n;
      share += unique / members;
      squares += unique * unique / members;
    }
    CHECK(std::fabs(share - want) < tolerance);
    const double sd = n == 10 ? 0.0996 : n == 100 ? 0.0312 : 0.0099;
    CHECK(std::fabs(std::sqrt(squares - share * share) / sd - 1.0) < 0.15);
  }
}

TEST(bag_r32_three_of_five) {
  const Bags bags(some_keys(5), plan_of(Draw::replace, 3));
  const int members = 62500;
  std::map<std::vector<double>, double> seen;
  double distinct = 0.0;
  for (int m = 0; m < members; ++m) {
    const std::vector<double> w = weights(bags, static_cast<std::uint64_t>(m));
    ++seen[w];
    distinct += static_cast<double>(5 - std::count(w.begin(), w.end(), 0.0)) / members;
  }
  CHECK(seen.size() == 35);
  CHECK(std::fabs(distinct - 2.44) < 0.01);
  // A bag of counts c stands for 3! / prod c! of the 125 ordered samples: all equally likely.
  double ordered_total = 0.0, chi = 0.0;
  for (const auto& [w, n] : seen) {
    double ordered = 6.0;
    for (const double c : w) ordered /= std::tgamma(c + 1.0);
    const double expected = members * ordered / 125.0;
    chi += (n - expected) * (n - expected) / expected;
    ordered_total += ordered;
  }
  CHECK(ordered_total == 125.0);
  CHECK(chi < chi_limit(35));
}

TEST(bag_subsets_are_uniform) {
  const Bags bags(some_keys(7), plan_of(Draw::subset, 3));
  std::map<std::vector<double>, double> seen;
  for (std::uint64_t m = 0; m < 35000; ++m) ++seen[weights(bags, m)];
  std::vector<double> counts;
  for (const auto& [w, n] : seen) counts.push_back(n);
  CHECK(counts.size() == 35);
  CHECK(chi_square(counts) < chi_limit(35));
}

TEST(bag_weighted_draws_follow_the_chances) {
  const std::vector<double> chance{1, 2, 0, 5, 0.5, 1e-9, 3.5};
  const double total = sum(chance);
  BagPlan plan = plan_of(Draw::replace, 10);
  plan.weight = chance;
  const Bags bags(some_keys(7), plan);
  std::vector<double> seen(7);
  const int members = 20000;
  for (int m = 0; m < members; ++m) {
    const std::vector<double> w = weights(bags, static_cast<std::uint64_t>(m));
    for (std::size_t r = 0; r < 7; ++r) seen[r] += w[r];
  }
  for (std::size_t r = 0; r < 7; ++r) {
    const double expected = members * 10 * chance[r] / total;
    CHECK(std::fabs(seen[r] - expected) <= 5.0 * std::sqrt(expected) + 1e-3);
  }
  plan.strata = {0, 1, 0, 0, 1, 1, 1};  // within the second stratum: 2, 0.5, 1e-9, 3.5 of 6
  plan.size = 12;
  const Bags strata(some_keys(7), plan);
  double second = 0.0, last = 0.0;
  for (int m = 0; m < members; ++m) {
    const std::vector<double> w = weights(strata, static_cast<std::uint64_t>(m));
    second += w[1] + w[4] + w[5] + w[6];
    last += w[6];
  }
  CHECK(second == 6.0 * members);
  CHECK(std::fabs(last - second * 3.5 / 6) < 5.0 * std::sqrt(second * 3.5 / 6));
  plan.strata.clear();
  // Two of three without replacement: the pair {i, j} has p_i p_j (1 / (1 - p_i) + 1 / (1 - p_j)).
  plan.draw = Draw::subset;
  plan.size = 2;
  plan.weight = {1, 2, 7};
  const Bags pairs(some_keys(3), plan);
  std::array<double, 3> missing{};
  for (int m = 0; m < members; ++m) {
    const std::vector<double> w = weights(pairs, static_cast<std::uint64_t>(m));
    ++missing[static_cast<std::size_t>(std::find(w.begin(), w.end(), 0.0) - w.begin())];
  }
  for (std::size_t r = 0; r < 3; ++r) {
    const double a = plan.weight[(r + 1) % 3] / 10, b = plan.weight[(r + 2) % 3] / 10;
    const double expected = members * a * b * (1 / (1 - a) + 1 / (1 - b));
    CHECK(std::fabs(missing[r] - expected) < 5.0 * std::sqrt(expected));
  }
}

TEST(bag_chances_may_be_of_any_scale) {
  for (const double scale : {5e-324, 1e-300, 1.0, 1e300}) {
    BagPlan plan = plan_of(Draw::replace, 40);
    plan.weight = {scale, 2 * scale, scale, 4 * scale};
    plan.strata = {0, 1, 0, 1};
    BagPlan usual = plan;
    usual.weight = {1, 2, 1, 4};
    for (const Draw draw : {Draw::replace, Draw::subset, Draw::poisson}) {
      plan.draw = usual.draw = draw;
      plan.size = usual.size = draw == Draw::subset ? 3 : 40;
      CHECK(weights(Bags(some_keys(4), plan), 2) == weights(Bags(some_keys(4), usual), 2));
    }
  }
  BagPlan plan = plan_of(Draw::subset, 4);  // the ratio underflows: taken last, but taken
  plan.weight = {1e300, 1e-300, 1e-300, 1e-300};
  plan.strata = {0, 1, 1, 2};
  CHECK(weights(Bags(some_keys(4), plan), 0) == std::vector<double>(4, 1.0));
}

TEST(bag_poisson_counts) {
  const std::size_t n = 20000;
  for (const double rate : {0.05, 1.0, 7.0, 1200.0}) {
    const auto size = static_cast<std::uint64_t>(rate * static_cast<double>(n));
    const std::vector<double> w = weights(Bags(some_keys(n), plan_of(Draw::poisson, size)), 0);
    const double mean = sum(w) / static_cast<double>(n);
    double variance = 0.0;
    for (const double x : w) variance += (x - mean) * (x - mean) / static_cast<double>(n);
    CHECK(std::fabs(mean - rate) < 5.0 * std::sqrt(rate / static_cast<double>(n)));
    CHECK(std::fabs(variance / rate - 1.0) < 0.15);
    const double none = static_cast<double>(std::count(w.begin(), w.end(), 0.0));
    const double expected = static_cast<double>(n) * std::exp(-rate);
    CHECK(std::fabs(none - expected) <= 5.0 * std::sqrt(expected) + 1e-9);
  }
  BagPlan plan = plan_of(Draw::poisson, 30000);
  for (std::size_t i = 0; i < n; ++i) plan.weight.push_back(i % 2 == 0 ? 1.0 : 2.0);
  const std::vector<double> w = weights(Bags(some_keys(n), plan), 0);
  double even = 0.0, odd = 0.0;
  for (std::size_t i = 0; i < n; ++i) (i % 2 == 0 ? even : odd) += w[i];
  CHECK(std::fabs(even - 10000) < 500);
  CHECK(std::fabs(odd - 20000) < 700);
}

TEST(bag_exponential_weights) {
  const std::size_t n = 100000;
  const std::vector<double> w = weights(Bags(some_keys(n), plan_of(Draw::exponential, 0)), 0);
  double above = 0.0, squares = 0.0;
  for (const double x : w) {
    above += x > 2.0 ? 1.0 / static_cast<double>(n) : 0.0;
    squares += x * x / static_cast<double>(n);
  }
  CHECK(*std::min_element(w.begin(), w.end()) > 0.0);
  CHECK(std::fabs(sum(w) / static_cast<double>(n) - 1.0) < 0.015);
  CHECK(std::fabs(squares - 2.0) < 0.07);
  CHECK(std::fabs(above - std::exp(-2.0)) < 0.006);
  BagPlan plan = plan_of(Draw::exponential, 0);
  plan.weight.assign(n, 3.0);
  const std::vector<double> heavy = weights(Bags(some_keys(n), plan), 0);
  for (std::size_t i = 0; i < n; i += 999) CHECK(heavy[i] == 3.0 * w[i]);
}
