// The split search against brute force, through stumps; then ties, the random rule and the sampling
// of features.
#include <map>
#include <set>

#include "check.hpp"
#include "split_oracle.hpp"

using namespace growth_test;

namespace {

const Criterion kSums[] = {
    Criterion::gini,  Criterion::entropy,     Criterion::gain_ratio,    Criterion::normalized_gain,
    Criterion::error, Criterion::exponential, Criterion::squared_error, Criterion::poisson,
    Criterion::newton};

TreeParams stump(const Target& target) {
  TreeParams p;
  p.criterion = target.criterion;
  p.l2 = target.l2;
  p.max_depth = 1;
  return p;
}

void check_leaves(const Oracle& oracle, const Target& target, const ForestArrays& tree) {
  const auto side = oracle.sides(tree);
  for (std::size_t k = 0; k < 2; ++k) {
    const double value = tree.values[(k + 1) * tree.n_outputs + tree.n_outputs - 1];
    if (tree.n_outputs <= 2) CHECK(close(value, target.value(side[k]), 1e-7));
    CHECK(tree.count[k + 1] == side[k].size());
    const auto weight = static_cast<double>(target.total(side[k]));
    CHECK(close(tree.weight[k + 1], weight, 1e-7));
    if (target.criterion == Criterion::newton) continue;
    CHECK(
        close(tree.impurity[k + 1] * weight, static_cast<double>(target.impurity(side[k])), 1e-5));
  }
}

/// The stump gains what the best of all splits gains.
void compare(const Data& data, const Target& target, const TreeParams& params) {
  const Stats stats = target.stats(params.min_rows_leaf > 1);
  const Oracle oracle(data, target, params);
  const OracleSplit best = oracle.best();
  const ForestArrays tree = grow_tree(data.matrix, data.mapper, stats, params, Context{});
  const double tolerance = target.weight.empty() ? 1e-6 : 1e-5;
  if (best.quality == -std::numeric_limits<double>::infinity()) {
    CHECK(tree.nodes.size() == 1);
    return;
  }
  CHECK(tree.nodes.size() == 3);
  if (tree.nodes.size() != 3) return;
  if (!close(tree.gain[0], best.gain, tolerance)) {
    std::printf("criterion %d: gain %.12g of feature %u, best %.12g of %zu\n",
                static_cast<int>(target.criterion), tree.gain[0], feature_of(tree, 0), best.gain,
                best.feature);
  }
  CHECK(close(tree.gain[0], best.gain, tolerance));
  CHECK(close(oracle.gain_of(tree), best.gain, tolerance));
  check_leaves(oracle, target, tree);
  CHECK(same_tree(tree, grow_tree(data.sparse_matrix, data.mapper, stats, params, Context{})));
  CHECK(same_tree(tree, grow_sharded(data.matrix, data.mapper, stats, params, 2)));
}

ForestArrays grow(const Data& data, const Stats& stats, const TreeParams& params, int threads = 1) {
  return grow_tree(data.matrix, data.mapper, stats, params, Context{threads});
}

const std::uint32_t kTwo[] = {2};

}  // namespace

TEST(split_is_the_best_of_all_cuts) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Data data({.n_rows = 40 + 3 * seed,
                     .n_features = 4,
                     .missing = seed % 3 == 0 ? 0.0 : 0.15,
                     .zeros = 0.2,
                     .n_values = seed % 4 == 1 ? 0u : 9u,
                     .seed = seed});
    for (const Criterion c : kSums) {
      const Target target = make_target(data.table, c, seed, seed % 2 == 1 || seed % 5 == 0);
      compare(data, target, stump(target));
    }
    for (const Criterion c :
         {Criterion::gini, Criterion::entropy, Criterion::error, Criterion::exponential}) {
      const Target target = make_target(data.table, c, seed, seed % 2 == 1, 5);
      compare(data, target, stump(target));
    }
  }
}

