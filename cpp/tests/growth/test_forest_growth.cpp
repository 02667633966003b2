// Forests against the trees they are made of: each member is the tree of its own bag and seed,
// whatever is grown beside it and on how many threads. And what is asked of the rows left out.
#include "check.hpp"
#include "committee/bins/row_keys.hpp"
#include "committee/forest/pack.hpp"
#include "committee/growth/forest_growth.hpp"
#include "growth_data.hpp"

using namespace growth_test;

namespace {

struct Case {
  Data data;
  std::vector<std::uint32_t> codes, more_codes;
  std::vector<double> y;
  Bags bags;

  Case(const Shape& shape, Draw draw)
      : data(shape),
        codes(make_classes(data.table, 2, shape.seed)),
        more_codes(make_classes(data.table, 4, shape.seed)),
        y(make_y(data.table, shape.seed)),
        bags(row_keys(data.matrix, y, 1, {}), plan(draw, shape)) {}

  static BagPlan plan(Draw draw, const Shape& shape) {
    BagPlan p;
    p.draw = draw;
    p.size = shape.n_rows * 2 / 3;
    p.seed = shape.seed;
    return p;
  }
  committee::Target target(int kind) const {
    committee::Target t;
    t.codes = kind == 0 ? codes : more_codes;
    t.n_classes = {kind == 0 ? 2u : 4u};
    if (kind == 2) {
      t.kind = SumKind::regression;
      t.y = y;
    }
    return t;
  }
};

TreeParams params_of(int kind, std::size_t node_features, SplitRule rule = SplitRule::best) {
  TreeParams p;
  p.criterion = kind == 2 ? Criterion::squared_error : Criterion::gini;
  p.node_features = node_features;
  p.rule = rule;
  p.seed = 17;
  return p;
}

Stats stats_of(const committee::Target& t, std::span<const double> weight) {
  return t.kind == SumKind::classes ? Stats::classes(t.codes, t.n_classes, weight, false)
                                    : Stats::regression(t.y, 1, weight, true, false);
}

/// As a forest keeps a tree.
ForestArrays without_facts(ForestArrays tree) {
  tree.gain.clear();
  tree.impurity.clear();
  tree.count.clear();
  roll_up(tree);
  return tree;
}

}  // namespace

TEST(forest_members_are_the_trees_of_their_bags) {
  for (const Draw draw : {Draw::all, Draw::replace, Draw::subset, Draw::exponential}) {
    const Case c({.n_rows = 400, .n_features = 7, .missing = 0.1, .n_categorical = 2}, draw);
    for (int kind = 0; kind < 3; ++kind) {
      const committee::Target target = c.target(kind);
      const TreeParams params = params_of(kind, 3);
      const GrownForest grown = grow_forest(c.data.matrix, c.data.mapper, target, c.bags, params, 2,
                                            7, Context{2, nullptr});
      const Forest forest(grown.arrays);
      CHECK(forest.n_trees() == 5);
      for (std::size_t i = 0; i < 5; ++i) {
        std::vector<double> weight(400);
        c.bags.draw(2 + i, weight);
        TreeParams own = params;
        own.seed = mix(params.seed, 2 + i);
        const ForestArrays tree = grow_tree(c.data.matrix, c.data.mapper, stats_of(target, weight),
                                            own, Context{1, nullptr});
        CHECK(same_tree(forest.slice(i, i + 1).arrays(), without_facts(tree)));
        double sum = 0;
        for (std::size_t f = 0; f < 7; ++f) sum += grown.importances[i * 7 + f];
        CHECK(std::abs(sum - 1) < 1e-12);
      }
    }
  }
}

TEST(forest_same_bits_for_threads_and_batches) {
  const Case c({.n_rows = 3000, .n_features = 12, .missing = 0.05, .n_categorical = 3},
               Draw::replace);
  for (int kind = 0; kind < 3; ++kind) {
    const committee::Target target = c.target(kind);
    const TreeParams params = params_of(kind, 4);
    const auto grow = [&](std::size_t begin, std::size_t end, int threads) {
      return grow_forest(c.data.matrix, c.data.mapper, target, c.bags, params, begin, end,
                         Context{threads, nullptr});
    };
    const GrownForest alone = grow(0, 9, 1);
    for (const int threads : {2, 4, 7}) {
      const GrownForest together = grow(0, 9, threads);
      CHECK(same_tree(together.arrays, alone.arrays));
      CHECK(same_bits(together.importances, alone.importances));
    }
    const Forest first(grow(0, 4, 2).arrays), rest(grow(4, 9, 3).arrays);
    const Forest* parts[] = {&first, &rest};
    CHECK(same_tree(Forest::concatenate(parts).arrays(), alone.arrays));
  }
}

