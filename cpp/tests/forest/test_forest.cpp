// The forest's gate: every kind of damage is refused with the array and index named, and what
// passes is usable.
#include <cstring>
#include <optional>

#include "check.hpp"
#include "committee/forest/forest.hpp"
#include "committee/forest/predict.hpp"
#include "random_forest.hpp"

using namespace committee;
using namespace committee::testing;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNaN = std::nan("");

/// Two trees: 0 -> (1, 2), 2 -> (3, 4) with a category set at node 2; and a lone leaf.
ForestArrays sample() {
  ForestArrays a;
  a.n_features = 3;
  a.n_outputs = 2;
  a.tree_begin = {0, 5, 6};
  a.nodes = {{0.5, 1, 1},  {kInf, 0, 1}, {0.0, 2 | kCategorical | kMissingLeft, 3},
             {kInf, 0, 3}, {kInf, 0, 4}, {kInf, 0, 0}};
  a.values.assign(12, 1.0);
  a.set_begin = {0, 2};
  a.set_words = {5, 6};
  a.gain.assign(6, 0.0);
  a.impurity.assign(6, 0.0);
  a.weight.assign(6, 1.0);
  a.count.assign(6, 1);
  return a;
}

std::string complaint(const ForestArrays& a) {
  try {
    Forest forest(a);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

template <class Damage>
bool refuses(const Damage& damage, const char* words) {
  ForestArrays a = sample();
  damage(a);
  const std::string said = complaint(a);
  if (said.find(words) != std::string::npos) return true;
  std::printf("expected '%s', got '%s'\n", words, said.c_str());
  return false;
}

bool same_bits(const ForestArrays& a, const ForestArrays& b) {
  return a.n_features == b.n_features && a.n_outputs == b.n_outputs &&
         a.tree_begin == b.tree_begin && a.values == b.values && a.set_begin == b.set_begin &&
         a.set_words == b.set_words && a.gain == b.gain && a.impurity == b.impurity &&
         a.weight == b.weight && a.count == b.count && a.nodes.size() == b.nodes.size() &&
         (a.nodes.empty() ||
          std::memcmp(a.nodes.data(), b.nodes.data(), a.nodes.size() * sizeof(Node)) == 0);
}

#define REFUSES(damage, words) CHECK(refuses([](ForestArrays& a) { damage; }, words))

}  // namespace

TEST(forest_accepts_sound_arrays) {
  CHECK(complaint(sample()).empty());
  const Forest forest(sample());
  CHECK(forest.n_trees() == 2 && forest.n_nodes() == 6);
  CHECK(forest.max_depth(0) == 2 && forest.max_depth(1) == 0);
  CHECK(forest.has_categorical(0) && !forest.has_categorical(1));
  CHECK(forest.used_features().size() == 2 && forest.used_features()[0] == 1);
  CHECK(Forest(ForestArrays{}).n_trees() == 0);
}

TEST(forest_refuses_wrong_sizes) {
  REFUSES(a.values.pop_back(), "values has 11 entries, must have 12");
  REFUSES(a.gain.pop_back(), "gain has 5 entries, must have 6 or none");
  REFUSES(a.impurity.push_back(0), "impurity has 7");
  REFUSES(a.weight.push_back(0), "weight has 7");
  REFUSES(a.count.push_back(0), "count has 7");
  REFUSES(a.n_outputs = 0, "n_outputs is 0");
  REFUSES(a.n_outputs = (std::size_t{1} << 63), "n_outputs is");
  REFUSES(a.n_outputs = std::numeric_limits<std::size_t>::max() / 6 + 1 + 2, "n_outputs is");
  REFUSES(a.n_features = (std::size_t{1} << 30) + 1, "n_features is");
  REFUSES(a.nodes.clear(), "values has 12 entries, must have 0");
}

TEST(forest_refuses_wrong_offsets) {
  REFUSES(a.tree_begin.clear(), "tree_begin is empty");
  REFUSES(a.tree_begin[0] = 1, "tree_begin[0] is 1, must be 0");
  REFUSES(a.tree_begin[1] = 0, "tree_begin[1] is 0, must be greater than 0");
  REFUSES(a.tree_begin[1] = 6, "tree_begin[2] is 6, must be greater than 6");
  REFUSES(a.tree_begin[1] = ~std::uint64_t{0}, "tree_begin[1] is 18446744073709551615");
  REFUSES(a.tree_begin.pop_back(), "tree_begin[1] is 5, must be 6");
  REFUSES(a.set_begin.clear(), "set_begin is empty");
  REFUSES(a.set_begin[1] = 3, "set_begin[1] is 3");
  REFUSES(a.set_begin = (std::vector<std::uint64_t>{0, 0, 2}), "set_begin[1] is 0");
  REFUSES(a.set_words.clear(), "set_begin[1] is 2");
}

TEST(forest_refuses_wrong_nodes) {
  REFUSES(a.nodes[2].left = 1, "nodes[2].left is 1, must be greater than 2 and below 4");
  REFUSES(a.nodes[2].left = 4, "nodes[2].left is 4, must be greater than 2 and below 4");
  REFUSES(a.nodes[2].left = 0xFFFFFFFFu, "nodes[2].left is 4294967295");
  REFUSES(a.nodes[0].left = 2, "nodes[1] is the child of no node");
  REFUSES((a.nodes[1] = {0.5, 0, 2}), "nodes[1].left is 2, but node 2 of tree 0 has a parent");
  REFUSES((a.nodes[0] = {kInf, 0, 0}), "nodes[1] is the child of no node");
  REFUSES(a.nodes[5].left = 1, "nodes[5].left is 1");
  REFUSES(a.nodes[0].feature = 3, "nodes[0].feature is 3, must be below 3");
  REFUSES(a.nodes[1].feature = 1, "nodes[1].feature is 1, must be 0");
  REFUSES(a.nodes[1].feature = kMissingLeft, "nodes[1].feature");
  REFUSES(a.nodes[1].threshold = 1.0, "nodes[1].threshold");
  REFUSES(a.nodes[1].threshold = -kInf, "nodes[1].threshold");
  REFUSES(a.nodes[1].threshold = kNaN, "nodes[1].threshold");
  REFUSES(a.nodes[0].threshold = kNaN, "nodes[0].threshold is nan, must be finite");
  REFUSES(a.nodes[0].threshold = kInf, "nodes[0].threshold is inf, must be finite");
  REFUSES(a.nodes[2].threshold = 1, "nodes[2].threshold is 1");
  REFUSES(a.nodes[2].threshold = 0.5, "nodes[2].threshold is 0.5");
  REFUSES(a.nodes[2].threshold = -1, "nodes[2].threshold is -1");
  REFUSES(a.nodes[2].threshold = kNaN, "nodes[2].threshold is");
}

TEST(forest_refuses_numbers_that_are_not_finite) {
  REFUSES(a.values[7] = kNaN, "values[7]");
  REFUSES(a.gain[2] = kInf, "gain[2]");
  REFUSES(a.impurity[5] = -kInf, "impurity[5]");
  REFUSES(a.weight[0] = kNaN, "weight[0]");
}

TEST(forest_chain_of_a_million_nodes) {
  ForestArrays a;
  a.n_features = 1;
  const std::uint32_t splits = 1000000;
  for (std::uint32_t i = 0; i < splits; ++i) {
    // Level order of a chain: the split at level i is node 2i (the root: 0), its sibling leaf 2i
    // - 1.
    if (i > 0) a.nodes.push_back({kInf, 0, 2 * i - 1});
    a.nodes.push_back({static_cast<double>(i), 0, 2 * i + 1});
  }
  a.nodes.push_back({kInf, 0, 2 * splits - 1});
  a.nodes.push_back({kInf, 0, 2 * splits});
  a.values.assign(a.nodes.size(), 1.0);
  a.tree_begin.push_back(a.nodes.size());
  const Forest forest(a);
  CHECK(forest.max_depth(0) == splits);
  const double x[2] = {1e9, 499999.5};
  std::uint32_t leaf[2];
  Input input;
  input.n_rows = 2;
  input.n_features = 1;
  input.dense = {reinterpret_cast<const std::byte*>(x), DType::f64, 8, 8};
  apply(forest, input, leaf, Context{});
  CHECK(leaf[0] == 2 * splits && leaf[1] == 2 * 500000 + 1);
}

TEST(forest_slice_and_concatenate_are_inverse) {
  Random random(11);
  for (int round = 0; round < 30; ++round) {
    ForestShape shape;
    shape.n_trees = 1 + below(random, 6);
    shape.n_outputs = 1 + below(random, 3);
    shape.categorical = round % 2 == 0 ? 0.4 : 0.0;
    shape.facts = round % 3 == 0;
    const Forest whole(random_arrays(random, shape));
    const std::size_t cut = below(random, shape.n_trees + 1);
    const Forest head = whole.slice(0, cut), tail = whole.slice(cut, shape.n_trees);
    CHECK(head.n_trees() == cut);
    const Forest* parts[] = {&head, &tail};
    CHECK(same_bits(Forest::concatenate(parts).arrays(), whole.arrays()));
  }
  const Forest whole(sample());
  const Forest* same[] = {&whole, &whole};
  const Forest twice = Forest::concatenate(same);
  CHECK(twice.n_trees() == 4 && twice.arrays().set_begin.size() == 3);
  CHECK(same_bits(twice.slice(2, 4).arrays(), sample()));
  CHECK_THROWS(whole.slice(1, 3), std::invalid_argument);
  CHECK_THROWS(whole.slice(2, 1), std::invalid_argument);
  CHECK_THROWS(Forest::concatenate({}), std::invalid_argument);
  ForestArrays other = sample();
  other.n_features = 4;
  const Forest different(other);
  const Forest* mixed[] = {&whole, &different};
  CHECK_THROWS(Forest::concatenate(mixed), std::invalid_argument);
}

TEST(forest_revalued_keeps_all_but_values) {
  const Forest forest(sample());
  std::vector<double> values(18);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  const Forest other = forest.revalued(values, 3);
  ForestArrays expected = sample();
  expected.n_outputs = 3;
  expected.values = values;
  CHECK(same_bits(other.arrays(), expected));
  CHECK(other.max_depth(0) == 2 && other.has_categorical(0) && !other.has_categorical(1));
  CHECK(same_bits(forest.revalued(sample().values, 2).arrays(), sample()));
  const auto said = [&](std::size_t n_outputs) -> std::string {
    try {
      forest.revalued(values, n_outputs);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  CHECK(said(2) == "forest: values has 18 entries, must have 12");
  CHECK(said(0) == "forest: n_outputs is 0, must be at least 1");
  values[7] = kNaN;
  CHECK(said(3).find("forest: values[7] is") == 0);
}

TEST(forest_facts_survive_only_where_all_have_them) {
  ForestArrays bare = sample();
  bare.gain.clear();
  const Forest a(sample()), b(bare);
  const Forest* parts[] = {&a, &b};
  const Forest both = Forest::concatenate(parts);
  CHECK(both.arrays().gain.empty() && both.arrays().count.size() == 12);
}

namespace {

std::uint64_t odd_number(Random& random) {
  switch (below(random, 5)) {
    case 0:
      return 0;
    case 1:
      return ~std::uint64_t{0};
    case 2:
      return random();
    default:
      return below(random, 40);
  }
}

double odd_double(Random& random) {
  const double choices[] = {kNaN, kInf, -kInf, -1.0, 0.5, 1e300, 3.0, -0.0};
  return choices[below(random, std::size(choices))];
}

/// Overwrites one random entry of one array.
void mutate(Random& random, ForestArrays& a) {
  const auto offset = [&](std::vector<std::uint64_t>& v) {
    v[below(random, v.size())] = odd_number(random);
  };
  const auto number = [&](std::vector<double>& v) {
    v[below(random, v.size())] = odd_double(random);
  };
  Node& node = a.nodes[below(random, a.nodes.size())];
  switch (below(random, 10)) {
    case 0:
      return offset(a.tree_begin);
    case 1:
      return offset(a.set_begin);
    case 2:
      return number(a.values);
    case 3:
      return number(a.gain);
    case 4:
      a.n_features = odd_number(random);
      return;
    case 5:
      a.n_outputs = odd_number(random);
      return;
    case 6:
      node.threshold = odd_double(random);
      return;
    case 7:
      node.feature ^= std::uint32_t{1} << below(random, 32);
      return;
    default:
      node.left = static_cast<std::uint32_t>(odd_number(random));
  }
}

}  // namespace

TEST(forest_with_one_damaged_entry_throws_or_predicts) {
  Random random(5);
  std::size_t passed = 0;
  for (int round = 0; round < 3000; ++round) {
    ForestShape shape;
    shape.categorical = 0.3;
    shape.facts = true;
    shape.n_features = 4;
    ForestArrays a = random_arrays(random, shape);
    mutate(random, a);
    std::optional<Forest> forest;
    try {
      forest.emplace(std::move(a));
    } catch (const std::invalid_argument&) {
      continue;
    }
    const std::size_t n_features = forest->arrays().n_features;
    if (n_features > 100) continue;
    ++passed;
    std::vector<double> x(11 * n_features), out(11 * forest->arrays().n_outputs);
    for (double& v : x) v = chance(random, 0.1) ? kNaN : stock(random);
    Input input;
    input.n_rows = 11;
    input.n_features = n_features;
    input.dense = {reinterpret_cast<const std::byte*>(x.data()), DType::f64,
                   static_cast<std::ptrdiff_t>(8 * n_features), 8};
    predict(*forest, input, {}, {}, out, Context{});
  }
  CHECK(passed > 100 && passed < 2900);
}
