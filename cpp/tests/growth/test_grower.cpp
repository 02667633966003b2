// The grower's protocol, driven by hand on a handful of rows.
#include "check.hpp"
#include "growth_data.hpp"

using namespace growth_test;

namespace {

/// Four rows, one feature: 0 0 1 1 by class.
struct Fixture {
  Data data{{.n_rows = 4, .n_features = 1}, columns({{1, 2, 3, 4}})};
  std::vector<std::uint32_t> codes{0, 0, 1, 1};
  std::uint32_t two[1] = {2};
  Stats stats = Stats::classes(codes, two, {}, false);
  TreeParams params;

  Histogram histogram(std::span<const RowId> rows) const {
    Histogram h(data.matrix.histogram_size() * stats.width, 0);
    accumulate(data.matrix, stats, rows, h);
    return h;
  }
  std::vector<std::int64_t> totals() const {
    std::vector<std::int64_t> raw(stats.width, 0);
    for (const RowId r : stats.counted_rows()) stats.add_row(r, raw.data());
    return raw;
  }
};

}  // namespace

TEST(grower_protocol) {
  const Fixture f;
  const SplitSearch search(f.params, f.data.mapper, f.stats);
  Grower grower(f.params, search, f.stats, 1);
  grower.start(f.totals(), {4, false});
  CHECK((grower.wanted() == std::vector<NodeId>{0}));
  CHECK(grower.wanted().empty());
  const Histogram h = f.histogram(f.stats.counted_rows());
  grower.feed(0, HistogramProfiles(f.data.matrix, f.stats, h), Context{});
  CHECK((grower.splits() == std::vector<NodeId>{0}));
  const Split& split = grower.pending(0);
  CHECK(split.found() && split.threshold == 2.5 && split.bin == 1);
  CHECK_THROWS(grower.pending(1), std::invalid_argument);
  CHECK(grower.node(0).left == 1 && grower.size() == 3);
  double sums[2];
  f.stats.decode(grower.sums(1).data(), sums);
  CHECK(sums[0] == 2 && sums[1] == 0);
  grower.describe(1, {2, false});
  grower.describe(2, {2, false});
  CHECK(grower.wanted().empty());  // both pure
  CHECK(grower.splits().empty());
  const ForestArrays tree = grower.finish({});
  CHECK(tree.nodes.size() == 3 && tree.nodes[0].left == 1 && is_leaf(tree, 1) && is_leaf(tree, 2));
  CHECK((tree.values == std::vector<double>{0.5, 0.5, 1, 0, 0, 1}));
  CHECK((tree.count == std::vector<std::uint64_t>{4, 2, 2}) && tree.gain[0] == 2 &&
        tree.impurity[0] == 0.5);
}

TEST(grower_constant_target_is_not_split) {
  const Data data({.n_rows = 6, .n_features = 2});
  const std::vector<double> y(6, 0.1);
  const Stats stats = Stats::regression(y, 1, {}, true, false);
  TreeParams params;
  params.criterion = Criterion::squared_error;
  const ForestArrays tree = grow_tree(data.matrix, data.mapper, stats, params, Context{});
  CHECK(tree.nodes.size() == 1 && tree.values[0] == 0.1 && tree.impurity[0] == 0);
  CHECK(row_facts(stats, stats.counted_rows()).constant_target);
}

