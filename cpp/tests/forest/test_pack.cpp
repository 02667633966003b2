// Packs give back every forest bit for bit, are small, and are safe to read whoever wrote them.
#include "check.hpp"
#include "committee/bins/row_keys.hpp"
#include "committee/forest/pack.hpp"
#include "committee/growth/forest_growth.hpp"
#include "growth_data.hpp"
#include "random_forest.hpp"

using namespace growth_test;
using committee::testing::ForestShape;
using committee::testing::Random;
using committee::testing::random_arrays;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

bool comes_back(const ForestArrays& arrays) {
  const Forest forest(arrays);
  const std::vector<std::uint8_t> bytes = pack(forest);
  const Forest again = unpack(bytes);
  return same_tree(again.arrays(), arrays) && pack(again) == bytes;
}

double bytes_a_node(const ForestArrays& arrays) {
  return static_cast<double>(pack(Forest(arrays)).size()) /
         static_cast<double>(arrays.nodes.size());
}

ForestArrays lone_leaf(std::size_t n_outputs) {
  ForestArrays a;
  a.n_outputs = n_outputs;
  a.tree_begin = {0, 1};
  a.nodes = {{kInf, 0, 0}};
  a.values.assign(n_outputs, 0.0);
  return a;
}

/// 0 -> (1, 2), 1 -> (5, 6), 2 -> (3, 4): sound, but not in level order.
ForestArrays out_of_order() {
  ForestArrays a;
  a.n_features = 2;
  a.tree_begin = {0, 7};
  a.nodes = {{0.5, 1, 1},
             {-0.0, kCategorical, 5},
             {5e-324, kMissingLeft, 3},
             {kInf, 0, 3},
             {kInf, 0, 4},
             {kInf, 0, 5},
             {kInf, 0, 6}};
  a.values = {0.0, -0.0, 5e-324, 1e308, -1e308, 0.1, 0.1};
  a.set_begin = {0, 2, 3};
  a.set_words = {0, ~std::uint64_t{0}, 7};
  a.weight = {1, 2, 3, 1e308, 1e308, -1, 0};
  a.count = {~std::uint64_t{0}, 1, 2, 3, 4, 5, 6};
  return a;
}

struct Growing {
  Data data;
  std::vector<std::uint32_t> codes;
  std::vector<double> y;

  explicit Growing(const Shape& shape)
      : data(shape), codes(make_classes(data.table, 2, 1)), y(make_y(data.table, 1)) {}

  ForestArrays forest(bool classes, SplitRule rule, std::size_t n_trees) const {
    committee::Target target;
    target.kind = classes ? SumKind::classes : SumKind::regression;
    target.codes = codes;
    target.n_classes = {2};
    target.y = y;
    BagPlan plan;
    plan.draw = Draw::replace;
    plan.size = y.size();
    const Bags bags(row_keys(data.matrix, y, 1, {}), plan);
    TreeParams params;
    params.criterion = classes ? Criterion::gini : Criterion::squared_error;
    params.rule = rule;
    params.node_features = 3;
    return grow_forest(data.matrix, data.mapper, target, bags, params, 0, n_trees, {}).arrays;
  }
};

/// Either a sentence or a forest that can be packed again.
void read_safely(std::span<const std::uint8_t> bytes, std::size_t& n_refused) {
  try {
    const Forest forest = unpack(bytes);
    CHECK(unpack(pack(forest)).n_nodes() == forest.n_nodes());
  } catch (const std::invalid_argument& error) {
    CHECK(std::string(error.what()).size() > 10);
    ++n_refused;
  }
}

}  // namespace

TEST(pack_any_forest_comes_back) {
  Random random(7);
  for (const double categorical : {0.0, 0.4, 1.0}) {
    for (const double chain : {0.0, 1.0}) {
      for (const bool facts : {false, true}) {
        for (const std::size_t n_outputs : {1, 3}) {
          for (const std::size_t n_trees : {0, 1, 30}) {
            CHECK(comes_back(random_arrays(random, {.n_trees = n_trees,
                                                    .max_leaves = 60,
                                                    .n_features = 1 + random() % 300,
                                                    .n_outputs = n_outputs,
                                                    .categorical = categorical,
                                                    .chain = chain,
                                                    .facts = facts})));
          }
        }
      }
    }
  }
  CHECK(comes_back(random_arrays(random, {.n_trees = 4, .n_features = 0})));
}