/// Few drawn features are summed apart from the histograms; shards always sum histograms.
TEST(forest_drawn_features_decide_as_histograms_do) {
  for (const std::size_t max_bins : {std::size_t{255}, std::size_t{1000}}) {
    for (const SplitRule rule : {SplitRule::best, SplitRule::random}) {
      const Case c(
          {.n_rows = 2500, .n_features = 9, .missing = 0.1, .n_values = 40, .max_bins = max_bins},
          Draw::replace);
      for (int kind = 0; kind < 3; ++kind) {
        std::vector<double> weight(2500);
        c.bags.draw(3, weight);
        const Stats stats = stats_of(c.target(kind), weight);
        TreeParams params = params_of(kind, 2, rule);
        const ForestArrays tree =
            grow_tree(c.data.matrix, c.data.mapper, stats, params, Context{1, nullptr});
        CHECK(same_tree(
            tree, grow_tree(c.data.matrix, c.data.mapper, stats, params, Context{3, nullptr})));
        params.growth = Growth::level;
        CHECK(same_tree(tree, grow_sharded(c.data.matrix, c.data.mapper, stats, params, 2)));
        CHECK(same_tree(tree, grow_tree(c.data.sparse_matrix, c.data.mapper, stats, params,
                                        Context{2, nullptr})));
      }
    }
  }
}

TEST(forest_constant_features_are_drawn_past) {
  std::vector<std::vector<double>> x(8, std::vector<double>(200, 1.0));
  std::vector<std::uint32_t> codes(200);
  for (std::size_t r = 0; r < 200; ++r) {
    x[5][r] = static_cast<double>(r);
    codes[r] = r % 3 == 0 ? 1 : 0;
  }
  const Data data({.n_rows = 200, .n_features = 8}, columns(x));
  const std::uint32_t k[] = {2};
  TreeParams params = params_of(0, 1);
  const ForestArrays tree =
      grow_tree(data.matrix, data.mapper, Stats::classes(codes, k, {}, false), params, Context{});
  CHECK(count_leaves(tree) == 134);
}

TEST(forest_balanced_bags_weigh_classes_alike) {
  const Case c({.n_rows = 300, .n_features = 4}, Draw::replace);
  for (int kind = 0; kind < 2; ++kind) {
    committee::Target target = c.target(kind);
    const GrownForest plain = grow_forest(c.data.matrix, c.data.mapper, target, c.bags,
                                          params_of(kind, 0), 0, 1, Context{});
    target.balanced = true;
    const GrownForest grown = grow_forest(c.data.matrix, c.data.mapper, target, c.bags,
                                          params_of(kind, 0), 0, 1, Context{});
    const std::size_t n_classes = target.n_classes[0];
    std::vector<double> weight(300), sum(n_classes, 0.0);
    c.bags.draw(0, weight);
    double total = 0, present = 0;
    for (std::size_t r = 0; r < 300; ++r) sum[target.codes[r]] += weight[r];
    for (const double s : sum) total += s, present += s > 0 ? 1 : 0;
    for (std::size_t k = 0; k < n_classes; ++k) {
      const double share = sum[k] > 0 ? 1 / present : 0;
      CHECK(std::abs(grown.arrays.values[k] - share) < 1e-9);
      CHECK(std::abs(plain.arrays.values[k] - sum[k] / total) < 1e-12);
    }
  }
}

