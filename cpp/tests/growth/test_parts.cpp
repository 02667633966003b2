// Rows in parts: one split by hand, and everything that must not change.
#include "check.hpp"
#include "committee/growth/parts.hpp"
#include "growth_data.hpp"

using namespace growth_test;

namespace {

TreeParams in_parts() {
  TreeParams params;
  params.in_parts = true;
  return params;
}

std::vector<double> asked(const ForestArrays& tree, const Input& input, int n_threads = 1) {
  std::vector<double> out(input.n_rows * tree.n_outputs);
  predict_in_parts(Forest(tree), input, out, Context{n_threads});
  return out;
}

}  // namespace

TEST(parts_one_split_by_hand) {
  // Known: 1 1 2 go to class 0 0 1; two rows of class 1 and 0 do not know.
  const Data data({.n_rows = 5, .n_features = 1}, columns({{1, 1, 2, kNaN, kNaN}}));
  const std::vector<std::uint32_t> codes{0, 0, 1, 1, 0};
  const std::uint32_t two[1] = {2};
  const ForestArrays tree = grow_tree_in_parts(
      data.matrix, data.mapper, Stats::divisible(codes, two, {}), in_parts(), Context{});
  CHECK(tree.nodes.size() == 3 && tree.nodes[0].threshold == 1.5);
  // Two thirds of both go left, one third right; Gini among the three known: 3 (1 - 5/9) = 4/3.
  CHECK(close(tree.weight[1], 2 + 4.0 / 3) && close(tree.weight[2], 1 + 2.0 / 3));
  CHECK(close(tree.values[2], (2 + 2.0 / 3) / (2 + 4.0 / 3)));
  CHECK(close(tree.values[5], (1 + 1.0 / 3) / (1 + 2.0 / 3)));
  CHECK(close(tree.gain[0], 4.0 / 3));
  CHECK((tree.count == std::vector<std::uint64_t>{5, 3, 1}));  // rounded down
  const std::vector<double> out = asked(tree, data.dense.input);
  CHECK(out[0] == tree.values[2] && out[4] == tree.values[4]);
  CHECK(close(out[6], 0.6) && close(out[7], 0.4));  // who knows nothing gets the root's shares
}

TEST(parts_of_whole_rows_are_the_rows) {
  const Data data({.n_rows = 400, .n_features = 5, .n_values = 30, .n_categorical = 2});
  const auto codes = make_classes(data.table, 3, 7);
  const std::uint32_t three[1] = {3};
  for (const bool integers : {true, false}) {
    const std::vector<double> weight = make_weight(400, 3, integers);
    TreeParams params;
    params.min_rows_leaf = 2;
    params.criterion = Criterion::entropy;
    const ForestArrays whole = grow_tree(
        data.matrix, data.mapper, Stats::classes(codes, three, weight, true), params, Context{});
    params.in_parts = true;
    const ForestArrays parts = grow_tree_in_parts(
        data.matrix, data.mapper, Stats::divisible(codes, three, weight), params, Context{});
    CHECK(same_bits(whole.nodes, parts.nodes) && whole.count == parts.count);
    CHECK(whole.set_words == parts.set_words);
    for (std::size_t i = 0; i < whole.values.size(); ++i)
      CHECK(close(whole.values[i], parts.values[i]));
  }
}

TEST(parts_do_not_depend_on_threads_layout_or_how_profiles_are_read) {
  const Shape shape{.n_rows = 600, .n_features = 40, .missing = 0.3, .zeros = 0.2};
  const Data data(shape);
  const auto codes = make_classes(data.table, 2, 7);
  const std::uint32_t two[1] = {2};
  const std::vector<double> weight = make_weight(600, 3, false);
  const Stats stats = Stats::divisible(codes, two, weight);
  TreeParams params = in_parts();
  params.min_rows_leaf = 3;
  const ForestArrays tree = grow_tree_in_parts(data.matrix, data.mapper, stats, params, Context{1});
  CHECK(tree.nodes.size() > 20);
  CHECK(same_tree(tree, grow_tree_in_parts(data.matrix, data.mapper, stats, params, Context{3})));
  CHECK(same_tree(tree,
                  grow_tree_in_parts(data.sparse_matrix, data.mapper, stats, params, Context{1})));
  CHECK(same_bits(asked(tree, data.dense.input), asked(tree, data.sparse.input, 3)));
}

TEST(parts_refuse_what_cannot_be_divided) {
  const Data data({.n_rows = 20, .n_features = 2, .missing = 0.2});
  const auto codes = make_classes(data.table, 2, 7);
  const std::uint32_t two[1] = {2};
  const Stats whole = Stats::classes(codes, two, {}, true);
  CHECK_THROWS(grow_tree_in_parts(data.matrix, data.mapper, whole, in_parts(), Context{}),
               std::invalid_argument);
  const Stats stats = Stats::divisible(codes, two, {});
  CHECK_THROWS(grow_tree_in_parts(data.matrix, data.mapper, stats, TreeParams{}, Context{}),
               std::invalid_argument);
  ForestArrays bare = grow_tree_in_parts(data.matrix, data.mapper, stats, in_parts(), Context{});
  bare.weight.clear();
  CHECK_THROWS(asked(bare, data.dense.input), std::invalid_argument);
}
