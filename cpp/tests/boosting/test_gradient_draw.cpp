// Minimal variance sampling against sorting, the ledger of leaves, and rounds of several trees.
#include <numeric>

#include "check.hpp"
#include "committee/boosting/boost.hpp"
#include "committee/boosting/gradient_draw.hpp"
#include "committee/boosting/leaf_ledger.hpp"
#include "growth_data.hpp"

using namespace growth_test;

namespace {

/// Sorted from the largest: with j chances of one, mu shares out what is left of the wanted number.
double bound_by_sorting(std::vector<float> score, double wanted) {
  std::sort(score.begin(), score.end());
  std::vector<double> sum(score.begin(), score.end());  // nothing is ever subtracted
  std::partial_sum(sum.begin(), sum.end(), sum.begin());
  for (std::size_t j = 0; static_cast<double>(j) < wanted; ++j) {
    const std::size_t next = score.size() - 1 - j;
    const double mu = sum[next] / (wanted - static_cast<double>(j));
    if (static_cast<double>(score[next]) <= mu) return mu;
  }
  return 0;
}

double expected(std::span<const float> score, double mu) {
  double sum = 0;
  for (const float s : score) sum += s >= mu ? (s > 0 ? 1.0 : 0.0) : s / mu;
  return sum;
}

std::vector<float> scores_of(int kind, std::size_t n) {
  std::vector<float> score(n);
  for (std::size_t r = 0; r < n; ++r) {
    const auto x = static_cast<float>(std::abs(noise(kind, r)));
    score[r] = kind == 0   ? x
               : kind == 1 ? 1.0F                                       // all tied
               : kind == 2 ? std::pow(x, -3.0F)                         // heavy tails
               : kind == 3 ? (r % 3 == 0 ? 0.5F : 0.25F)                // two values
               : kind == 4 ? (r % 2 == 0 ? 0.0F : x)                    // zeros
               : kind == 5 ? x * 1e-44F                                 // denormal
                           : 1.0F + 1e-6F * static_cast<float>(r % 7);  // in one bucket
  }
  return score;
}

}  // namespace

TEST(chance_bound_is_that_of_sorting) {
  for (int kind = 0; kind < 7; ++kind) {
    for (const std::size_t n : {1u, 7u, 1000u, 40000u}) {
      const std::vector<float> score = scores_of(kind, n);
      for (const double share : {0.001, 0.1, 0.3, 0.45, 0.9}) {
        const double wanted = share * static_cast<double>(n);
        const double mu = chance_bound(score, wanted, Context{1});
        CHECK(mu == chance_bound(score, wanted, Context{3}));
        const auto positive = static_cast<double>(
            std::count_if(score.begin(), score.end(), [](float s) { return s > 0; }));
        if (positive <= wanted) {
          CHECK(expected(score, mu) == positive);
          continue;
        }
        CHECK(close(mu, bound_by_sorting(score, wanted), 1e-9));
        CHECK(close(expected(score, mu), wanted, 1e-9));
      }
    }
  }
}

TEST(chance_bound_by_hand) {
  // Two of four: 8 is surely drawn, mu = (1 + 1 + 2) / 1 leaves 1/4, 1/4, 1/2 to the others.
  const std::vector<float> score{1, 8, 1, 2};
  CHECK(chance_bound(score, 2, Context{}) == 4);
  CHECK(chance_bound(score, 1, Context{}) == 12);
  CHECK(chance_bound(std::vector<float>{0, 0, 3}, 2, Context{}) == 0);
}