TEST(forest_limits_of_weight_follow_the_bag) {
  const Case c({.n_rows = 500, .n_features = 4}, Draw::subset);
  TreeParams params = params_of(2, 0);
  params.min_weight_leaf = 0.2;
  const GrownForest grown =
      grow_forest(c.data.matrix, c.data.mapper, c.target(2), c.bags, params, 0, 3, Context{});
  const Forest forest(grown.arrays);
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<double> weight(500);
    c.bags.draw(i, weight);
    const ForestArrays tree = forest.slice(i, i + 1).arrays();
    const std::vector<std::uint32_t> leaf = leaves_of(tree, c.data.dense.input);
    std::vector<double> sum(tree.nodes.size(), 0.0);
    double total = 0;
    for (std::size_t r = 0; r < 500; ++r) sum[leaf[r]] += weight[r], total += weight[r];
    CHECK(count_leaves(tree) >= 2);
    for (std::size_t n = 0; n < sum.size(); ++n) {
      if (is_leaf(tree, n)) CHECK(sum[n] >= 0.2 * total * (1 - 1e-5));
    }
  }
}

TEST(forest_left_out_rows_by_brute_force) {
  for (const std::size_t n_rows : {std::size_t{61}, std::size_t{5000}}) {
    const Case c({.n_rows = n_rows, .n_features = 5, .missing = 0.1}, Draw::replace);
    const Forest forest(grow_forest(c.data.matrix, c.data.mapper, c.target(1), c.bags,
                                    params_of(1, 2), 0, 11, Context{2, nullptr})
                            .arrays);
    const std::size_t n_bytes = (n_rows + 7) / 8;
    std::vector<std::uint8_t> bits(11 * n_bytes);
    for (std::size_t t = 0; t < 11; ++t)
      c.bags.left_out(t, std::span(bits).subspan(t * n_bytes, n_bytes));
    std::vector<double> member(11 * n_rows * 4), want(n_rows * 4, 0.0), got(n_rows * 4, 7.0);
    std::vector<std::uint32_t> count(n_rows, 9), count_want(n_rows, 0);
    predict_members(forest, c.data.dense.input, member, Context{});
    for (std::size_t t = 0; t < 11; ++t) {
      std::vector<double> weight(n_rows);
      c.bags.draw(t, weight);
      for (std::size_t r = 0; r < n_rows; ++r) {
        if (weight[r] > 0) continue;
        ++count_want[r];
        for (std::size_t k = 0; k < 4; ++k) want[r * 4 + k] += member[(t * n_rows + r) * 4 + k];
      }
    }
    for (const int threads : {1, 3}) {
      predict_left_out(forest, c.data.dense.input, bits, got, count, Context{threads, nullptr});
      CHECK(same_bits(got, want));
      CHECK(count == count_want);
    }
  }
}

TEST(forest_votes_are_one_hot) {
  ForestArrays a;
  a.n_features = 1;
  a.n_outputs = 5;
  a.nodes = {Node{std::numeric_limits<double>::infinity(), 0, 0}};
  a.tree_begin = {0, 1};
  a.values = {0.25, 0.5, 0.25, 0.5, 0.5};
  const std::uint32_t k[] = {3, 2};
  const Forest votes = Forest(a).votes(k);
  CHECK((votes.arrays().values == std::vector<double>{0, 1, 0, 1, 0}));
  const std::uint32_t wrong[] = {3, 3}, none[] = {5, 0};
  CHECK_THROWS(Forest(a).votes(wrong), std::invalid_argument);
  CHECK_THROWS(Forest(a).votes(none), std::invalid_argument);
}

TEST(forest_growth_refuses_what_does_not_fit) {
  const Case c({.n_rows = 50, .n_features = 3}, Draw::replace);
  const Case other({.n_rows = 40, .n_features = 3}, Draw::replace);
  const TreeParams params = params_of(0, 0);
  const auto grow = [&](const committee::Target& t, const Bags& bags, std::size_t begin) {
    grow_forest(c.data.matrix, c.data.mapper, t, bags, params, begin, 3, Context{});
  };
  CHECK_THROWS(grow(other.target(0), c.bags, 0), std::invalid_argument);
  CHECK_THROWS(grow(c.target(0), other.bags, 0), std::invalid_argument);
  CHECK_THROWS(grow(c.target(0), c.bags, 4), std::invalid_argument);
  CHECK_THROWS(grow(c.target(2), c.bags, 0), std::invalid_argument);
  committee::Target factor = c.target(0);
  factor.factor = other.y;
  CHECK_THROWS(grow(factor, c.bags, 0), std::invalid_argument);
}