TEST(split_respects_limits) {
  for (std::uint64_t seed = 20; seed < 32; ++seed) {
    const Data data({.n_rows = 50, .n_features = 3, .missing = 0.1, .n_values = 8, .seed = seed});
    for (const Criterion c : kSums) {
      const Target target = make_target(data.table, c, seed, seed % 2 == 0);
      TreeParams params = stump(target);
      params.min_rows_leaf = 5 + seed % 9;
      compare(data, target, params);
      params.min_rows_leaf = 1;
      params.min_weight_leaf = c == Criterion::newton ? 2.013 : 11.017;
      compare(data, target, params);
      if (c == Criterion::gain_ratio || c == Criterion::normalized_gain) continue;
      params.min_weight_leaf = 0;
      for (const std::int8_t sign : {std::int8_t{1}, std::int8_t{-1}}) {
        params.monotone = {sign, 0, static_cast<std::int8_t>(-sign)};
        compare(data, target, params);
      }
    }
  }
}

TEST(split_of_levels_is_the_best_subset) {
  for (std::uint64_t seed = 40; seed < 52; ++seed) {
    const Data data({.n_rows = 60,
                     .n_features = 3,
                     .missing = seed % 2 == 0 ? 0.0 : 0.1,
                     .n_categorical = 2,
                     .n_levels = 8,
                     .seed = seed});
    for (const Criterion c :
         {Criterion::gini, Criterion::entropy, Criterion::error, Criterion::exponential,
          Criterion::squared_error, Criterion::poisson, Criterion::newton}) {
      Target target = make_target(data.table, c, seed, seed % 2 == 1);
      target.l2 = 0;  // with a penalty the order by value is a rule, not a theorem
      compare(data, target, stump(target));
    }
  }
}

TEST(split_gain_in_user_units) {
  const Data data({.n_rows = 6, .n_features = 1}, columns({{1, 2, 3, 4, 5, 6}}));
  const std::vector<double> y{0, 0, 0, 1000, 1000, 1000};
  TreeParams params;
  params.criterion = Criterion::squared_error;
  const ForestArrays tree = grow(data, Stats::regression(y, 1, {}, true, false), params);
  CHECK(tree.nodes.size() == 3 && tree.nodes[0].threshold == 3.5);
  CHECK(close(tree.gain[0], 6 * 250000.0) && close(tree.impurity[0], 250000) &&
        tree.impurity[1] == 0);
  CHECK(tree.values[0] == 500 && tree.values[1] == 0 && tree.values[2] == 1000);
  params.min_gain = 6 * 250000.0 + 1;
  CHECK(grow(data, Stats::regression(y, 1, {}, true, false), params).nodes.size() == 1);
  params.min_gain = 6 * 250000.0 - 1;
  CHECK(grow(data, Stats::regression(y, 1, {}, true, false), params).nodes.size() == 3);
}

TEST(split_ties) {
  const std::vector<double> x{0, 1, 2, 3};
  const std::vector<std::uint32_t> ends{0, 1, 1, 0};  // cuts 0|1 and 2|3 gain the same
  TreeParams params;
  params.max_depth = 1;
  const Data one({.n_rows = 4, .n_features = 1}, columns({x}));
  CHECK(grow(one, Stats::classes(ends, kTwo, {}, false), params).nodes[0].threshold == 0.5);
  const Data two({.n_rows = 4, .n_features = 3}, columns({{5, 5, 5, 5}, x, x}));
  const ForestArrays tree = grow(two, Stats::classes(ends, kTwo, {}, false), params);
  CHECK(feature_of(tree, 0) == 1 && tree.nodes[0].threshold == 0.5);
  // Missing rows that do not matter go right; with none, unseen ones follow the heavier side.
  const Data missing({.n_rows = 6, .n_features = 1}, columns({{0, 1, kNaN, kNaN, 0, 1}}));
  const std::vector<std::uint32_t> y{0, 1, 0, 1, 0, 1};
  CHECK(!missing_left(grow(missing, Stats::classes(y, kTwo, {}, false), params), 0));
  const std::vector<std::uint32_t> last{0, 0, 0, 1}, first{1, 0, 0, 0};
  CHECK(missing_left(grow(one, Stats::classes(last, kTwo, {}, false), params), 0));
  CHECK(!missing_left(grow(one, Stats::classes(first, kTwo, {}, false), params), 0));
}

