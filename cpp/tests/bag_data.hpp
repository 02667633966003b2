// What the tests of bags share: plans, keys, and bags as vectors.
#pragma once

#include <numeric>

#include "committee/growth/bag.hpp"

namespace committee::testing {

inline constexpr Draw kDrawn[] = {Draw::replace, Draw::subset, Draw::poisson, Draw::exponential};

inline std::vector<std::uint64_t> some_keys(std::size_t n) {
  std::vector<std::uint64_t> keys(n);
  for (std::size_t i = 0; i < n; ++i) keys[i] = mix(77, i);
  return keys;
}

inline std::vector<double> weights(const Bags& bags, std::uint64_t member) {
  std::vector<double> weight(bags.n_rows(), -1.0);
  bags.draw(member, weight);
  return weight;
}

inline std::vector<std::uint8_t> bits(const Bags& bags, std::uint64_t member) {
  std::vector<std::uint8_t> out((bags.n_rows() + 7) / 8, 0xaa);
  bags.left_out(member, out);
  return out;
}

inline BagPlan plan_of(Draw draw, std::uint64_t size, std::uint64_t seed = 1) {
  BagPlan plan;
  plan.draw = draw;
  plan.size = size;
  plan.seed = seed;
  return plan;
}

inline double sum(const std::vector<double>& x) { return std::accumulate(x.begin(), x.end(), 0.0); }

}  // namespace committee::testing