TEST(gradient_draw_weighs_by_chance) {
  const std::size_t n = 50000;
  std::vector<float> g(n), h(n);
  std::vector<std::uint64_t> key(n);
  for (std::size_t r = 0; r < n; ++r) {
    g[r] = static_cast<float>(noise(1, r));
    h[r] = std::abs(static_cast<float>(noise(2, r))) + 0.1F;
    key[r] = mix(r);
  }
  GradientDraw draw(n);
  draw.add(g, h, Context{2});
  draw.settle(0.2, Context{2});
  GradientDraw again(n);
  again.add(g, h, Context{1});
  again.settle(0.2, Context{1});
  for (std::size_t r = 0; r < n; ++r) CHECK(draw.chance(r) == again.chance(r));
  const auto rows = draw.rows(3, 7, key, Context{2});
  CHECK(rows == draw.rows(3, 7, key, Context{1}) && rows != draw.rows(3, 8, key, Context{1}));
  // The number drawn is a sum of independent draws: four deviations of it.
  CHECK(std::abs(static_cast<double>(rows.size()) - 0.2 * n) < 4 * std::sqrt(0.2 * n));
  std::vector<float> to_g(n), to_h(n);
  draw.weigh(rows, g, h, to_g, to_h, Context{2});
  std::size_t next = 0;
  double sum = 0, all = 0, variance = 0;
  for (std::size_t r = 0; r < n; ++r) {
    const bool drawn = next < rows.size() && rows[next] == r;
    next += drawn ? 1 : 0;
    const double p = draw.chance(r);
    CHECK(drawn ? close(to_g[r] * p, g[r], 1e-6) && close(to_h[r] * p, h[r], 1e-6)
                : to_g[r] == 0 && to_h[r] == 0);
    sum += to_h[r];
    all += h[r];
    variance += h[r] * h[r] * (1 - p) / p;
  }
  CHECK(std::abs(sum - all) < 4 * std::sqrt(variance));
  // Nothing to tell rows by: one is drawn all the same, and counts as it is.
  std::fill(g.begin(), g.end(), 0.0F);
  draw.add(g, {}, Context{2});
  draw.settle(0.2, Context{2});
  const auto one = draw.rows(3, 7, key, Context{2});
  draw.weigh(one, g, {}, to_g, to_h, Context{2});
  CHECK(one.size() == 1 && to_h[one[0]] == 1);
}

TEST(leaf_ledger_sums_in_order) {
  const std::size_t n = 9000;
  LeafLedger ledger(n);
  std::vector<double> expected_sum(n, 0.5), weight;
  for (const std::size_t nodes : {3u, 256u, 257u, 65536u, 65537u}) {
    std::vector<std::uint32_t> leaf(n);
    std::vector<double> value(nodes);
    for (std::size_t i = 0; i < nodes; ++i) value[i] = noise(nodes, i);
    for (std::size_t r = 0; r < n; ++r)
      leaf[r] = static_cast<std::uint32_t>(r == 0 ? nodes - 1 : mix(r) % nodes);
    ledger.add(leaf, value);
    weight.push_back(nodes == 257 ? 0.0 : 0.1 * static_cast<double>(nodes));
    for (std::size_t r = 0; r < n; ++r) expected_sum[r] += weight.back() * value[leaf[r]];
  }
  std::vector<double> one(n, 0.5), three(n, 0.5);
  ledger.sum(weight, one, Context{1});
  ledger.sum(weight, three, Context{3});
  CHECK(same_bits(one, expected_sum) && same_bits(one, three));
  CHECK_THROWS(ledger.add(std::vector<std::uint32_t>(n, 2), std::vector<double>(2)),
               std::invalid_argument);
}

TEST(boost_of_drawn_rows_and_several_trees_is_the_same_in_pieces_and_on_threads) {
  const std::size_t n = 4000;
  Data data({.n_rows = n, .n_features = 5, .missing = 0.1, .n_categorical = 1});
  std::vector<double> y = make_y(data.table, 3);
  std::vector<std::uint64_t> keys(n);
  for (std::size_t r = 0; r < n; ++r) {
    y[r] = y[r] > 0.4 ? 2 : y[r] > 0 ? 1 : 0;
    keys[r] = mix(r + 17);
  }
  TreeParams params;
  params.criterion = Criterion::newton;
  params.growth = Growth::best_first;
  params.max_leaves = 12;
  params.min_gain = 0;
  BoostTask task{data.matrix, data.mapper, {LossKind::multinomial, 0}, y, {}, keys, 3, params,
                 0.3,         0.4};
  task.gradient_based = true;
  task.n_parallel = 3;
  std::vector<double> whole(3 * n, 0.0), pieces(3 * n, 0.0);
  const auto all = boost(task, 0, 6, whole, Context{1});
  boost(task, 0, 2, pieces, Context{3});
  const auto rest = boost(task, 2, 4, pieces, Context{2});
  CHECK(same_bits(whole, pieces));
  for (std::size_t output = 0; output < 3; ++output) {
    CHECK(all[output].n_trees() == 18);
    CHECK(same_bits(all[output].slice(6, 18).arrays().nodes, rest[output].arrays().nodes));
    // Scores are what the trees predict, each for a third of the rate.
    std::vector<double> out(n);
    predict(all[output], data.dense.input, std::vector<double>(18, 0.3 / 3), {}, out, Context{2});
    CHECK(same_bits(out, std::vector<double>(whole.begin() + static_cast<long>(output * n),
                                             whole.begin() + static_cast<long>((output + 1) * n))));
  }
}
