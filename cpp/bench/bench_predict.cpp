// Prediction speed in nanoseconds per row and tree: batches on one and two threads, small batches
// and one row. Trees are grown at random by splitting the leaf that most rows reach, so their
// shapes resemble trained ones.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "committee/forest/predict.hpp"

using namespace committee;

namespace {

struct Leaf {
  std::vector<std::uint32_t> rows;
  std::size_t node;
  bool operator<(const Leaf& other) const { return rows.size() < other.rows.size(); }
};

struct Plan {
  std::size_t n_trees, n_leaves, n_features, n_cuts;
};

/// One tree over sample rows `x` (row-major), best-first by size, thresholds at one of n_cuts
/// normal quantiles.
void add_tree(std::mt19937_64& random, const Plan& plan, const std::vector<float>& x,
              ForestArrays& a) {
  std::vector<std::pair<std::size_t, std::size_t>> children(1);
  std::vector<Node> made(1);
  std::vector<Leaf> heap(1);
  heap[0].node = 0;
  for (std::uint32_t r = 0; r < x.size() / plan.n_features; ++r) heap[0].rows.push_back(r);
  for (std::size_t leaves = 1; leaves < plan.n_leaves; ++leaves) {
    std::pop_heap(heap.begin(), heap.end());
    Leaf leaf = std::move(heap.back());
    heap.pop_back();
    const std::size_t f = random() % plan.n_features;
    const std::uint32_t pivot = leaf.rows[random() % leaf.rows.size()];
    const double grid = static_cast<double>(plan.n_cuts) / 6.0;
    const double cut =
        std::clamp(std::floor(x[pivot * plan.n_features + f] * grid) / grid, -3.0, 2.9999);
    made[leaf.node] = {cut, static_cast<std::uint32_t>(f), 0};
    children[leaf.node] = {children.size(), children.size() + 1};
    Leaf part[2];
    for (const std::uint32_t r : leaf.rows)
      part[x[r * plan.n_features + f] > cut].rows.push_back(r);
    for (std::size_t side = 0; side < 2; ++side) {
      part[side].node = children.size() + side;
      if (part[side].rows.empty()) part[side].rows.push_back(pivot);
    }
    children.resize(children.size() + 2);
    made.resize(children.size());
    for (Leaf& p : part) {
      heap.push_back(std::move(p));
      std::push_heap(heap.begin(), heap.end());
    }
  }
  std::vector<std::size_t> order{0};
  for (std::size_t i = 0; i < order.size(); ++i) {
    Node node{std::numeric_limits<double>::infinity(), 0, static_cast<std::uint32_t>(i)};
    if (const auto [left, right] = children[order[i]]; left != 0) {
      node = made[order[i]];
      node.left = static_cast<std::uint32_t>(order.size());
      order.push_back(left);
      order.push_back(right);
    }
    a.nodes.push_back(node);
    a.values.push_back(std::normal_distribution<double>()(random));
  }
  a.tree_begin.push_back(a.nodes.size());
}

template <class F>
double seconds(int repeats, const F& run) {
  double best = 1e9;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

Input dense(const std::vector<float>& x, std::size_t n, std::size_t m) {
  Input input;
  input.n_rows = n;
  input.n_features = m;
  input.dense = {reinterpret_cast<const std::byte*>(x.data()), DType::f32,
                 static_cast<std::ptrdiff_t>(4 * m), 4};
  return input;
}

void measure(const char* name, const Forest& forest, const std::vector<float>& x, std::size_t m) {
  std::vector<double> out(x.size() / m);
  std::printf("%s: %zu trees, %zu nodes, depth of tree 0: %zu\n", name, forest.n_trees(),
              forest.n_nodes(), forest.max_depth(0));
  for (const int threads : {1, 2}) {
    for (const std::size_t n : {out.size(), std::size_t{1000}, std::size_t{100}}) {
      const Input input = dense(x, n, m);
      const double s = seconds(n > 10000 ? 7 : 200, [&] {
        predict(forest, input, {}, {}, std::span(out).first(n), Context{threads, nullptr});
      });
      std::printf("  %d threads %7zu rows: %7.2f ns per row and tree, %9.1f us\n", threads, n,
                  s * 1e9 / static_cast<double>(n * forest.n_trees()), s * 1e6);
    }
  }
  const Input one = dense(x, 1, m);
  const double s = seconds(
      1000, [&] { predict(forest, one, {}, {}, std::span(out).first(1), Context{2, nullptr}); });
  std::printf("  one row: %.2f us\n", s * 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  const Plan plans[] = {{100, 255, 28, 254},  {100, 31, 28, 254},   {1, 255, 28, 254},
                        {100, 255, 28, 4000}, {50, 10000, 28, 254}, {50, 10000, 28, 100000}};
  const char* names[] = {"boosting, 255 leaves", "boosting, 31 leaves", "one tree", "many cuts",
                         "forest, 10000 leaves", "forest, many cuts"};
  std::mt19937_64 random(1);
  std::vector<float> x(100000 * 28);
  for (float& v : x) v = std::normal_distribution<float>()(random);
  for (std::size_t i = 0; i < std::size(plans); ++i) {
    if (argc > 1 && std::atoi(argv[1]) != static_cast<int>(i)) continue;
    const std::vector<float> sample(x.begin(), x.begin() + 20000 * 28);
    ForestArrays a;
    a.n_features = 28;
    for (std::size_t t = 0; t < plans[i].n_trees; ++t) add_tree(random, plans[i], sample, a);
    measure(names[i], Forest(std::move(a)), x, 28);
  }
}
