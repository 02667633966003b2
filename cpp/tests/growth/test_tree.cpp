// Whole trees: rows land where the partition says, children add up to their parent, limits and
// constraints hold, and neither threads nor the order of growth nor the layout of the data change a
// byte.
#include "check.hpp"
#include "split_oracle.hpp"

using namespace growth_test;

namespace {

const std::uint32_t kTwo[] = {2};

TreeParams of(const Target& target) {
  TreeParams p;
  p.criterion = target.criterion;
  p.l2 = target.l2;
  if (target.criterion == Criterion::newton) p.min_gain = 1e-9;
  return p;
}

ForestArrays grow(const Data& data, const Stats& stats, const TreeParams& params, int threads = 1) {
  return grow_tree(data.matrix, data.mapper, stats, params, Context{threads});
}

const Criterion kSums[] = {Criterion::gini,          Criterion::entropy, Criterion::exponential,
                           Criterion::squared_error, Criterion::poisson, Criterion::newton};

void check_leaf_rows(const Data& data, const Input& input, const BinnedMatrix& m,
                     const Stats& stats, const TreeParams& params) {
  LeafRows rows;
  const ForestArrays tree = grow_tree(m, data.mapper, stats, params, Context{2}, &rows);
  const std::vector<std::uint32_t> leaf = leaves_of(tree, input);
  CHECK(rows.begin.size() == rows.node.size() + 1 &&
        rows.begin.back() == stats.counted_rows().size());
  CHECK(rows.node.size() == count_leaves(tree));
  std::size_t wrong = 0;
  for (std::size_t k = 0; k + 1 < rows.begin.size(); ++k) {
    for (std::uint64_t i = rows.begin[k]; i < rows.begin[k + 1]; ++i)
      wrong += leaf[rows.rows[i]] != rows.node[k];
    wrong += tree.count[rows.node[k]] != rows.begin[k + 1] - rows.begin[k];
  }
  CHECK(wrong == 0);
  std::vector<RowId> all = rows.rows;
  std::sort(all.begin(), all.end());
  CHECK(all == stats.counted_rows());
}

void check_sums(const ForestArrays& tree) {
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    CHECK(std::isfinite(tree.impurity[i]) && tree.impurity[i] >= 0 && tree.count[i] > 0);
    if (is_leaf(tree, i)) continue;
    const std::size_t l = tree.nodes[i].left;
    CHECK(tree.count[i] == tree.count[l] + tree.count[l + 1]);
    CHECK(close(tree.weight[i], tree.weight[l] + tree.weight[l + 1], 1e-12));
    for (std::size_t k = 0; k < tree.n_outputs; ++k) {
      const auto v = [&](std::size_t j) { return tree.values[j * tree.n_outputs + k]; };
      CHECK(v(i) >= std::min(v(l), v(l + 1)) - 1e-9 && v(i) <= std::max(v(l), v(l + 1)) + 1e-9);
    }
  }
}

}  // namespace

TEST(tree_rows_land_in_their_leaf) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Data data({.n_rows = 3000,
                     .n_features = 7,
                     .missing = seed % 2 == 0 ? 0.1 : 0.0,
                     .zeros = 0.3,
                     .n_categorical = seed % 3,
                     .n_levels = 70,
                     .max_bins = seed == 4 ? 1000u : 63u,
                     .seed = seed});
    for (const Criterion c : kSums) {
      const Target target = make_target(data.table, c, seed, seed % 2 == 1);
      const Stats stats = target.stats();
      TreeParams params = of(target);
      for (const SplitRule rule : {SplitRule::best, SplitRule::random}) {
        params.rule = rule;
        params.min_rows_split = 1 + seed * 7;
        check_leaf_rows(data, data.dense.input, data.matrix, stats, params);
        check_leaf_rows(data, data.sparse.input, data.sparse_matrix, stats, params);
        const ForestArrays tree = grow(data, stats, params);
        check_sums(tree);
        CHECK(
            same_tree(tree, grow_tree(data.sparse_matrix, data.mapper, stats, params, Context{})));
      }
    }
  }
}

