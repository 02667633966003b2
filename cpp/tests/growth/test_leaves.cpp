// Every row's leaf, as growth leaves it, is the one its raw values lead to.
#include "check.hpp"
#include "split_oracle.hpp"

using namespace growth_test;

namespace {

TreeParams of(const Target& target) {
  TreeParams p;
  p.criterion = target.criterion;
  p.l2 = target.l2;
  if (target.criterion == Criterion::newton) p.min_gain = 1e-9;
  return p;
}

/// Rows that count; all rows where cuts are not drawn.
void compare(const Data& data, const Stats& stats, const TreeParams& params, int threads) {
  const std::size_t n = data.table.n_rows;
  std::vector<std::uint32_t> leaf(n, 0xFFFFFFFFu), sparse(leaf);
  const ForestArrays tree =
      grow_tree_with_leaves(data.matrix, data.mapper, stats, params, Context{threads}, leaf);
  CHECK(same_tree(tree, grow_tree(data.matrix, data.mapper, stats, params, Context{})));
  const std::vector<std::uint32_t> expected = leaves_of(tree, data.dense.input);
  grow_tree_with_leaves(data.sparse_matrix, data.mapper, stats, params, Context{threads}, sparse);
  std::size_t wrong = 0;
  for (std::size_t r = 0; r < n; ++r) {
    const bool asked = params.rule == SplitRule::best || stats.counts(static_cast<RowId>(r));
    wrong += asked && (leaf[r] != expected[r] || sparse[r] != expected[r]);
    wrong += leaf[r] >= tree.nodes.size() || !is_leaf(tree, leaf[r]);
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST(leaves_of_all_rows) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Data data({.n_rows = 500,
                     .n_features = 6,
                     .missing = seed % 2 == 0 ? 0.1 : 0.0,
                     .zeros = 0.3,
                     .n_categorical = seed % 3,
                     .n_levels = 70,
                     .max_bins = seed == 3 ? 1000u : 63u,
                     .seed = seed});
    for (const Criterion c : {Criterion::gini, Criterion::exponential, Criterion::squared_error,
                              Criterion::absolute_error, Criterion::newton}) {
      const Target target = make_target(data.table, c, seed, true, seed == 1 ? 3 : 2);
      const Stats stats = target.stats();
      CHECK(c == Criterion::newton || stats.counts_all() == (seed % 2 == 1));
      TreeParams params = of(target);
      for (const std::size_t depth : {0u, 1u, 3u, 100u}) {
        params.max_depth = depth;
        for (const Growth growth : {Growth::depth_first, Growth::best_first, Growth::level}) {
          params.growth = growth;
          compare(data, stats, params, depth == 3 ? 2 : 1);
        }
        params.growth = Growth::depth_first;
        params.rule = SplitRule::random;
        compare(data, stats, params, 2);
        params.rule = SplitRule::best;
        params.multiway = for_classes(c);
        compare(data, stats, params, 2);
        params.multiway = false;
      }
    }
  }
}

TEST(leaves_of_many_rows) {
  // Enough rows for subtrees to become tasks, above and below the last level of a bounded tree.
  const Data data({.n_rows = 60000, .n_features = 4, .seed = 9});
  const std::vector<std::uint32_t> y = make_classes(data.table, 2, 9), two{2};
  const std::vector<double> weight = make_weight(60000, 9, true),
                            real = make_weight(60000, 9, false);
  for (const std::size_t depth : {1u, 2u, 3u, 8u, 100u}) {
    for (const int threads : {1, 2, 5}) {
      TreeParams params;
      params.max_depth = depth;
      compare(data, Stats::shares(y, two, real), params, threads);
      compare(data, Stats::classes(y, two, weight, false), params, threads);
    }
  }
  std::vector<std::uint32_t> few(10);
  const Stats stats = Stats::shares(y, two, real);
  CHECK_THROWS(grow_tree_with_leaves(data.matrix, data.mapper, stats, {}, Context{}, few),
               std::invalid_argument);
}
