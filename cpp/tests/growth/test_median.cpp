// Absolute error: the best cut against brute force, leaves as weighted medians, robust to outliers.
#include <set>

#include "check.hpp"
#include "split_oracle.hpp"

using namespace growth_test;

namespace {

TreeParams absolute(std::size_t max_depth = 1) {
  TreeParams p;
  p.criterion = Criterion::absolute_error;
  p.max_depth = max_depth;
  return p;
}

ForestArrays grow(const Data& data, const Stats& stats, const TreeParams& params) {
  return grow_tree(data.matrix, data.mapper, stats, params, Context{});
}

/// Half of the weight on either side; the middle of the two where it falls between them.
double weighted_median(const Target& t, const std::vector<std::size_t>& rows) {
  std::vector<std::pair<double, double>> v;
  double total = 0, below = 0;
  for (const std::size_t r : rows) {
    v.emplace_back(t.y[r], t.w(r));
    total += t.w(r);
  }
  std::sort(v.begin(), v.end());
  for (std::size_t i = 0; i < v.size(); ++i) {
    below += v[i].second;
    if (2 * below == total) return v[i].first / 2 + v[i + 1].first / 2;
    if (2 * below > total) return v[i].first;
  }
  return v.back().first;
}

void compare(const Data& data, const Target& target, const TreeParams& params) {
  const Stats stats = target.stats(params.min_rows_leaf > 1);
  const Oracle oracle(data, target, params);
  const OracleSplit best = oracle.best();
  const ForestArrays tree = grow(data, stats, params);
  if (best.quality == -std::numeric_limits<double>::infinity()) {
    CHECK(tree.nodes.size() == 1);
    return;
  }
  CHECK(tree.nodes.size() == 3 && close(tree.gain[0], best.gain, 1e-5));
  CHECK(close(oracle.gain_of(tree), best.gain, 1e-5));
  CHECK(same_tree(tree, grow_tree(data.sparse_matrix, data.mapper, stats, params, Context{2})));
}

void check_leaves(const Data& data, const Target& target, const ForestArrays& tree) {
  const std::vector<std::uint32_t> leaf = leaves_of(tree, data.dense.input);
  std::vector<std::vector<std::size_t>> rows(tree.nodes.size());
  for (std::size_t r = 0; r < leaf.size(); ++r) {
    if (target.w(r) > 0) rows[leaf[r]].push_back(r);
  }
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    if (!is_leaf(tree, i)) continue;
    CHECK(tree.count[i] == rows[i].size());
    CHECK(tree.values[i] == weighted_median(target, rows[i]));
    const double impurity = static_cast<double>(target.absolute(rows[i]) / target.total(rows[i]));
    CHECK(close(tree.impurity[i], impurity, 1e-6));
  }
}

}  // namespace

TEST(median_split_is_the_best_of_all_cuts) {
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    const Data data({.n_rows = 30 + seed,
                     .n_features = 3,
                     .missing = seed % 3 == 0 ? 0.0 : 0.15,
                     .zeros = 0.2,
                     .n_values = seed % 4 == 1 ? 0u : 7u,
                     .seed = seed});
    const Target target =
        make_target(data.table, Criterion::absolute_error, seed, seed % 2 == 1 || seed % 6 == 0);
    compare(data, target, absolute());
    TreeParams params = absolute();
    params.min_rows_leaf = 4 + seed % 7;
    compare(data, target, params);
    params.min_rows_leaf = 1;
    params.min_weight_leaf = 8.013;
    compare(data, target, params);
  }
}

TEST(median_leaves_are_weighted_medians) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Data data(
        {.n_rows = 400, .n_features = 4, .missing = 0.1, .n_categorical = seed % 2, .seed = seed});
    const Target target = make_target(data.table, Criterion::absolute_error, seed, seed % 3 != 0);
    TreeParams params = absolute(6);
    params.min_rows_split = 10;
    const ForestArrays tree = grow(data, target.stats(), params);
    CHECK(count_leaves(tree) > 10);
    check_leaves(data, target, tree);
    params.growth = Growth::best_first;
    params.max_leaves = 9;
    CHECK(count_leaves(grow(data, target.stats(), params)) == 9);
    params.rule = SplitRule::random;
    check_leaves(data, target, grow(data, target.stats(), params));
  }
}