TEST(split_separates_missing_rows) {
  const Data data({.n_rows = 6, .n_features = 2},
                  columns({{7, 7, kNaN, 7, kNaN, 7}, {1, 2, 3, 4, 5, 6}}));
  const std::vector<std::uint32_t> y{0, 0, 1, 0, 1, 0};
  const ForestArrays tree = grow(data, Stats::classes(y, kTwo, {}, false), TreeParams{});
  CHECK(tree.nodes.size() == 3 && feature_of(tree, 0) == 0 && !missing_left(tree, 0));
  CHECK(std::isfinite(tree.nodes[0].threshold) && tree.nodes[0].threshold >= 7);
  const std::vector<std::uint32_t> leaf = leaves_of(tree, data.dense.input);
  CHECK((leaf == std::vector<std::uint32_t>{1, 1, 2, 1, 2, 1}));
}

TEST(split_zero_gain_is_taken_unless_refused) {
  const Data data({.n_rows = 4, .n_features = 2}, columns({{0, 0, 1, 1}, {0, 1, 0, 1}}));
  const std::vector<std::uint32_t> exclusive_or{0, 1, 1, 0};
  const Stats stats = Stats::classes(exclusive_or, kTwo, {}, false);
  TreeParams params;
  CHECK(grow(data, stats, params).nodes.size() == 7);
  params.min_gain = 0;
  CHECK(grow(data, stats, params).nodes.size() == 1);
}

TEST(split_random_draws_within_the_node) {
  const Data data({.n_rows = 300, .n_features = 4, .missing = 0.05, .seed = 5});
  const std::vector<double> y = make_y(data.table, 5);
  const Stats stats = Stats::regression(y, 1, {}, true, false);
  TreeParams params;
  params.criterion = Criterion::squared_error;
  params.rule = SplitRule::random;
  std::set<double> thresholds;
  for (params.seed = 0; params.seed < 20; ++params.seed) {
    const ForestArrays tree = grow(data, stats, params);
    thresholds.insert(tree.nodes[0].threshold);
    CHECK(same_tree(tree, grow_tree(data.sparse_matrix, data.mapper, stats, params, Context{})));
    CHECK(same_tree(tree, grow_sharded(data.matrix, data.mapper, stats, params, 3)));
    std::vector<double> low(tree.nodes.size(), 1e300), high(tree.nodes.size(), -1e300);
    for (std::size_t r = 0; r < data.table.n_rows; ++r) {
      for (std::size_t i = 0; !is_leaf(tree, i);) {
        const double x = data.table.at(r, feature_of(tree, i));
        if (!std::isnan(x)) low[i] = std::min(low[i], x), high[i] = std::max(high[i], x);
        i = tree.nodes[i].left +
            ((std::isnan(x) ? missing_left(tree, i) : x <= tree.nodes[i].threshold) ? 0 : 1);
      }
    }
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      if (is_leaf(tree, i) || tree.nodes[i].threshold == std::numeric_limits<double>::max())
        continue;
      CHECK(tree.nodes[i].threshold >= low[i] && tree.nodes[i].threshold < high[i]);
    }
  }
  CHECK(thresholds.size() == 20);
}

TEST(split_random_is_uniform) {
  // Values 0, 1, 100: a uniform draw separates {0, 1} from 100 in 99 of 100 cases, bins would do so
  // in half.
  const Data data({.n_rows = 6, .n_features = 1}, columns({{0, 1, 100, 0, 1, 100}}));
  const std::vector<double> y{0, 1, 2, 3, 4, 5};
  const Stats stats = Stats::regression(y, 1, {}, true, false);
  TreeParams params;
  params.criterion = Criterion::squared_error;
  params.rule = SplitRule::random;
  params.max_depth = 1;
  int apart = 0;
  double sum = 0;
  for (params.seed = 0; params.seed < 2000; ++params.seed) {
    const ForestArrays tree = grow(data, stats, params);
    apart += tree.nodes[0].threshold >= 1;
    sum += tree.nodes[0].threshold;
  }
  CHECK(apart > 1960 && apart < 1996);
  CHECK(std::abs(sum / 2000 - 50) < 3);
}

