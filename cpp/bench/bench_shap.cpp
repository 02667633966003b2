// Speed of Shapley values in nanoseconds per row and leaf: values on one and two threads,
// interactions, and one row. Trees are made at random by splitting the leaf of the largest cover,
// so their shapes resemble trained ones.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <queue>
#include <random>

#include "committee/shap/shap.hpp"

using namespace committee;

namespace {

constexpr std::size_t kTrees = 100, kFeatures = 28, kRows = 2000;

/// One tree in level order.
void add_tree(std::mt19937_64& random, std::size_t n_leaves, ForestArrays& a) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> share(0.1, 0.9);
  std::vector<std::size_t> left{0};
  std::vector<double> cover{1e6};
  std::priority_queue<std::pair<double, std::size_t>> open;
  open.push({1e6, 0});
  for (std::size_t leaves = 1; leaves < n_leaves; ++leaves) {
    const auto [c, node] = open.top();
    open.pop();
    left[node] = left.size();
    const double part = c * share(random);
    for (const double child : {part, c - part}) {
      open.push({child, left.size()});
      left.push_back(0);
      cover.push_back(child);
    }
  }
  std::vector<std::size_t> order{0};
  for (std::size_t i = 0; i < order.size(); ++i) {
    Node node{std::numeric_limits<double>::infinity(), 0, static_cast<std::uint32_t>(i)};
    if (const std::size_t l = left[order[i]]; l != 0) {
      node = {normal(random), static_cast<std::uint32_t>(random() % kFeatures),
              static_cast<std::uint32_t>(order.size())};
      order.push_back(l);
      order.push_back(l + 1);
    }
    a.nodes.push_back(node);
    a.values.push_back(normal(random));
    a.weight.push_back(cover[order[i]]);
  }
  a.tree_begin.push_back(a.nodes.size());
}

/// The best of five runs, in nanoseconds per row and leaf.
template <class Run>
double nanoseconds(std::size_t n_rows, std::size_t n_leaves, const Run& run) {
  double best = 1e30;
  for (int round = 0; round < 5; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count());
  }
  return best / static_cast<double>(n_rows * n_leaves * kTrees);
}

void measure(std::size_t n_leaves) {
  std::mt19937_64 random(1);
  ForestArrays a;
  a.n_features = kFeatures;
  for (std::size_t t = 0; t < kTrees; ++t) add_tree(random, n_leaves, a);
  const Forest forest(std::move(a));
  std::vector<double> x(kRows * kFeatures);
  for (double& v : x) v = std::normal_distribution<double>()(random);
  Input input;
  input.n_rows = kRows;
  input.n_features = kFeatures;
  input.dense = {reinterpret_cast<const std::byte*>(x.data()), DType::f64, 8 * kFeatures, 8};
  const std::size_t width = kFeatures + 1;
  std::vector<double> out(kRows * width), pairs(kRows / 10 * width * width);
  const auto values = [&](int n_threads) {
    return nanoseconds(input.n_rows, n_leaves, [&] {
      shap_values(forest, input, {}, std::span(out).first(input.n_rows * width),
                  Context{n_threads});
    });
  };
  const double one = values(1), two = values(2);
  input.n_rows = kRows / 10;
  const double both = nanoseconds(input.n_rows, n_leaves,
                                  [&] { shap_interactions(forest, input, {}, pairs, Context{1}); });
  input.n_rows = 1;
  std::printf(
      "%5zu leaves: values %5.2f, on two threads %5.2f, interactions %6.2f, one row %6.2f\n",
      n_leaves, one, two, both, values(1));
}

}  // namespace

int main() {
  std::printf("nanoseconds per row and leaf, %zu trees, %zu features\n", kTrees, kFeatures);
  for (const std::size_t n_leaves : {2, 8, 31, 255, 2000}) measure(n_leaves);
}