TEST(grower_detach_and_graft) {
  const Data data({.n_rows = 800, .n_features = 4, .missing = 0.1, .n_categorical = 1, .seed = 3});
  const std::vector<std::uint32_t> codes = make_classes(data.table, 3, 3);
  const std::uint32_t three[] = {3};
  const Stats stats = Stats::classes(codes, three, {}, false);
  TreeParams params;
  params.interactions = {{0, 1, 3}, {2, 3}};
  const SplitSearch search(params, data.mapper, stats);
  const auto grow_below = [&](Grower& grower, auto& self, NodeId id, std::vector<RowId> rows,
                              bool detach) -> void {
    Histogram h(data.matrix.histogram_size() * stats.width, 0);
    accumulate(data.matrix, stats, rows, h);
    Split split;
    if (!grower.find(id, HistogramProfiles(data.matrix, stats, h), Context{}, split)) return;
    const NodeId left = grower.apply(id, split);
    std::vector<RowId> side[2];
    for (const RowId r : rows) {
      side[split.goes_left(data.matrix.code(r, split.feature), data.matrix.n_bins[split.feature])
               ? 0
               : 1]
          .push_back(r);
    }
    for (NodeId k = 0; k < 2; ++k) {
      grower.describe(left + k, {side[k].size(), false});
      if (!grower.node(left + k).open) continue;
      if (detach) {
        Grower branch = grower.detach(left + k);
        self(branch, self, 0, side[k], rows.size() > 100);
        grower.graft(left + k, std::move(branch));
      } else {
        self(grower, self, left + k, side[k], false);
      }
    }
  };
  std::vector<std::int64_t> totals(stats.width, 0);
  for (const RowId r : stats.counted_rows()) stats.add_row(r, totals.data());
  const ForestArrays expected = grow_tree(data.matrix, data.mapper, stats, params, Context{});
  CHECK(expected.nodes.size() > 50);
  for (const bool detach : {false, true}) {
    Grower grower(params, search, stats, 4);
    grower.start(totals, {800, false});
    grow_below(grower, grow_below, 0, stats.counted_rows(), detach);
    CHECK(same_tree(grower.finish({}), expected));
  }
}

TEST(grower_extreme_weights) {
  const Data data({.n_rows = 60, .n_features = 2, .seed = 5});
  const std::vector<double> y = make_y(data.table, 5);
  const std::vector<std::uint32_t> codes = make_classes(data.table, 2, 5);
  const std::uint32_t two[] = {2};
  for (const double scale : {1e300, 1e-300, 5e-324}) {
    std::vector<double> weight(60, scale);
    for (std::size_t r = 0; r < 60; r += 7) weight[r] = 3 * scale;
    TreeParams params;
    CHECK(count_leaves(grow_tree(data.matrix, data.mapper,
                                 Stats::classes(codes, two, weight, false), params, {})) > 2);
    params.criterion = Criterion::squared_error;
    params.min_weight_leaf = 3 * scale;
    const ForestArrays tree = grow_tree(
        data.matrix, data.mapper, Stats::regression(y, 1, weight, true, false), params, Context{});
    CHECK(count_leaves(tree) > 2);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      CHECK(std::isfinite(tree.weight[i]) && std::isfinite(tree.values[i]) &&
            tree.weight[i] >= 3 * scale * (1 - 1e-9));
    }
  }
}

TEST(grower_tiny_targets) {
  // The square of y's scale is zero in float64; a bound of zero on the gain must not refuse every
  // split.
  const Data data({.n_rows = 4, .n_features = 1}, columns({{1, 2, 3, 4}}));
  const std::vector<double> y{0, 0, 1e-200, 1e-200};
  TreeParams params;
  params.criterion = Criterion::squared_error;
  const Stats stats = Stats::regression(y, 1, {}, true, false);
  CHECK(grow_tree(data.matrix, data.mapper, stats, params, Context{}).nodes.size() == 3);
  params.min_gain = 0;
  CHECK(grow_tree(data.matrix, data.mapper, stats, params, Context{}).nodes.size() == 3);
}

TEST(grower_equal_weights_meet_the_limit) {
  // Ten rows of 0.1: five weigh 0.5.
  const Data data({.n_rows = 10, .n_features = 1}, columns({{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}}));
  const std::vector<double> y{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, weight(10, 0.1);
  TreeParams params;
  params.criterion = Criterion::squared_error;
  params.min_weight_leaf = 0.5;
  const Stats stats = Stats::regression(y, 1, weight, true, false);
  CHECK(grow_tree(data.matrix, data.mapper, stats, params, Context{}).nodes.size() == 3);
}
