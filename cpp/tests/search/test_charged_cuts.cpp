// C4.5's charge for the cuts of numeric features (Quinlan 1996), by numbers that a hand can check;
// gains and charges are in nats, summed over the rows.
#include "check.hpp"
#include "growth_data.hpp"

using namespace growth_test;

namespace {

const std::uint32_t kTwo[] = {2};

ForestArrays grow_charged(const Data& data, const std::vector<std::uint32_t>& y, bool charged,
                          std::span<const double> weight = {}) {
  TreeParams params;
  params.criterion = Criterion::gain_ratio;
  params.max_depth = 1;
  params.charged_cuts = charged;
  const Stats stats = Stats::classes(y, kTwo, weight, false);
  const ForestArrays tree = grow_tree(data.matrix, data.mapper, stats, params, Context{});
  CHECK(same_tree(tree, grow_tree(data.sparse_matrix, data.mapper, stats, params, Context{})));
  CHECK(same_tree(tree, grow_sharded(data.matrix, data.mapper, stats, params, 2)));
  return tree;
}

}  // namespace

TEST(charged_cut_must_gain_more_than_its_name_costs) {
  // The cut behind the first of four rows gains 4 ln 2 - 3 H(1/3) = 0.863; to name one of three
  // cuts costs ln 3 = 1.099, and one of two ln 2 = 0.693.
  const std::vector<std::uint32_t> y{0, 1, 0, 1};
  const Data four({.n_rows = 4, .n_features = 1}, columns({{0, 1, 2, 3}}));
  CHECK(grow_charged(four, y, false).nodes.size() == 3);
  CHECK(grow_charged(four, y, true).nodes.size() == 1);
  const Data three({.n_rows = 4, .n_features = 1}, columns({{0, 1, 1, 2}}));
  CHECK(grow_charged(three, {0, 1, 1, 0}, true).nodes[0].threshold == 0.5);
  // Weights are in the units of the gain, and so is what a name costs.
  for (const double w : {0.5, 3.0, 1000.0}) {
    const std::vector<double> weight(4, w);
    CHECK(grow_charged(four, y, true, weight).nodes.size() == 1);
    CHECK(grow_charged(three, {0, 1, 1, 0}, true, weight).nodes.size() == 3);
  }
  // A single cut has no name, but must gain something.
  const Data two({.n_rows = 4, .n_features = 1}, columns({{0, 0, 1, 1}}));
  CHECK(grow_charged(two, y, false).nodes.size() == 3);
  CHECK(grow_charged(two, y, true).nodes.size() == 1);
  CHECK(grow_charged(two, {0, 1, 1, 1}, true).nodes.size() == 3);
}

TEST(charged_cuts_change_which_feature_wins) {
  // The first feature: 0 0 0 | 1 0 1 1 1 gains 8 ln 2 - 5 H(1/5) = 3.043, and one of seven cuts
  // costs ln 7 = 1.946. The second: 0 0 | 0 0 1 1 1 1 gains 8 ln 2 - 6 H(1/3) = 1.726 for nothing.
  const std::vector<std::uint32_t> y{0, 0, 0, 1, 0, 1, 1, 1};
  const std::vector<double> many{0, 1, 2, 3, 4, 5, 6, 7}, once{0, 0, 1, 1, 1, 1, 1, 1};
  const Data pair({.n_rows = 8, .n_features = 2}, columns({many, once}));
  const ForestArrays plain = grow_charged(pair, y, false), charged = grow_charged(pair, y, true);
  CHECK(feature_of(plain, 0) == 0 && plain.nodes[0].threshold == 2.5);
  CHECK(feature_of(charged, 0) == 1 && charged.nodes[0].threshold == 0.5);
  // With a third value it has two cuts, and 1.726 - ln 2 = 1.033 is below 3.043 - ln 7 = 1.097;
  // levels of a category have no cuts to name.
  const std::vector<double> twice{0, 0, 1, 1, 2, 1, 2, 2};
  const Data numbers({.n_rows = 8, .n_features = 2}, columns({many, twice}));
  CHECK(feature_of(grow_charged(numbers, y, true), 0) == 0);
  const Data levels({.n_rows = 8, .n_features = 2, .n_categorical = 1, .n_levels = 3},
                    columns({many, twice}));
  CHECK(feature_of(grow_charged(levels, y, true), 0) == 1);
  // What is written into the tree is the gain itself.
  CHECK(close(grow_charged(numbers, y, true).gain[0], plain.gain[0]));
}

TEST(charged_cuts_leave_random_ones_alone) {
  const Data four({.n_rows = 4, .n_features = 1}, columns({{0, 1, 2, 3}}));
  const std::vector<std::uint32_t> y{0, 1, 0, 1};
  TreeParams params;
  params.criterion = Criterion::gain_ratio;
  params.rule = SplitRule::random;
  params.max_depth = 1;
  params.charged_cuts = true;
  const Stats stats = Stats::classes(y, kTwo, {}, false);
  std::size_t n_split = 0;  // a cut in the middle gains nothing, which is refused
  for (params.seed = 0; params.seed < 20; ++params.seed) {
    n_split += grow_tree(four.matrix, four.mapper, stats, params, Context{}).nodes.size() / 3;
  }
  CHECK(n_split > 5 && n_split < 20);
}
