// Weights as logarithms made a distribution, against plain loops.
#include <cmath>
#include <limits>
#include <random>

#include "check.hpp"
#include "committee/sums/distribution.hpp"

using namespace committee;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> run(const std::vector<double>& x, int n_threads = 1) {
  std::vector<double> out(x.size());
  Context context;
  context.n_threads = n_threads;
  distribution(x, out, context);
  return out;
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-14 * std::abs(b); }

}  // namespace

TEST(distribution_by_hand) {
  const std::vector<double> out = run({std::log(1.0), std::log(3.0), -kInfinity});
  CHECK(near(out[0], 0.25) && near(out[1], 0.75) && out[2] == 0);
}

TEST(distribution_far_from_zero) {
  const std::vector<double> out = run({-1e6, -1e6 + 1, -2e6});
  CHECK(near(out[0], 1 / (1 + std::exp(1.0))) && out[2] == 0);
}

TEST(distribution_is_the_same_on_any_number_of_threads) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(0, 5);
  for (const std::size_t n : {1u, 7u, 8u, 9u, 16384u, 16385u, 100001u}) {
    std::vector<double> x(n);
    for (double& value : x) value = normal(random);
    const std::vector<double> one = run(x, 1);
    CHECK(run(x, 2) == one && run(x, 7) == one);
    long double total = 0;
    for (const double value : x) total += std::exp(static_cast<long double>(value));
    bool close = true;
    for (std::size_t i = 0; i < n; ++i) {
      const auto exact = static_cast<double>(std::exp(static_cast<long double>(x[i])) / total);
      close = close && near(one[i], exact);
    }
    CHECK(close);
  }
}

TEST(distribution_refuses) {
  CHECK_THROWS(run({}), std::invalid_argument);
  CHECK_THROWS(run({0.0, std::nan("")}), std::invalid_argument);
  CHECK_THROWS(run({0.0, kInfinity}), std::invalid_argument);
  CHECK_THROWS(run({-kInfinity, -kInfinity}), std::invalid_argument);
}