TEST(pack_odd_forests_come_back) {
  CHECK(comes_back(out_of_order()));
  CHECK(comes_back(ForestArrays{}));
  CHECK(comes_back(lone_leaf(1)));
  CHECK(comes_back(lone_leaf(1000003)));
  CHECK(pack(Forest(lone_leaf(1000003))).size() < 9000);
  ForestArrays wide = lone_leaf(1);
  wide.n_features = std::size_t{kFeatureMask} + 1;
  CHECK(comes_back(wide));
  for (auto* fact : {&wide.gain, &wide.impurity, &wide.weight}) {
    fact->assign(1, -0.0);
    CHECK(comes_back(wide));
    fact->clear();
  }
}

/// The widths of words at which a word straddles, fills or leaves 64 bits.
TEST(pack_words_of_every_width) {
  Random random(3);
  for (int width = 1; width <= 64; ++width) {
    ForestArrays a;
    a.tree_begin.clear();
    for (std::size_t i = 0; i < 150; ++i) {
      a.tree_begin.push_back(i);
      a.nodes.push_back({kInf, 0, 0});
      a.values.push_back(1);
      a.count.push_back(random() >> (64 - width));
    }
    a.tree_begin.push_back(150);
    CHECK(comes_back(a));
  }
}

TEST(pack_grown_forests_are_small) {
  const Growing g({.n_rows = 5000, .n_features = 12, .missing = 0.05, .n_categorical = 3});
  for (const bool classes : {true, false}) {
    for (const SplitRule rule : {SplitRule::best, SplitRule::random}) {
      const ForestArrays arrays = g.forest(classes, rule, 20);
      CHECK(comes_back(arrays));
      CHECK(comes_back(Forest(arrays).slice(3, 9).arrays()));
      const double size = bytes_a_node(arrays);
      std::printf("pack: %s, %s splits: %.2f bytes a node\n", classes ? "classes" : "numbers",
                  rule == SplitRule::best ? "best" : "random", size);
      CHECK(size < (classes && rule == SplitRule::best ? 4 : 7));
      if (classes) {
        const std::uint32_t k[] = {2};
        CHECK(comes_back(Forest(arrays).votes(k).arrays()));
      }
    }
  }
}

TEST(pack_single_trees_keep_all_facts) {
  const Growing g({.n_rows = 800, .n_features = 6, .missing = 0.1, .n_categorical = 2});
  const std::vector<double> weight = make_weight(800, 5, false);
  const std::uint32_t k[] = {2};
  for (const auto& weights : {std::vector<double>{}, weight}) {
    for (const bool classes : {true, false}) {
      TreeParams params;
      params.criterion = classes ? Criterion::gini : Criterion::squared_error;
      const Stats stats = classes ? Stats::classes(g.codes, k, weights, false)
                                  : Stats::regression(g.y, 1, weights, true, false);
      const ForestArrays tree = grow_tree(g.data.matrix, g.data.mapper, stats, params, {});
      CHECK(!tree.gain.empty() && !tree.count.empty());
      CHECK(comes_back(tree));
    }
  }
}

TEST(pack_facts_are_kept_one_by_one) {
  Random random(17);
  const ForestArrays all = random_arrays(random, {.facts = true});
  ForestArrays weighed = all;
  weighed.gain.clear();
  weighed.impurity.clear();
  weighed.count.clear();
  CHECK(comes_back(weighed));
  const Forest first(all), second(weighed);
  const Forest* parts[] = {&first, &second};
  const Forest both = Forest::concatenate(parts);
  CHECK(both.arrays().weight.size() == both.n_nodes());
  CHECK(both.arrays().gain.empty() && both.arrays().count.empty());
  CHECK(comes_back(both.arrays()));
  CHECK(same_tree(both.slice(all.tree_begin.size() - 1, both.n_trees()).arrays(), weighed));
}

TEST(roll_up_gives_means_of_leaves) {
  const Growing g({.n_rows = 1000, .n_features = 6});
  const Stats stats = Stats::regression(g.y, 1, {}, true, false);
  TreeParams params;
  params.criterion = Criterion::squared_error;
  const ForestArrays tree = grow_tree(g.data.matrix, g.data.mapper, stats, params, {});
  ForestArrays rolled = tree;
  roll_up(rolled);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    CHECK(rolled.weight[i] == tree.weight[i]);
    CHECK(is_leaf(tree, i) ? rolled.values[i] == tree.values[i]
                           : close(rolled.values[i], tree.values[i], 1e-12));
  }
}