TEST(tree_fits_its_training_rows) {
  const Data data({.n_rows = 2000, .n_features = 6, .max_bins = 65535, .seed = 3});
  const std::vector<double> y = make_y(data.table, 3);
  TreeParams params;
  params.criterion = Criterion::squared_error;
  const Stats stats = Stats::regression(y, 1, {}, true, false);
  CHECK(predictions(grow(data, stats, params), data.dense.input) == y);
  const std::vector<std::uint32_t> codes = make_classes(data.table, 4, 3);
  const std::uint32_t k[] = {4};
  params.criterion = Criterion::gini;
  const std::vector<double> shares =
      predictions(grow(data, Stats::classes(codes, k, {}, false), params), data.dense.input);
  for (std::size_t r = 0; r < codes.size(); ++r) CHECK(shares[r * 4 + codes[r]] == 1.0);
}

TEST(tree_survives_an_outlier) {
  // One y of 1e9 among ordinary ones: the rest of the tree is that of the data without it.
  const Data data({.n_rows = 600, .n_features = 3, .n_values = 12, .seed = 8});
  std::vector<double> y = make_y(data.table, 8), weight(600, 1.0);
  TreeParams params;
  params.criterion = Criterion::squared_error;
  params.min_rows_split = 20;
  weight[599] = 0;
  const ForestArrays without = grow(data, Stats::regression(y, 1, weight, true, false), params);
  y[599] = 1e9;
  const ForestArrays with = grow(data, Stats::regression(y, 1, {}, true, false), params);
  const std::vector<double> a = predictions(without, data.dense.input),
                            b = predictions(with, data.dense.input);
  double error_a = 0, error_b = 0;
  std::size_t far = 0;
  for (std::size_t r = 0; r < 599; ++r) {
    if (std::abs(b[r]) > 100) {  // shares a leaf with it
      ++far;
      continue;
    }
    error_a += (a[r] - y[r]) * (a[r] - y[r]);
    error_b += (b[r] - y[r]) * (b[r] - y[r]);
  }
  CHECK(far < 25);
  CHECK(error_b < 1.3 * error_a);
}

TEST(tree_limits) {
  const Data data({.n_rows = 4000, .n_features = 5, .missing = 0.05, .seed = 4});
  const std::vector<std::uint32_t> y = make_classes(data.table, 2, 4);
  const Stats stats = Stats::classes(y, kTwo, {}, true);
  for (const Growth growth : {Growth::depth_first, Growth::best_first, Growth::level}) {
    TreeParams params;
    params.growth = growth;
    params.max_depth = 4;
    ForestArrays tree = grow(data, stats, params);
    const std::vector<std::size_t> depth = depths(tree);
    CHECK(*std::max_element(depth.begin(), depth.end()) == 4);
    params.max_depth = 0;
    CHECK(grow(data, stats, params).nodes.size() == 1);
    params.max_depth = 1000;
    params.min_rows_leaf = 37;
    params.min_rows_split = 100;
    tree = grow(data, stats, params);
    CHECK(tree.nodes.size() > 20);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      CHECK(tree.count[i] >= 37 && (is_leaf(tree, i) || tree.count[i] >= 100));
    }
  }
}

TEST(tree_max_leaves) {
  const Data data({.n_rows = 4000, .n_features = 5, .seed = 4});
  const std::vector<double> y = make_y(data.table, 4);
  const Stats stats = Stats::regression(y, 1, {}, true, false);
  for (const Growth growth : {Growth::best_first, Growth::level, Growth::depth_first}) {
    TreeParams params;
    params.criterion = Criterion::squared_error;
    params.growth = growth;
    for (const std::size_t leaves : {1u, 2u, 3u, 10u, 100u}) {
      params.max_leaves = leaves;
      const ForestArrays tree = grow(data, stats, params);
      CHECK(count_leaves(tree) == leaves);
      CHECK(same_tree(tree, grow(data, stats, params, 2)));
    }
  }
}

TEST(tree_best_first_takes_the_largest_gain) {
  const Data data({.n_rows = 3000, .n_features = 4, .seed = 6});
  const std::vector<double> y = make_y(data.table, 6);
  const Stats stats = Stats::regression(y, 1, {}, true, false);
  TreeParams params;
  params.criterion = Criterion::squared_error;
  params.growth = Growth::best_first;
  params.max_leaves = 12;
  const ForestArrays bounded = grow(data, stats, params);
  params.max_leaves = std::numeric_limits<std::uint32_t>::max();
  const ForestArrays whole = grow(data, stats, params);
  // Greedy on the whole tree: open the largest gain 11 times.
  std::vector<std::size_t> open{0};
  double sum = 0;
  for (int k = 0; k < 11; ++k) {
    const auto best = std::max_element(open.begin(), open.end(), [&](std::size_t a, std::size_t b) {
      return whole.gain[a] < whole.gain[b];
    });
    const std::size_t node = *best;
    sum += whole.gain[node];
    open.erase(best);
    open.push_back(whole.nodes[node].left);
    open.push_back(whole.nodes[node].left + 1);
  }
  double got = 0;
  for (const double g : bounded.gain) got += g;
  CHECK(close(got, sum, 1e-12));
}

