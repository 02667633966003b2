// Shapley values against their definition: a sum over all coalitions of features. Trees with
// missing values, categories, features that a path asks again and again, and nodes without cover.
#include <cstring>

#include "check.hpp"
#include "committee/forest/predict.hpp"
#include "committee/shap/shap.hpp"
#include "random_table.hpp"

using namespace committee;
using namespace committee::testing;

namespace {

/// What output k of a tree says of a row of which only the features of a coalition are known.
double game(const ForestArrays& a, std::size_t tree, std::size_t k, const double* row,
            std::size_t known, std::uint32_t at = 0) {
  const std::size_t self = a.tree_begin[tree] + at;
  const Node& node = a.nodes[self];
  if (node.left == at) return a.values[self * a.n_outputs + k];
  if ((known >> (node.feature & kFeatureMask) & 1) != 0) {
    const bool left = oracle_goes_left(a, node, row);
    return game(a, tree, k, row, known, node.left + (left ? 0 : 1));
  }
  const double* cover = a.weight.data() + a.tree_begin[tree] + node.left;
  const double both = cover[0] + cover[1], left = both > 0 ? cover[0] / both : 0.5;
  return left * game(a, tree, k, row, known, node.left) +
         (1 - left) * game(a, tree, k, row, known, node.left + 1);
}

double factorial(std::size_t n) { return n < 2 ? 1.0 : static_cast<double>(n) * factorial(n - 1); }

/// Values and interactions of one row and output, by the definition.
struct Oracle {
  std::vector<double> value, pair;