TEST(median_ties) {
  // Cuts 0|1 with the missing row left and 2|3 with it right gain the same: the lower cut wins.
  const Data data({.n_rows = 5, .n_features = 1}, columns({{0, 1, 2, 3, kNaN}}));
  const std::vector<double> y{1, 0, 0, 1, 1};
  const ForestArrays tree = grow(data, Stats::regression(y, 1, {}, true, false), absolute());
  CHECK(tree.nodes[0].threshold == 0.5);
  const std::vector<double> x{0, 1, 2, 3};
  const Data two({.n_rows = 4, .n_features = 2}, columns({x, x}));
  const std::vector<double> z{0, 0, 5, 5};
  const ForestArrays first = grow(two, Stats::regression(z, 1, {}, true, false), absolute());
  CHECK(feature_of(first, 0) == 0 && first.nodes[0].threshold == 1.5);
}

TEST(median_ignores_an_outlier) {
  const Data data({.n_rows = 300, .n_features = 2, .n_values = 10, .seed = 31});
  Target target = make_target(data.table, Criterion::absolute_error, 31, false);
  for (double& v : target.y) v /= 1000;
  target.y[7] = 1e9;
  const TreeParams params = absolute();
  const Oracle oracle(data, target, params);
  const ForestArrays tree = grow(data, target.stats(), params);
  CHECK(tree.nodes.size() == 3);
  CHECK(std::abs(oracle.gain_of(tree) - oracle.best().gain) < 1e-6);
}

TEST(median_random_rule_splits_levels) {
  const Data data({.n_rows = 200, .n_features = 1, .n_categorical = 1, .n_levels = 6, .seed = 32});
  std::vector<double> y(200);
  for (std::size_t r = 0; r < 200; ++r)
    y[r] = 10 - data.table.at(r, 0) + 0.01 * noise(3, r);  // order of means reversed
  const Stats stats = Stats::regression(y, 1, {}, true, false);
  TreeParams params = absolute();
  params.rule = SplitRule::random;
  std::set<std::uint64_t> sides;  // a random cut, so not always the same
  for (params.seed = 0; params.seed < 40; ++params.seed) {
    const ForestArrays tree = grow(data, stats, params);
    CHECK(tree.nodes.size() == 3);
    sides.insert(tree.count[1]);
  }
  CHECK(sides.size() >= 4);
}

TEST(median_random_rule_is_uniform_in_value) {
  const Data data({.n_rows = 6, .n_features = 1}, columns({{0, 1, 100, 0, 1, 100}}));
  const std::vector<double> y{0, 1, 2, 3, 4, 5};
  const Stats stats = Stats::regression(y, 1, {}, true, false);
  TreeParams params = absolute();
  params.rule = SplitRule::random;
  int apart = 0;
  for (params.seed = 0; params.seed < 500; ++params.seed)
    apart += grow(data, stats, params).nodes[0].threshold >= 1;
  CHECK(apart > 480);
}

TEST(median_levels_absent_follow_the_heavier_side) {
  // Level 3 of 4 occurs only where the root sends rows right; below the left child it is absent.
  std::vector<double> f, g, y;
  for (int r = 0; r < 40; ++r) {
    f.push_back(r < 24 ? 0 : 1);
    g.push_back(r < 24 ? (r < 16 ? 0 : 1) : 3);
    y.push_back(r < 24 ? (r < 16 ? 1 : 2) : 100);
  }
  Shape shape{.n_rows = 40, .n_features = 2, .n_categorical = 1, .n_levels = 4};
  const Data data(shape, columns({f, g}));
  for (const Criterion c : {Criterion::absolute_error, Criterion::squared_error}) {
    TreeParams params;
    params.criterion = c;
    const ForestArrays tree = grow(data, Stats::regression(y, 1, {}, true, false), params);
    const Table probe = columns({{0}, {3}});
    const binning_test::Dense<double> input(probe, binning_test::Order::c);
    CHECK(feature_of(tree, 0) == 0 && predictions(tree, input.input)[0] == 1);
  }
}

TEST(median_refuses_several_outputs) {
  const Data data({.n_rows = 20, .n_features = 2});
  const std::vector<double> y(40, 1.0);
  CHECK_THROWS(grow(data, Stats::regression(y, 2, {}, true, false), absolute()),
               std::invalid_argument);
}
