// Symmetric trees: one question a level, whatever holds the rows, however many threads; and the
// penalty that draws leaves towards 0.
#include "check.hpp"
#include "committee/search/soft_threshold.hpp"
#include "growth_data.hpp"

using namespace growth_test;

namespace {

struct Slopes {
  std::vector<float> gradient, hessian;

  Slopes(const Table& table, std::uint64_t seed) {
    for (const double y : make_y(table, seed)) gradient.push_back(static_cast<float>(-y));
    for (const double w : make_weight(table.n_rows, seed, false)) {
      hessian.push_back(static_cast<float>(w));
    }
  }
  Stats stats(bool ones) const {
    return Stats::gradients(gradient, ones ? std::span<const float>() : hessian);
  }
};

TreeParams params_of(std::size_t depth, double l1 = 0) {
  TreeParams p;
  p.criterion = Criterion::newton;
  p.growth = Growth::symmetric;
  p.max_depth = depth;
  p.l1 = l1;
  p.l2 = 0.5;
  p.min_gain = 0;
  p.min_weight_leaf = 1e-3;
  return p;
}

/// All nodes of a level ask the same, and all leaves are equally deep.
bool symmetric(const ForestArrays& tree) {
  const std::vector<std::size_t> depth = depths(tree);
  std::vector<std::size_t> first(depth.back() + 1, tree.nodes.size());
  for (std::size_t i = 0; i < depth.size(); ++i) {
    if (is_leaf(tree, i) != (depth[i] == depth.back())) return false;
    std::size_t& at = first[depth[i]];
    at = std::min(at, i);
    if (is_leaf(tree, i)) continue;
    const Node &a = tree.nodes[at], &b = tree.nodes[i];
    if (a.feature != b.feature) return false;
    if ((a.feature & kCategorical) == 0 && a.threshold != b.threshold) return false;
    if ((a.feature & kCategorical) == 0) continue;
    const auto words = [&](const Node& node) {
      const auto set = static_cast<std::size_t>(node.threshold);
      return std::vector<std::uint64_t>(
          tree.set_words.begin() + static_cast<std::ptrdiff_t>(tree.set_begin[set]),
          tree.set_words.begin() + static_cast<std::ptrdiff_t>(tree.set_begin[set + 1]));
    };
    if (words(a) != words(b)) return false;
  }
  return tree.nodes.size() == (std::size_t{2} << depth.back()) - 1;
}

}  // namespace

TEST(symmetric_trees_in_all_containers) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Data data({.n_rows = seed == 0 ? 60000u : 700u,
                     .n_features = 6,
                     .missing = seed % 2 == 0 ? 0.1 : 0.0,
                     .zeros = 0.3,
                     .n_categorical = seed % 3,
                     .n_levels = 70,
                     .max_bins = seed == 3 ? 1000u : 63u,
                     .seed = seed});
    const Slopes slopes(data.table, seed);
    for (const bool ones : {false, true}) {
      Stats stats = slopes.stats(ones);
      if (seed == 2) {
        std::vector<RowId> some;
        for (RowId r = 0; r < data.table.n_rows; r += 2) some.push_back(r);
        stats.restrict_to(std::move(some));
      }
      TreeParams params = params_of(5, ones ? 1.5 : 0.0);
      params.min_rows_leaf = ones ? 1 : 7;
      const std::size_t n = data.table.n_rows;
      std::vector<std::uint32_t> leaf(n), other(n);
      const ForestArrays tree =
          grow_tree_with_leaves(data.matrix, data.mapper, stats, params, Context{1}, leaf);
      CHECK(symmetric(tree) && tree.nodes.size() == 63);
      CHECK(leaf == leaves_of(tree, data.dense.input));
      BinnedMatrix columns = data.matrix;
      columns.add_columns(Context{});
      for (const BinnedMatrix& matrix : {std::cref(columns), std::cref(data.sparse_matrix)}) {
        for (const int threads : {1, 3}) {
          CHECK(same_tree(tree, grow_tree_with_leaves(matrix, data.mapper, stats, params,
                                                      Context{threads}, other)));
          CHECK(other == leaf);
        }
      }
    }
  }
}