  Oracle(const ForestArrays& a, const std::vector<double>& weight, std::size_t k,
         const double* row) {
    const std::size_t m = a.n_features, width = m + 1;
    std::vector<double> said(std::size_t{1} << m, 0.0);
    for (std::size_t s = 0; s < said.size(); ++s) {
      for (std::size_t t = 0; t + 1 < a.tree_begin.size(); ++t)
        said[s] += (weight.empty() ? 1.0 : weight[t]) * game(a, t, k, row, s);
    }
    value.assign(width, 0.0);
    pair.assign(width * width, 0.0);
    value[m] = pair[width * width - 1] = said[0];
    for (std::size_t i = 0; i < m; ++i) {
      const std::size_t with_i = std::size_t{1} << i;
      for (std::size_t s = 0; s < said.size(); ++s) {
        if ((s & with_i) != 0) continue;
        const auto n = static_cast<std::size_t>(std::popcount(s));
        value[i] +=
            factorial(n) * factorial(m - n - 1) / factorial(m) * (said[s | with_i] - said[s]);
        for (std::size_t j = 0; j < m; ++j) {
          const std::size_t with_j = std::size_t{1} << j;
          if (j == i || (s & with_j) != 0) continue;
          pair[i * width + j] +=
              factorial(n) * factorial(m - n - 2) / (2 * factorial(m - 1)) *
              (said[s | with_i | with_j] - said[s | with_i] - said[s | with_j] + said[s]);
        }
      }
      pair[i * width + i] = value[i];
      for (std::size_t j = 0; j < m; ++j)
        if (j != i) pair[i * width + i] -= pair[i * width + j];
    }
  }
};

std::vector<double> values(const Forest& forest, const Input& input, int n_threads = 1,
                           const std::vector<double>& weight = {}) {
  const ForestArrays& a = forest.arrays();
  std::vector<double> out(input.n_rows * (a.n_features + 1) * a.n_outputs, 9.0);
  shap_values(forest, input, weight, out, Context{n_threads});
  return out;
}

std::vector<double> interactions(const Forest& forest, const Input& input, int n_threads = 1,
                                 const std::vector<double>& weight = {}) {
  const std::size_t k = forest.arrays().n_outputs, width = forest.arrays().n_features + 1;
  std::vector<double> out(input.n_rows * width * width * k, 9.0);
  shap_interactions(forest, input, weight, out, Context{n_threads});
  return out;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

bool near(double a, double b) { return std::fabs(a - b) <= 1e-9; }

/// Random trees with a random cover, `empty` of the nodes without any.
ForestArrays covered(Random& random, ForestShape shape, double empty = 0.0) {
  shape.facts = true;
  ForestArrays a = random_arrays(random, shape);
  std::uniform_real_distribution<double> cover(0.01, 10.0);
  for (double& w : a.weight) w = chance(random, empty) ? 0.0 : cover(random);
  return a;
}

bool agrees(const Forest& forest, const Table& table, const std::vector<double>& weight) {
  const ForestArrays& a = forest.arrays();
  const std::size_t width = a.n_features + 1, n_outputs = a.n_outputs;
  const std::vector<double> value = values(forest, table.input, 1, weight);
  const std::vector<double> pair = interactions(forest, table.input, 1, weight);
  bool right = true;
  for (std::size_t r = 0; r < table.input.n_rows; ++r) {
    for (std::size_t k = 0; k < n_outputs; ++k) {
      const Oracle want(a, weight, k, table.rows.data() + r * a.n_features);
      for (std::size_t i = 0; i < width; ++i)
        right &= near(value[(r * width + i) * n_outputs + k], want.value[i]);
      for (std::size_t i = 0; i < width * width; ++i)
        right &= near(pair[(r * width * width + i) * n_outputs + k], want.pair[i]);
    }
  }
  return right;
}

/// One split of feature 1 at zero, with a quarter of the cover and 5 left, 1 right.
ForestArrays two_leaves() {
  ForestArrays a;
  a.n_features = 3;
  a.nodes = {{0.0, 1, 1},
             {std::numeric_limits<double>::infinity(), 0, 1},
             {std::numeric_limits<double>::infinity(), 0, 2}};
  a.tree_begin = {0, 3};
  a.values = {2.0, 5.0, 1.0};
  a.weight = {4.0, 1.0, 3.0};
  return a;
}

}  // namespace

TEST(shap_two_leaves_by_hand) {
  Random random(1);
  Table table = dense_table(random, 2, 3, DType::f64, Layout::c_order, 0.0);
  auto* x = reinterpret_cast<double*>(table.bytes.data());
  x[1] = -1.0;
  x[4] = std::nan("");  // goes right
  const Forest forest(two_leaves());
  // Without the feature (5 + 3 * 1) / 4 = 2.
  CHECK((values(forest, table.input) == std::vector<double>{0, 3, 0, 2, 0, -1, 0, 2}));
  CHECK((values(forest, table.input, 1, {-2.0}) == std::vector<double>{0, -6, 0, -4, 0, 2, 0, -4}));
  std::vector<double> pairs(32, 0.0);
  pairs[5] = 3;
  pairs[21] = -1;
  pairs[15] = pairs[31] = 2;
  CHECK(interactions(forest, table.input) == pairs);
}

TEST(shap_equals_the_sum_over_coalitions) {
  Random random(2);
  for (std::size_t round = 0; round < 60; ++round) {
    ForestShape shape;
    shape.n_trees = 1 + below(random, 3);
    shape.n_features = 1 + below(random, 5);
    shape.n_outputs = 1 + below(random, 3);
    shape.max_leaves = 2 + below(random, 14);
    shape.categorical = round % 3 == 0 ? 0.4 : 0.0;
    const Forest forest(covered(random, shape, round % 4 == 0 ? 0.2 : 0.0));
    std::vector<double> weight;
    for (std::size_t t = 0; round % 2 == 0 && t < shape.n_trees; ++t)
      weight.push_back(std::uniform_real_distribution<double>(-2, 2)(random));
    const Table table = dense_table(random, 1 + below(random, 11), shape.n_features, DType::f64,
                                    Layout::c_order, 0.2);
    CHECK(agrees(forest, table, weight));
  }
}

TEST(shap_long_paths_of_many_features) {
  // Ten features: five points of the rule; chains ask each of them several times.
  Random random(3);
  for (const double chain : {0.0, 1.0}) {
    ForestShape shape;
    shape.n_trees = 2;
    shape.n_features = 10;
    shape.max_leaves = 60;
    shape.chain = chain;
    const Forest forest(covered(random, shape));
    CHECK(agrees(forest, dense_table(random, 3, 10, DType::f32, Layout::f_order, 0.1), {}));
  }
}

TEST(shap_adds_up_to_the_prediction) {
  Random random(4);
  for (const std::size_t n_features : {std::size_t{8}, std::size_t{90}}) {
    ForestShape shape;
    shape.n_trees = 20;
    shape.n_features = n_features;
    shape.n_outputs = 2;
    shape.max_leaves = 300;
    shape.categorical = 0.2;
    shape.chain = 0.3;  // with 90 features paths of more than 80
    const Forest forest(covered(random, shape));
    const Table table = dense_table(random, 30, n_features, DType::f64, Layout::padded, 0.1);
    std::vector<double> weight(20, 0.25), said(60);
    predict(forest, table.input, weight, {}, said, Context{});
    const std::vector<double> value = values(forest, table.input, 1, weight);
    const std::vector<double> pair = interactions(forest, table.input, 1, weight);
    const std::size_t width = n_features + 1;
    for (std::size_t r = 0; r < 30; ++r) {
      for (std::size_t k = 0; k < 2; ++k) {
        double sum = 0.0;
        for (std::size_t i = 0; i < width; ++i) {
          sum += value[(r * width + i) * 2 + k];
          double line = 0.0;
          for (std::size_t j = 0; j < width; ++j) {
            line += pair[((r * width + i) * width + j) * 2 + k];
            CHECK(pair[((r * width + i) * width + j) * 2 + k] ==
                  pair[((r * width + j) * width + i) * 2 + k]);
          }
          CHECK(near(line, value[(r * width + i) * 2 + k]));
        }
        CHECK(near(sum, said[r * 2 + k]));
      }
    }
  }
}

TEST(shap_same_bits_for_threads_batches_and_containers) {
  Random random(5);
  ForestShape shape;
  shape.n_trees = 10;
  shape.max_leaves = 40;
  shape.n_features = 7;
  const Forest forest(covered(random, shape));
  const Table sparse = sparse_table(random, 301, 7, DType::f64, true, 0.6, 0.1);
  Table dense;
  dense.input.n_rows = 301;
  dense.input.n_features = 7;
  dense.input.dense = {reinterpret_cast<const std::byte*>(sparse.rows.data()), DType::f64, 56, 8};
  const std::vector<double> all = values(forest, dense.input);
  const std::vector<double> pairs = interactions(forest, dense.input);
  CHECK(same_bits(all, values(forest, dense.input, 3)));
  CHECK(same_bits(all, values(forest, sparse.input, 2)));
  CHECK(same_bits(pairs, interactions(forest, sparse.input, 3)));
  for (std::size_t r = 0; r < 301; r += 37) {
    Input one = dense.input;
    one.n_rows = 1;
    one.dense.data += 56 * r;
    CHECK(std::memcmp(values(forest, one).data(), all.data() + r * 8, 64) == 0);
    CHECK(std::memcmp(interactions(forest, one).data(), pairs.data() + r * 64, 512) == 0);
  }
}

TEST(shap_of_lone_leaves_and_no_rows) {
  Random random(6);
  ForestShape shape;
  shape.max_leaves = 1;
  const ForestArrays a = covered(random, shape);
  const Forest forest(a);
  const Table table = dense_table(random, 9, 6, DType::i16, Layout::c_order, 0.0);
  double sum = 0.0;
  for (const double v : a.values) sum += v;
  std::vector<double> want(9 * 7, 0.0);
  for (std::size_t r = 0; r < 9; ++r) want[r * 7 + 6] = sum;
  CHECK(values(forest, table.input) == want);
  CHECK(interactions(forest, table.input)[48] == sum);
  CHECK(values(forest, dense_table(random, 0, 6, DType::f64, Layout::c_order, 0).input).empty());
  CHECK(values(Forest(ForestArrays{}), Input{}).empty());
}

TEST(shap_refuses_what_it_cannot_know) {
  Random random(7);
  const Table table = dense_table(random, 4, 3, DType::f64, Layout::c_order, 0.0);
  ForestArrays bare = two_leaves(), negative = two_leaves();
  bare.weight.clear();
  negative.weight[2] = -1.0;
  for (const ForestArrays& a : {bare, negative}) {
    CHECK_THROWS(values(Forest(a), table.input), std::invalid_argument);
    CHECK_THROWS(interactions(Forest(a), table.input), std::invalid_argument);
  }
  const Forest forest(two_leaves());
  CHECK_THROWS(values(forest, table.input, 1, {1.0, 1.0}), std::invalid_argument);
  std::vector<double> small(7);
  CHECK_THROWS(shap_values(forest, table.input, {}, small, Context{}), std::invalid_argument);
  CHECK_THROWS(shap_interactions(forest, table.input, {}, small, Context{}), std::invalid_argument);
  const Table wide = dense_table(random, 4, 5, DType::f64, Layout::c_order, 0.0);
  CHECK_THROWS(values(forest, wide.input), std::invalid_argument);
}
