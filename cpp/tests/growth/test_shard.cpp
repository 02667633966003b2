// Shards: the rows dealt out in any way and any order give the tree of all rows in one place, byte
// for byte. Shards know histograms only, so this also compares the paths through rows and through
// histograms.
#include "check.hpp"
#include "split_oracle.hpp"

using namespace growth_test;

namespace {

void compare(const Data& data, const Stats& stats, TreeParams params) {
  const ForestArrays tree = grow_tree(data.matrix, data.mapper, stats, params, Context{2});
  CHECK(tree.nodes.size() > 20);
  for (const std::size_t n_shards : {1u, 2u, 4u, 7u}) {
    CHECK(same_tree(tree, grow_sharded(data.matrix, data.mapper, stats, params, n_shards)));
  }
  CHECK(same_tree(tree, grow_sharded(data.sparse_matrix, data.mapper, stats, params, 3)));
  params.growth = Growth::level;
  CHECK(same_tree(tree, grow_sharded(data.matrix, data.mapper, stats, params, 5, Context{2})));
}

TreeParams of(const Target& target) {
  TreeParams p;
  p.criterion = target.criterion;
  p.l2 = target.l2;
  if (target.criterion == Criterion::newton) p.min_gain = 1e-9;
  return p;
}

}  // namespace

TEST(shard_trees_are_the_same) {
  const Data data({.n_rows = 2500,
                   .n_features = 6,
                   .missing = 0.05,
                   .zeros = 0.3,
                   .n_categorical = 2,
                   .seed = 21});
  for (const Criterion c :
       {Criterion::gini, Criterion::entropy, Criterion::gain_ratio, Criterion::normalized_gain,
        Criterion::exponential, Criterion::squared_error, Criterion::poisson, Criterion::newton}) {
    for (const bool weighted : {false, true}) {
      const Target target = make_target(data.table, c, 21, weighted);
      compare(data, target.stats(), of(target));
      if (!for_classes(c)) continue;
      const Target five = make_target(data.table, c, 21, weighted, 5);
      compare(data, five.stats(), of(five));
    }
  }
}

TEST(shard_trees_with_draws_and_limits) {
  const Data data({.n_rows = 2000, .n_features = 12, .missing = 0.1, .zeros = 0.6, .seed = 22});
  for (const Criterion c : {Criterion::gini, Criterion::squared_error, Criterion::newton}) {
    const Target target = make_target(data.table, c, 22, true);
    TreeParams params = of(target);
    params.rule = SplitRule::random;
    params.node_features = 3;
    params.tree_features = 9;
    params.min_rows_leaf = 3;
    compare(data, target.stats(true), params);
  }
}

TEST(shard_small_tree_equals_block_tree) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const Data data({.n_rows = 400,
                     .n_features = 5,
                     .missing = 0.1,
                     .zeros = 0.3,
                     .n_categorical = 1,
                     .max_bins = seed % 2 == 0 ? 255u : 300u,
                     .seed = seed});
    for (const Criterion c : {Criterion::gini, Criterion::squared_error, Criterion::newton}) {
      const Target target = make_target(data.table, c, seed, seed % 2 == 1);
      compare(data, target.stats(), of(target));
      const Target three = make_target(data.table, c, seed, seed % 2 == 1, 3);
      compare(data, three.stats(), of(three));
    }
  }
}

TEST(shard_several_outputs) {
  const Data data({.n_rows = 1500,
                   .n_features = 5,
                   .missing = 0.05,
                   .zeros = 0.3,
                   .n_categorical = 2,
                   .seed = 25});
  const std::vector<double> first = make_y(data.table, 25), second = make_y(data.table, 26),
                            weight = make_weight(1500, 3, true);
  const std::vector<std::uint32_t> a = make_classes(data.table, 2, 25),
                                   b = make_classes(data.table, 3, 26);
  std::vector<double> y;
  std::vector<std::uint32_t> codes;
  for (std::size_t r = 0; r < 1500; ++r) {
    y.insert(y.end(), {first[r], 10 * second[r] + 3});
    codes.insert(codes.end(), {a[r], b[r]});
  }
  const std::uint32_t n_classes[] = {2, 3};
  TreeParams params;
  params.min_rows_leaf = 2;
  compare(data, Stats::classes(codes, n_classes, {}, true), params);
  compare(data, Stats::classes(codes, n_classes, weight, true), params);
  params.criterion = Criterion::squared_error;
  compare(data, Stats::regression(y, 2, {}, true, true), params);
  compare(data, Stats::regression(y, 2, weight, true, true), params);
}

TEST(shard_wide_newton_blocks) {
  const Data data({.n_rows = 30000, .n_features = 4, .missing = 0.05, .zeros = 0.2, .seed = 23});
  std::vector<double> g = make_y(data.table, 23), h(30000, 0.25);
  for (double& v : g) v += 4;
  const Stats stats = Stats::newton(g, h, 20, false);
  CHECK(stats.form == RowForm::packed && stats.width == 2);
  TreeParams params;
  params.criterion = Criterion::newton;
  params.min_rows_split = 50;
  compare(data, stats, params);
}