TEST(tree_interactions_hold) {
  const Data data({.n_rows = 3000, .n_features = 6, .missing = 0.05, .seed = 7});
  const std::vector<double> y = make_y(data.table, 7);
  const Stats stats = Stats::regression(y, 1, {}, true, false);
  TreeParams params;
  params.criterion = Criterion::squared_error;
  params.interactions = {{0, 1}, {1, 2, 3}, {4}};
  for (const int threads : {1, 3}) {
    const ForestArrays tree = grow(data, stats, params, threads);
    CHECK(tree.nodes.size() > 50);
    std::vector<unsigned> path(tree.nodes.size(), 0);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      if (is_leaf(tree, i)) {
        CHECK((path[i] & ~0b11u) == 0 || (path[i] & ~0b1110u) == 0 || (path[i] & ~0b10000u) == 0);
        continue;
      }
      path[tree.nodes[i].left] = path[tree.nodes[i].left + 1] = path[i] | 1u << feature_of(tree, i);
    }
    CHECK(same_tree(tree, grow_sharded(data.matrix, data.mapper, stats, params, 2)));
  }
}

TEST(tree_monotone_predictions) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Data data(
        {.n_rows = 1500, .n_features = 3, .missing = seed == 3 ? 0.1 : 0.0, .seed = seed});
    for (const Criterion c :
         {Criterion::squared_error, Criterion::gini, Criterion::entropy, Criterion::exponential,
          Criterion::newton, Criterion::poisson, Criterion::absolute_error}) {
      const Target target = make_target(data.table, c, seed, seed == 2);
      TreeParams params = of(target);
      params.monotone = {1, -1, 0};
      const ForestArrays tree = grow(data, target.stats(), params);
      CHECK(tree.nodes.size() > 5);
      Table probes = binning_test::table(3000, 3);
      for (std::size_t r = 0; r < 3000; ++r) {
        const std::size_t f = r / 30 % 2;
        for (std::size_t j = 0; j < 3; ++j)
          probes.at(r, j) = 4 * KeyedStream(mix(r / 30, j), Use::threshold).uniform() - 2;
        probes.at(r, f) = static_cast<double>(r % 30) / 7 - 2;
      }
      const binning_test::Dense<double> input(probes, binning_test::Order::c);
      const std::vector<double> out = predictions(tree, input.input);
      std::size_t wrong = 0;
      for (std::size_t r = 1; r < 3000; ++r) {
        if (r % 30 == 0) continue;
        const auto v = [&](std::size_t row) {
          return out[row * tree.n_outputs + tree.n_outputs - 1];
        };
        wrong += (r / 30 % 2 == 0 ? v(r) - v(r - 1) : v(r - 1) - v(r)) < 0 ? 1 : 0;
      }
      if (wrong > 0) std::printf("criterion %d: %zu probes fall\n", static_cast<int>(c), wrong);
      CHECK(wrong == 0);
    }
  }
}

TEST(tree_does_not_depend_on_growth) {
  const Data data({.n_rows = 5000,
                   .n_features = 6,
                   .missing = 0.05,
                   .zeros = 0.2,
                   .n_categorical = 2,
                   .seed = 12});
  for (const Criterion c : kSums) {
    const Target target = make_target(data.table, c, 12, true);
    const Stats stats = target.stats();
    TreeParams params = of(target);
    params.node_features = 3;
    const ForestArrays tree = grow(data, stats, params);
    params.growth = Growth::level;
    CHECK(same_tree(tree, grow(data, stats, params, 2)));
    params.growth = Growth::best_first;
    CHECK(same_tree(tree, grow(data, stats, params)));
    CHECK(same_tree(tree, grow_tree(data.sparse_matrix, data.mapper, stats, params, Context{2})));
  }
}

