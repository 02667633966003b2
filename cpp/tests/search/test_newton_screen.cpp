// A cut that exceeds the bar is never ruled out, however numbers round; most others are.
#include <cmath>
#include <vector>

#include "check.hpp"
#include "committee/base/random.hpp"
#include "search/newton_screen.hpp"

using namespace committee;

namespace {

/// A node of rows in the order of a feature: sums left of the cut behind each.
struct Node {
  unsigned shift;
  double l2;
  std::vector<std::int64_t> left;
  std::int64_t total = 0;

  std::int64_t gradient(std::int64_t word) const { return word >> shift; }
  std::int64_t hessian(std::int64_t word) const { return word & ((std::int64_t{1} << shift) - 1); }
  pair::NewtonSides sides() const {
    return {static_cast<double>(gradient(total)), static_cast<double>(hessian(total)), l2};
  }
};

/// Rows whose sums fill a share of both fields; some hold nearly all that there is.
Node draw(std::uint64_t seed) {
  Node node;
  node.shift = seed % 3 == 0 ? 32 : 8 + static_cast<unsigned>(seed % 29);  // a few do not fit
  const std::size_t n = 2 + mix(seed, 1) % (seed % 7 == 0 ? 20000 : 300);
  const double most_g = std::ldexp(1.0, 61 - static_cast<int>(node.shift)),
               most_h = std::ldexp(1.0, static_cast<int>(node.shift)) - 1;
  const auto unit = [&](std::uint64_t k, std::uint64_t use) {
    return static_cast<double>(mix(mix(seed, k), use) >> 11) * 0x1p-53;
  };
  const double share = std::pow(10, -6 * unit(n, 1)), heavy = unit(n, 2) < 0.3 ? 0.9 : 0.0;
  std::vector<double> g(n), h(n);
  double sum_g = 0, sum_h = 0;
  for (std::size_t i = 0; i < n; ++i) {
    g[i] = unit(i, 3) - 0.5 + 0.2 * (unit(n, 4) - 0.5);
    h[i] = unit(i, 5) + 1e-3;
    if (i == n / 3) g[i] *= 1 + heavy * static_cast<double>(n), h[i] *= 1 + heavy * 1e3;
    sum_g += std::abs(g[i]), sum_h += h[i];
  }
  for (std::size_t i = 0; i < n; ++i) {
    const auto a = static_cast<std::int64_t>(std::floor(g[i] / sum_g * most_g * share));
    const auto b = static_cast<std::int64_t>(std::floor(h[i] / sum_h * most_h * share));
    node.total += a * (std::int64_t{1} << node.shift) + b;
    node.left.push_back(node.total);
  }
  const double l2[] = {0, 1e-3, 1, 1e6, 1e12};
  node.l2 = l2[mix(seed, 6) % 5] * static_cast<double>(node.hessian(node.total)) * 1e-3;
  return node;
}

/// Whether the screen lets a cut pass, beside cuts with half of all on both sides, which gain
/// nothing.
template <class V>
bool passes(const NewtonScreen& screen, std::uint64_t word, std::size_t lane) {
  typename V::Words a{}, b{};
  (lane < V::kLanes ? a : b)[lane % V::kLanes] = word - screen.half();
  return V::negative(screen.signs<V>(a, b));
}

/// What varies of a cut's gain, in extended precision, and whether both sides have rows.
long double varying(const Node& node, std::int64_t word) {
  const pair::NewtonSides sides = node.sides();
  const long double h = node.hessian(word) - static_cast<long double>(sides.half_hessian);
  const long double g = node.gradient(word) - static_cast<long double>(sides.half_gradient);
  const long double apart = g - sides.mean * h;
  return apart * apart / ((sides.middle + h) * (sides.middle - h));
}

template <class V>
void check_screen(const Node& node, std::size_t& n_passed, std::size_t& n_cuts) {
  const pair::NewtonSides sides = node.sides();
  if (!(sides.half_hessian >= 1)) return;
  const double reach = sides.half_hessian - 1;
  std::vector<std::int64_t> cuts;
  long double top = 0;
  for (const std::int64_t word : node.left) {
    if (std::abs(static_cast<double>(node.hessian(word)) - sides.half_hessian) > reach) continue;
    cuts.push_back(word);
    top = std::max(top, varying(node, word));
  }
  NewtonScreen screen(sides, node.shift, reach);
  const bool fits = node.shift <= 32;
  for (std::size_t i = 0; i < cuts.size(); i += 1 + cuts.size() / 40) {
    const auto word = static_cast<std::uint64_t>(cuts[i]);
    const auto bar = static_cast<double>(varying(node, cuts[i])) * (1 - 0x1p-40);
    screen.raise(bar);
    CHECK(passes<V>(screen, word, i % (2 * V::kLanes)));  // its own bar, and lower ones
    screen.raise(bar / 2);
    CHECK(passes<V>(screen, word, 0));
    screen.raise(0);
    CHECK(passes<V>(screen, word, 1));
    screen.raise(static_cast<double>(top) * 1.01);
    n_passed += fits && passes<V>(screen, word, 2) ? 1 : 0;
    n_cuts += fits ? 1 : 0;
    screen.raise(std::numeric_limits<double>::infinity());
    CHECK(passes<V>(screen, word, 3) != fits);
  }
}

}  // namespace

TEST(newton_screen_rules_out_no_cut_above_the_bar) {
  std::size_t n_passed = 0, n_cuts = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    const Node node = draw(seed);
    check_screen<FewLanes>(node, n_passed, n_cuts);
    check_screen<WideLanes>(node, n_passed, n_cuts);
  }
  CHECK(n_cuts > 20000);
  CHECK(n_passed < n_cuts / 50);  // all are below that bar, which sums of few units cannot tell
}
