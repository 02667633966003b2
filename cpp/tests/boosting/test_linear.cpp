// Linear leaves by hand, and the same bits on any number of threads and in any form of input.
#include <cmath>

#include "check.hpp"
#include "committee/base/random.hpp"
#include "committee/boosting/linear.hpp"

using namespace committee;

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

Input dense(const std::vector<double>& values, std::size_t n_rows, std::size_t n_features) {
  Input input;
  input.n_rows = n_rows;
  input.n_features = n_features;
  const auto width = static_cast<std::ptrdiff_t>(sizeof(double));
  input.dense = {reinterpret_cast<const std::byte*>(values.data()), DType::f64,
                 static_cast<std::ptrdiff_t>(n_features) * width, width};
  return input;
}

/// x0 <= 0 or missing on the left; on the right a category parts nodes 3 and 4.
ForestArrays small_tree() {
  ForestArrays a;
  a.n_features = 2;
  a.tree_begin = {0, 5};
  const double inf = std::numeric_limits<double>::infinity();
  a.nodes = {
      {0.0, kMissingLeft, 1}, {inf, 0, 1}, {0.0, 1u | kCategorical, 3}, {inf, 0, 3}, {inf, 0, 4}};
  a.values = {0, -1.2, 0, 5, 7};
  a.set_begin = {0, 1};
  a.set_words = {1};
  return a;
}

}  // namespace

TEST(linear_leaf_by_hand) {
  // On the left y = 1 + 2 x0 for x0 = -4, -2, -1, -1, and y = 6 where x0 is missing; g = -y.
  const std::vector<double> rows{-4, 0, -2, 0, -1, 0, -1, 0, kNone, 0, 3, 0, 4, 0, 5, 1};
  const std::vector<float> g{7, 3, 1, 1, -6, 1, 1, 1};
  const std::vector<std::uint32_t> leaf{1, 1, 1, 1, 1, 3, 3, 4};
  const ForestArrays tree = small_tree();
  const Input input = dense(rows, 8, 2);
  const LinearTerms terms = fit_linear_leaves(tree, {input, g, {}, leaf, {}, 0, 0}, Context{1});
  const std::vector<std::uint64_t> begin{0, 0, 1, 1, 1, 1};  // the right has too few rows
  CHECK(terms.begin == begin);
  CHECK(terms.feature[0] == 0);
  CHECK(std::abs(terms.slope[0] - 2) < 1e-12);
  CHECK(std::abs(terms.level[1] - -7) < 1e-12);
  CHECK(terms.low[0] == -4 && terms.high[0] == -1);

  const LinearForest forest(Forest(tree), terms);
  const std::vector<double> asked{-2, 0, -9, 0, -0.5, 0, kNone, 0, 3, 0, 3, 1};
  const std::vector<double> expected{-3, -7, -1, -1.2, 5, 7};
  std::vector<double> out(6), weight{0.5}, intercept{1};
  predict(forest, dense(asked, 6, 2), {}, {}, out, Context{1});
  for (std::size_t r = 0; r < 6; ++r) CHECK(std::abs(out[r] - expected[r]) < 1e-12);
  predict(forest, dense(asked, 6, 2), weight, intercept, out, Context{1});
  for (std::size_t r = 0; r < 6; ++r) CHECK(std::abs(out[r] - 1 - expected[r] / 2) < 1e-12);

  // The squares around the mean of -2 sum to 6: as large a penalty halves the slope.
  const LinearTerms bound = fit_linear_leaves(tree, {input, g, {}, leaf, {}, 0, 6}, Context{1});
  CHECK(std::abs(bound.slope[0] - 1) < 1e-12);
  // From -3 at the mean it goes down to -7; half of that way ends at -5.
  const LinearTerms flat = fit_linear_leaves(tree, {input, g, {}, leaf, {}, 0, 0, 5}, Context{1});
  CHECK(std::abs(flat.slope[0] - 1) < 1e-12 && std::abs(flat.level[1] - -5) < 1e-12);
  const LinearTerms least = fit_linear_leaves(tree, {input, g, {}, leaf, {}, 0, 0, 2}, Context{1});
  CHECK(least.slope[0] == 0 && least.level[1] == -2);
  // The mean over the whole rows is -3; the constant was cut, and says nothing of those that miss.
  ForestArrays cut = tree;
  cut.values[1] = -1;
  const LinearTerms of_cut = fit_linear_leaves(cut, {input, g, {}, leaf, {}, 0, 0, 1}, Context{1});
  CHECK(of_cut.slope[0] == 0 && of_cut.level[1] == -1);
  // Three drawn rows are enough for a line, and lie on the same.
  const std::vector<RowId> drawn{0, 1, 2, 5};
  const LinearTerms few = fit_linear_leaves(tree, {input, g, {}, leaf, drawn, 0, 0}, Context{1});
  CHECK(std::abs(few.slope[0] - 2) < 1e-12 && few.begin == begin);
}

TEST(linear_leaves_are_the_same_on_any_number_of_threads) {
  const std::size_t n = 40000;
  std::vector<double> rows, weight;
  std::vector<float> g, h;
  std::vector<std::uint32_t> leaf;
  for (std::size_t r = 0; r < n; ++r) {
    const std::uint64_t bits = mix(3, r);
    const double x = static_cast<double>(bits % 1001) / 500 - 1;
    rows.push_back(bits >> 60 == 0 ? kNone : x);
    rows.push_back(static_cast<double>(bits >> 20 & 1));
    g.push_back(static_cast<float>(bits >> 30 & 1023) / 512 - 1);
    h.push_back(static_cast<float>(bits >> 44 & 255) / 256);
    leaf.push_back(x <= 0 || bits >> 60 == 0 ? 1 : 3 + static_cast<std::uint32_t>(bits >> 20 & 1));
  }
  const ForestArrays tree = small_tree();
  const Input input = dense(rows, n, 2);
  std::vector<double> first;
  for (const int threads : {1, 3}) {
    const Context context{threads};
    const LinearTerms terms = fit_linear_leaves(tree, {input, g, h, leaf, {}, 1, 1}, context);
    CHECK(terms.slope.size() == 3);
    std::vector<double> raw(n, 0.25), out(n), start{0.25};
    add_linear_leaves(tree, terms, input, leaf, 0.1, raw, context);
    const std::vector<double> rate{0.1};
    predict(LinearForest(Forest(tree), terms), input, rate, start, out, context);
    CHECK(raw == out);  // the fit moves scores by the bits of a prediction
    if (first.empty()) first = raw;
    CHECK(raw == first);
  }
}