TEST(tree_does_not_depend_on_threads) {
  const Data data({.n_rows = 60000,
                   .n_features = 8,
                   .missing = 0.03,
                   .zeros = 0.2,
                   .n_categorical = 2,
                   .seed = 13});
  for (const Criterion c : {Criterion::gini, Criterion::squared_error, Criterion::newton}) {
    for (const bool weighted : {false, true}) {
      const Target target =
          make_target(data.table, c, 13, weighted, c == Criterion::gini && weighted ? 5 : 2);
      const Stats stats = target.stats();
      TreeParams params = of(target);
      params.interactions = {{0, 1, 2, 3, 4, 6}, {2, 3, 5, 7}};
      const ForestArrays tree = grow(data, stats, params);
      CHECK(tree.nodes.size() > 1000);
      for (const int threads : {2, 4, 7})
        CHECK(same_tree(tree, grow(data, stats, params, threads)));
      CHECK(same_tree(tree, grow_tree(data.sparse_matrix, data.mapper, stats, params, Context{2})));
    }
  }
}

TEST(tree_of_many_features_does_not_depend_on_threads) {
  // Enough features for the search itself to be shared among threads, in histograms and in blocks.
  const Data data({.n_rows = 2500, .n_features = 520, .seed = 15});
  const std::vector<std::uint32_t> y = make_classes(data.table, 2, 15);
  const Stats stats = Stats::classes(y, kTwo, {}, false);
  for (const Growth growth : {Growth::depth_first, Growth::best_first, Growth::level}) {
    TreeParams params;
    params.growth = growth;
    const ForestArrays tree = grow(data, stats, params);
    for (int repeat = 0; repeat < 3; ++repeat) CHECK(same_tree(tree, grow(data, stats, params, 4)));
  }
}

TEST(tree_weight_is_repetition) {
  const Data data({.n_rows = 700, .n_features = 4, .n_values = 30, .seed = 14});
  const std::vector<double> weight = make_weight(700, 14, true);
  std::vector<std::vector<double>> rows(4);
  std::vector<double> y = make_y(data.table, 14), repeated;
  for (std::size_t r = 0; r < 700; ++r) {
    for (int k = 0; k < static_cast<int>(weight[r]); ++k) {
      repeated.push_back(y[r]);
      for (std::size_t f = 0; f < 4; ++f) rows[f].push_back(data.table.at(r, f));
    }
  }
  const Data once({.n_rows = 700, .n_features = 4}, data.table, weight);
  const Data many({.n_rows = repeated.size(), .n_features = 4}, columns(rows));
  TreeParams params;
  params.criterion = Criterion::squared_error;
  const ForestArrays a = grow(once, Stats::regression(y, 1, weight, true, false), params);
  const ForestArrays b = grow(many, Stats::regression(repeated, 1, {}, true, false), params);
  CHECK(same_bits(a.nodes, b.nodes) && same_bits(a.values, b.values) && same_bits(a.gain, b.gain));
  CHECK(same_bits(a.weight, b.weight));
}

TEST(tree_refuses_what_does_not_belong_together) {
  const Data data({.n_rows = 20, .n_features = 2}), other({.n_rows = 21, .n_features = 3});
  const std::vector<std::uint32_t> y(20, 1);
  const std::vector<double> weight(20, 0.3), targets(20, 2.0), pair(40, 1.0);
  const Stats stats = Stats::classes(y, kTwo, {}, false),
              weighted = Stats::classes(y, kTwo, weight, false);
  TreeParams params;
  CHECK_THROWS(grow_tree(other.matrix, data.mapper, stats, params, Context{}),
               std::invalid_argument);
  CHECK_THROWS(grow_tree(other.matrix, other.mapper, stats, params, Context{}),
               std::invalid_argument);
  params.monotone = {1};
  CHECK_THROWS(grow(data, stats, params), std::invalid_argument);
  params.monotone.clear();
  params.interactions = {{0, 2}};
  CHECK_THROWS(grow(data, stats, params), std::invalid_argument);
  params.interactions.clear();
  params.min_rows_leaf = 2;
  CHECK_THROWS(grow(data, weighted, params), std::invalid_argument);
  params.min_rows_leaf = 1;
  params.criterion = Criterion::gini;
  CHECK_THROWS(grow(data, Stats::regression(targets, 1, {}, true, false), params),
               std::invalid_argument);
  params.criterion = Criterion::squared_error;
  CHECK_THROWS(grow(data, stats, params), std::invalid_argument);
}