/// Of a full queue only what is better than its last is sought, which shards do not do: no split
/// that would still come may be missed, for any room, with waves of several threads and without.
TEST(shard_best_first_trees_of_few_leaves) {
  for (const std::size_t n_rows : {150u, 4000u}) {
    const Data data({.n_rows = n_rows, .n_features = 7, .missing = 0.02, .seed = 31});
    const Target target = make_target(data.table, Criterion::newton, 31, true);
    const Stats stats = target.stats();
    TreeParams params = of(target);
    params.growth = Growth::best_first;
    for (std::size_t leaves = 2; leaves <= 40; ++leaves) {
      params.max_leaves = leaves;
      params.node_features = leaves % 3 == 0 ? 3 : 0;
      params.seed = leaves;
      const ForestArrays tree = grow_sharded(data.matrix, data.mapper, stats, params, 2);
      for (const int threads : {1, 3})
        CHECK(
            same_tree(tree, grow_tree(data.matrix, data.mapper, stats, params, Context{threads})));
    }
  }
}

TEST(shard_verbs) {
  const Data data({.n_rows = 100, .n_features = 2, .seed = 24});
  const std::vector<double> y = make_y(data.table, 24);
  const Stats stats = Stats::regression(y, 1, {}, true, false);
  std::vector<RowId> mine;
  for (RowId r = 0; r < 100; r += 3) mine.push_back(r);
  MemoryShard shard(data.matrix, stats, mine);
  std::vector<std::int64_t> totals(stats.width, 0);
  double range[2] = {1e300, -1e300};
  CHECK(shard.begin(totals, range).rows == mine.size());
  Split split;
  split.bin = data.matrix.n_bins[0] / 2;
  RowFacts facts[2];
  double ranges[4] = {1e300, -1e300, 1e300, -1e300};
  shard.route(0, 1, split, facts, ranges, Context{});
  CHECK(facts[0].rows + facts[1].rows == mine.size() && facts[0].rows > 0 && facts[1].rows > 0);
  CHECK(std::min(ranges[0], ranges[2]) == range[0] && std::max(ranges[1], ranges[3]) == range[1]);
  std::vector<double> scores(100, 0);
  shard.settle(1, 2, scores);
  shard.settle(2, 3, scores);
  for (RowId r = 0; r < 100; ++r) {
    const double expected = r % 3 != 0 ? 0 : data.matrix.code(r, 0) <= split.bin ? 2 : 3;
    CHECK(scores[r] == expected);
  }
  std::vector<__int128> fine(stats.fine_width(), 0);
  shard.add_fine(1, fine.data());
  shard.add_fine(2, fine.data());
  CHECK(fine == fine_of(stats, mine));
}

TEST(shard_refuses_absolute_error_and_bad_parameters) {
  const Data data({.n_rows = 100, .n_features = 2, .seed = 24});
  const std::vector<double> y = make_y(data.table, 24), weight(100, 0.3);
  TreeParams params;
  params.criterion = Criterion::absolute_error;
  const Stats stats = Stats::regression(y, 1, {}, true, false),
              weighted = Stats::regression(y, 1, weight, true, false);
  CHECK_THROWS(grow_sharded(data.matrix, data.mapper, stats, params, 2), std::invalid_argument);
  params.criterion = Criterion::squared_error;
  params.min_rows_leaf = 5;
  CHECK_THROWS(grow_sharded(data.matrix, data.mapper, weighted, params, 2), std::invalid_argument);
  params.min_rows_leaf = 1;
  params.monotone = {1, 0, 0};
  CHECK_THROWS(grow_sharded(data.matrix, data.mapper, stats, params, 2), std::invalid_argument);
}

TEST(shard_counts_leave_nothing_behind) {
  // Few sparse rows are counted in the memory that the rows of shards were counted in.
  const Data data({.n_rows = 900, .n_features = 60, .zeros = 0.9, .n_values = 5, .seed = 27});
  const std::vector<double> y = make_y(data.table, 27);
  const std::vector<float> gradient(y.begin(), y.end()), hessian(900, 0.3f);
  const Stats stats = Stats::gradients(gradient, hessian, Context{});
  TreeParams params;
  params.criterion = Criterion::newton;
  params.min_rows_leaf = 4;
  params.growth = Growth::level;
  const ForestArrays tree = grow_tree(data.matrix, data.mapper, stats, params, Context{});
  CHECK(tree.nodes.size() > 50);
  for (int again = 0; again < 2; ++again) {
    CHECK(same_tree(tree, grow_tree(data.sparse_matrix, data.mapper, stats, params, Context{})));
    CHECK(same_tree(tree, grow_sharded(data.sparse_matrix, data.mapper, stats, params, 3)));
  }
}