TEST(symmetric_stumps_are_stumps) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Data data({.n_rows = 10 + 40 * seed,
                     .n_features = 4,
                     .missing = seed % 2 == 0 ? 0.2 : 0.0,
                     .n_values = 9,
                     .n_categorical = seed % 3,
                     .seed = seed});
    const Slopes slopes(data.table, seed);
    const Stats stats = slopes.stats(seed % 4 == 0);
    TreeParams params = params_of(1, seed % 5 == 0 ? 2.0 : 0.0);
    const ForestArrays found = grow_tree(data.matrix, data.mapper, stats, params, Context{});
    params.growth = Growth::level;
    CHECK(same_tree(found, grow_tree(data.matrix, data.mapper, stats, params, Context{})));
  }
}

TEST(symmetric_trees_part_missing_rows_where_the_lowest_bins_are_empty) {
  for (const double highest : {1.0, 3.0}) {
    Table t = binning_test::table(400, 1);
    std::vector<float> gradient(400), hessian(400, 0.25F);
    std::vector<RowId> drawn;
    for (RowId r = 0; r < 400; ++r) {
      const bool missing = r % 3 == 0, rare = r % 40 == 1;
      t.at(r, 0) = missing ? kNaN : rare ? 0.0 : 1.0 + static_cast<double>(r % 2) * (highest - 1);
      gradient[r] = missing ? 1.0F : -1.0F;
      if (!rare || missing) drawn.push_back(r);
    }
    const Data data({.n_rows = 400, .n_features = 1}, std::move(t));
    Stats stats = Stats::gradients(gradient, hessian);
    stats.restrict_to(std::move(drawn));
    TreeParams params = params_of(1);
    const ForestArrays found = grow_tree(data.matrix, data.mapper, stats, params, Context{});
    CHECK(found.count[1] > 100 && found.count[2] > 100);
    params.growth = Growth::level;
    CHECK(same_tree(found, grow_tree(data.matrix, data.mapper, stats, params, Context{})));
  }
}

TEST(symmetric_trees_refuse) {
  const Data data({.n_rows = 50, .n_features = 3});
  const Slopes slopes(data.table, 1);
  const Stats stats = slopes.stats(true);
  const auto grow = [&](const TreeParams& params) {
    return grow_tree(data.matrix, data.mapper, stats, params, Context{});
  };
  TreeParams deep = params_of(17), monotone = params_of(3), random = params_of(3);
  monotone.monotone = {1, 0, 0};
  random.rule = SplitRule::random;
  for (const TreeParams& bad : {deep, monotone, random})
    CHECK_THROWS(grow(bad), std::invalid_argument);
  CHECK_THROWS(grow(params_of(3, -1)), std::invalid_argument);
  CHECK_THROWS(grow_sharded(data.matrix, data.mapper, stats, params_of(3), 2),
               std::invalid_argument);
  CHECK(symmetric(grow(params_of(3))));
}

TEST(soft_thresholds) {
  CHECK(soft_threshold(3, 1) == 2 && soft_threshold(-3, 1) == -2);
  CHECK(soft_threshold(1, 1) == 0 && soft_threshold(-0.5, 1) == 0 &&
        soft_threshold(0.25, 0) == 0.25);
  const double a[] = {-4, 1, 0.5}, b[] = {4, 1, 0};
  double out[3];
  score_thresholded(2, 1, a, b, 3, -3, 5, out);
  const pair::Thresholded score{2, 1};
  CHECK(out[0] == score(-4, 4) + score(1, 1) && out[0] == 4.0 / 5);
  CHECK(out[1] == score(-4, 4) && out[2] == 1.5 * 1.5 / 6);
}