/// How often each set of levels (as bits) goes left at the root of a drawn stump.
std::map<std::uint64_t, int> drawn_sets(const Data& data, const Stats& stats, Criterion criterion,
                                        std::uint64_t n_seeds) {
  TreeParams params;
  params.criterion = criterion;
  params.rule = SplitRule::random;
  params.max_depth = 1;
  std::map<std::uint64_t, int> found;
  for (params.seed = 0; params.seed < n_seeds; ++params.seed) {
    const ForestArrays tree = grow(data, stats, params);
    ++found[tree.set_words[tree.set_begin[static_cast<std::size_t>(tree.nodes[0].threshold)]]];
  }
  return found;
}

TEST(split_random_cuts_levels_of_numbers_by_their_means) {
  // Levels 0 to 4 with means 3, 0, 4, 1, 2: a cut leaves {1}, {1, 3}, {1, 3, 4} or {0, 1, 3, 4} on
  // the left, one as often as the other.
  const Data data({.n_rows = 10, .n_features = 1, .n_categorical = 1, .n_levels = 5},
                  columns({{0, 1, 2, 3, 4, 0, 1, 2, 3, 4}}));
  const std::vector<double> y{2, -1, 3, 0, 1, 4, 1, 5, 2, 3};
  const Stats stats = Stats::regression(y, 1, {}, true, false);
  auto found = drawn_sets(data, stats, Criterion::squared_error, 2000);
  CHECK(found.size() == 4);
  for (const std::uint64_t left : {0b00010U, 0b01010U, 0b11010U, 0b11011U})
    CHECK(std::abs(found[left] - 500) < 100);
}

TEST(split_random_draws_sides_of_levels_for_classes) {
  // Three levels have six sets that leave neither side empty. A set drawn empty or full gets one
  // level moved, so all six are drawn as often: 1/8 + 1/3 * 1/8 each.
  const Data data({.n_rows = 6, .n_features = 1, .n_categorical = 1, .n_levels = 3},
                  columns({{0, 1, 2, 0, 1, 2}}));
  const std::vector<std::uint32_t> y{0, 1, 0, 0, 1, 1};
  const Stats stats = Stats::classes(y, kTwo, {}, false);
  const auto found = drawn_sets(data, stats, Criterion::gini, 3000);
  CHECK(found.size() == 6);
  for (const auto& [left, n] : found) CHECK(left != 0 && left != 0b111 && std::abs(n - 500) < 100);
}

TEST(split_sampling_sees_a_varying_feature) {
  Table t = binning_test::table(50, 40);
  for (std::size_t r = 0; r < 50; ++r) t.at(r, 23) = static_cast<double>(r);
  const Data data({.n_rows = 50, .n_features = 40}, t);
  std::vector<std::uint32_t> y(50);
  for (std::size_t r = 0; r < 50; ++r) y[r] = r % 2;
  const Stats stats = Stats::classes(y, kTwo, {}, false);
  TreeParams params;
  params.node_features = 2;
  for (params.seed = 0; params.seed < 10; ++params.seed) {
    const ForestArrays tree = grow(data, stats, params);
    CHECK(count_leaves(tree) == 50);
    CHECK(same_tree(tree, grow_tree(data.sparse_matrix, data.mapper, stats, params, Context{})));
  }
}

/// Indicators with their copies behind them, so that every cut ties with another; some are missing
/// or constant.
Table indicators_twice(std::size_t n_rows, std::size_t n_features) {
  Table t = binning_test::table(n_rows, 2 * n_features);
  for (std::size_t f = 0; f < n_features; ++f) {
    for (std::size_t r = 0; r < n_rows; ++r) {
      const bool some = f % 11 != 0 && mix(f, r) % (2 + f % 7) == 0;
      t.at(r, f) = f % 13 == 1 && r % 17 == 0 ? kNaN : some ? 1 : 0;
      t.at(r, f + n_features) = t.at(r, f);
    }
  }
  return t;
}