TEST(roll_up_stays_between_the_children) {
  ForestArrays a;
  a.n_features = 1;
  a.tree_begin = {0, 3};
  a.nodes = {{0.0, 0, 1}, {kInf, 0, 1}, {kInf, 0, 2}};
  const auto rolled = [&](double v_l, double w_l, double v_r, double w_r) {
    a.values = {7, v_l, v_r};
    a.weight = {7, w_l, w_r};
    roll_up(a);
    CHECK(a.weight[0] == w_l + w_r);
    return a.values[0];
  };
  CHECK(rolled(1, 3, 0, 1) == 0.75);
  CHECK(rolled(0.1, 3, 0.1, 7) == 0.1);
  CHECK(rolled(2, 0, 4, 0) == 3);
  CHECK(rolled(1.5e308, 5, 1.5e308, 7) == 1.5e308);
  CHECK(rolled(1.5e308, 5, -1.5e308, 5) == 0);
  a.weight.clear();
  a.values = {7, 1.5e308, 1.0e308};
  roll_up(a);
  CHECK(a.weight.empty() && a.values[0] == 1.25e308);
}

TEST(pack_refuses_with_a_sentence) {
  const std::vector<std::uint8_t> good = pack(Forest(out_of_order()));
  const auto complaint = [](const std::vector<std::uint8_t>& bytes) -> std::string {
    try {
      unpack(bytes);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  const auto says = [&](std::vector<std::uint8_t> bytes, const char* words) {
    return complaint(bytes).find(words) != std::string::npos;
  };
  CHECK(complaint(good).empty());
  CHECK(says({}, "ends early"));
  std::vector<std::uint8_t> bytes = good;
  bytes[0] = 'x';
  CHECK(says(bytes, "does not begin as one"));
  bytes = good;
  bytes[4] = 9;
  CHECK(says(bytes, "is of version 9"));
  bytes = good;
  bytes.push_back(0);
  CHECK(says(bytes, "1 bytes too many"));
  bytes = good;
  bytes.pop_back();
  CHECK(says(bytes, "ends early"));
  bytes.assign(good.begin(), good.begin() + 5);
  for (const std::uint8_t b : {1, 1, 1, 255, 255, 255, 255, 15, 0, 0}) bytes.push_back(b);
  CHECK(says(bytes, "promises more"));
  bytes.assign(good.begin(), good.begin() + 5);
  for (int i = 0; i < 12; ++i) bytes.push_back(255);
  CHECK(says(bytes, "more than 64 bits"));
}

TEST(pack_cut_short_is_refused) {
  Random random(11);
  const Growing g({.n_rows = 60, .n_features = 4, .n_categorical = 1});
  for (const ForestArrays& arrays :
       {out_of_order(), random_arrays(random, {.categorical = 0.5, .facts = true}),
        g.forest(true, SplitRule::best, 3), lone_leaf(5000)}) {
    const std::vector<std::uint8_t> bytes = pack(Forest(arrays));
    for (std::size_t n = 0; n < bytes.size(); ++n) {
      const std::vector<std::uint8_t> part(bytes.begin(),
                                           bytes.begin() + static_cast<std::ptrdiff_t>(n));
      CHECK_THROWS(unpack(part), std::invalid_argument);
    }
  }
}

TEST(pack_with_flipped_bits_is_refused_or_a_forest) {
  Random random(13);
  const Growing g({.n_rows = 40, .n_features = 4, .n_categorical = 1});
  std::size_t n_refused = 0, n_read = 0;
  for (const ForestArrays& arrays :
       {out_of_order(), random_arrays(random, {.n_trees = 3, .categorical = 0.5, .facts = true}),
        random_arrays(random, {.n_trees = 2, .n_outputs = 3}), g.forest(true, SplitRule::best, 3),
        g.forest(false, SplitRule::random, 2)}) {
    const std::vector<std::uint8_t> bytes = pack(Forest(arrays));
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit, ++n_read) {
      std::vector<std::uint8_t> flipped = bytes;
      flipped[bit / 8] ^= static_cast<std::uint8_t>(1 << (bit % 8));
      read_safely(flipped, n_refused);
    }
    for (int i = 0; i < 3000; ++i, ++n_read) {
      std::vector<std::uint8_t> stirred = bytes;
      for (std::size_t n = 1 + random() % 4; n-- > 0;) {
        const std::size_t at = random() % (random() % 2 == 0 ? 24 : stirred.size());
        stirred[at % stirred.size()] = static_cast<std::uint8_t>(random());
      }
      read_safely(stirred, n_refused);
    }
  }
  CHECK(n_refused > n_read / 4);
  CHECK(n_refused < n_read);
}