TEST(split_features_of_two_bins_are_chosen_together_as_one_by_one) {
  const std::size_t n = 1500, p = 300;
  const Data two({.n_rows = n, .n_features = 2 * p}, indicators_twice(n, p));
  // A third bin that no row is in: their cuts are sought as those of more bins are.
  Table more = binning_test::table(n + 1, 2 * p);
  for (std::size_t f = 0; f < 2 * p; ++f) {
    for (std::size_t r = 0; r < n; ++r) more.at(r, f) = two.table.at(r, f);
    more.at(n, f) = 2;
  }
  const Data three({.n_rows = n + 1, .n_features = 2 * p}, std::move(more));
  const BinnedMatrix one_by_one = three.mapper.transform(two.dense.input, Context{});
  std::vector<double> gradient(n), hessian(n, 1.0);
  for (std::size_t r = 0; r < n; ++r) gradient[r] = r % 3 == 0 ? 1 : -1;
  const Stats stats = Stats::newton(gradient, hessian, 12, false);
  CHECK(stats.packed_histogram());
  TreeParams params;
  params.criterion = Criterion::newton;
  params.max_leaves = 40;
  std::set<bool> copies;
  for (const Growth growth : {Growth::best_first, Growth::level, Growth::depth_first}) {
    params.growth = growth;
    for (const std::size_t drawn : {0u, 1u, 20u, 290u, 400u, 599u}) {
      params.node_features = drawn;
      params.seed = drawn;
      const ForestArrays tree = grow(two, stats, params);
      CHECK(count_leaves(tree) == 40);
      CHECK(same_tree(tree, grow_tree(one_by_one, three.mapper, stats, params, Context{})));
      for (const int threads : {0, 2}) CHECK(same_tree(tree, grow(two, stats, params, threads)));
      for (const int threads : {1, 3}) {
        BinnedMatrix sparse = two.sparse_matrix;
        CHECK(same_tree(tree, grow_tree(sparse, two.mapper, stats, params, Context{threads})));
        sparse.add_columns(Context{});
        CHECK(same_tree(tree, grow_tree(sparse, two.mapper, stats, params, Context{threads})));
      }
      for (std::size_t i = 0; i < tree.nodes.size(); ++i) {  // ties: the lower, or drawn first
        if (is_leaf(tree, i)) continue;
        const bool copy = feature_of(tree, i) >= p;
        CHECK(!copy || drawn > 0);
        if (drawn == 599) copies.insert(copy);
      }
    }
  }
  CHECK(copies.size() == 2);
}

TEST(split_sampling_differs_by_node_and_seed) {
  const Data data({.n_rows = 2000, .n_features = 300, .seed = 9});
  const std::vector<std::uint32_t> y = make_classes(data.table, 2, 9);
  const Stats stats = Stats::classes(y, kTwo, {}, false);
  TreeParams params;
  params.node_features = 3;
  params.max_depth = 5;
  std::set<std::uint32_t> roots, used;
  for (params.seed = 0; params.seed < 15; ++params.seed) {
    const ForestArrays tree = grow(data, stats, params);
    roots.insert(feature_of(tree, 0));
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      if (!is_leaf(tree, i)) used.insert(feature_of(tree, i));
    }
    for (const int threads : {2, 4}) CHECK(same_tree(tree, grow(data, stats, params, threads)));
  }
  CHECK(roots.size() >= 8 && used.size() > 60);
  params.node_features = 0;
  params.tree_features = 2;
  used.clear();
  const ForestArrays tree = grow(data, stats, params);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    if (!is_leaf(tree, i)) used.insert(feature_of(tree, i));
  }
  CHECK(used.size() <= 2);
  params.tree_features = 0;
  for (const int threads : {2, 4})
    CHECK(same_tree(grow(data, stats, params), grow(data, stats, params, threads)));
}
