// Pruning: small trees with answers computed by hand, random trees against the textbook's quadratic
// weakest-link search, and chains of a million nodes.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "check.hpp"
#include "committee/forest/prune.hpp"

using namespace committee;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

bool near(double a, double b, double tolerance = 1e-12) { return std::fabs(a - b) <= tolerance; }

// shape[i] = 1: node i splits. Level order makes the children follow by counting.
ForestArrays make_tree(const std::vector<std::uint8_t>& shape, std::size_t n_outputs = 1) {
  ForestArrays tree;
  tree.n_features = 3;
  tree.n_outputs = n_outputs;
  const std::size_t n = shape.size();
  std::uint32_t next = 1;
  for (std::uint32_t i = 0; i < n; ++i) {
    tree.nodes.push_back(shape[i] ? Node{0.5, 1, next} : Node{kInf, 0, i});
    if (shape[i]) next += 2;
  }
  tree.tree_begin = {0, n};
  tree.values.assign(n * n_outputs, 0.5);
  tree.gain.assign(n, 1.0);
  tree.impurity.assign(n, 0.0);
  tree.weight.assign(n, 1.0);
  tree.count.assign(n, 1);
  return tree;
}

// Splits on every left (or right) child: n odd.
std::vector<std::uint8_t> chain(std::size_t n, bool right) {
  std::vector<std::uint8_t> shape(n, 0);
  shape[0] = n > 1;
  for (std::size_t i = right ? 2 : 1; i + 2 < n; i += 2) shape[i] = 1;
  return shape;
}

struct Random {
  std::uint64_t state;
  std::uint64_t next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
  }
};

// Random shape; impurities of integers over 64 make exact ties, also between a node and its
// descendants.
ForestArrays random_tree(Random& random, std::size_t splits) {
  std::vector<std::uint8_t> shape{0};
  for (std::size_t s = 0, at = 0; s < splits; ++at) {
    const bool last_open = at + 1 == shape.size();
    if (!last_open && random.next() % 2) continue;
    shape[at] = 1;
    shape.insert(shape.end(), {0, 0});
    ++s;
  }
  ForestArrays tree = make_tree(shape);
  for (std::size_t i = shape.size(); i-- > 0;) {
    const std::size_t left = tree.nodes[i].left;
    tree.impurity[i] = static_cast<double>(random.next() % 8) / 64;
    if (left != i) tree.impurity[i] += tree.impurity[left] + tree.impurity[left + 1];
  }
  return tree;
}

// Breiman's procedure word by word: collapse the weakest node, uppermost among equals, and look
// again.
PruningPath slow_path(const ForestArrays& tree) {
  const std::size_t n = tree.nodes.size();
  std::vector<std::uint8_t> leaf(n);
  for (std::size_t i = 0; i < n; ++i) leaf[i] = tree.nodes[i].left == i;
  PruningPath path;
  double alpha = 0.0;
  while (true) {
    std::vector<double> branch(n);
    std::vector<double> leaves(n);
    std::vector<std::uint8_t> alive(n, 0);
    alive[0] = 1;
    for (std::size_t i = 0; i < n; ++i) {
      if (alive[i] && !leaf[i]) alive[tree.nodes[i].left] = alive[tree.nodes[i].left + 1] = 1;
    }
    std::size_t weakest = n;
    double least = kInf;
    for (std::size_t i = n; i-- > 0;) {
      const std::size_t left = tree.nodes[i].left;
      branch[i] = leaf[i] ? tree.impurity[i] : branch[left] + branch[left + 1];
      leaves[i] = leaf[i] ? 1 : leaves[left] + leaves[left + 1];
      const double g = leaf[i] ? kInf : (tree.impurity[i] - branch[i]) / (leaves[i] - 1);
      if (alive[i] && g <= least && !leaf[i]) least = g, weakest = i;
    }
    path.alphas.push_back(alpha);
    path.impurities.push_back(branch[0]);
    if (weakest == n) return path;
    leaf[weakest] = 1;
    alpha = least;
  }
}

// The impurity of the tree minimal for alpha, read from a path: ties may stand in any order.
double impurity_at(const PruningPath& path, double alpha) {
  const auto after = std::upper_bound(path.alphas.begin(), path.alphas.end(), alpha);
  return path.impurities[static_cast<std::size_t>(after - path.alphas.begin()) - 1];
}

double leaf_impurity(const ForestArrays& tree) {
  double total = 0.0;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    if (tree.nodes[i].left == i) total += tree.impurity[i] * tree.weight[i];
  }
  return total;
}

}  // namespace

TEST(prune_path_by_hand) {
  // Root 10 rows; left child 6 rows splits again for little, right child is pure.
  ForestArrays tree = make_tree({1, 1, 0, 0, 0});
  tree.weight = {10, 6, 4, 3, 3};
  tree.impurity = {0.5, 0.2, 0.0, 0.1, 0.2};
  const PruningPath path = cost_complexity_path(tree);
  CHECK(path.alphas.size() == 3 && path.impurities.size() == 3);
  CHECK(path.alphas[0] == 0.0 && near(path.alphas[1], 0.03) && near(path.alphas[2], 0.38));
  CHECK(near(path.impurities[0], 0.09) && near(path.impurities[1], 0.12) &&
        near(path.impurities[2], 0.5));
  CHECK(cost_complexity_cut(tree, 0.029) == (std::vector<std::uint8_t>{0, 0, 0, 0, 0}));
  CHECK(cost_complexity_cut(tree, path.alphas[1]) == (std::vector<std::uint8_t>{0, 1, 0, 0, 0}));
  CHECK(collapse(tree, cost_complexity_cut(tree, path.alphas[2])).nodes.size() == 1);
  CHECK(collapse(tree, cost_complexity_cut(tree, kInf)).nodes.size() == 1);
}

TEST(prune_takes_a_strong_link_with_its_weak_ancestor) {
  // The upper split alone gains nothing, the lower one all: they go together at the mean of both.
  ForestArrays tree = make_tree({1, 1, 0, 0, 0});
  tree.impurity = {0.4, 0.4, 0.0, 0.0, 0.0};
  const PruningPath path = cost_complexity_path(tree);
  CHECK(path.alphas.size() == 2 && near(path.alphas[1], 0.2) && near(path.impurities[1], 0.4));
}

TEST(prune_zero_gain_stays_for_alpha_zero) {
  ForestArrays tree = make_tree({1, 0, 0});
  CHECK(cost_complexity_path(tree).alphas == (std::vector<double>{0.0, 0.0}));
  CHECK(cost_complexity_cut(tree, 0.0)[0] == 0 && cost_complexity_cut(tree, 1e-300)[0] == 1);
  CHECK(cost_complexity_path(make_tree({0})).alphas.size() == 1);
}

TEST(prune_agrees_with_the_quadratic_search) {
  Random random{7};
  for (int round = 0; round < 300; ++round) {
    const ForestArrays tree = random_tree(random, random.next() % 40);
    const PruningPath fast = cost_complexity_path(tree), slow = slow_path(tree);
    CHECK(std::is_sorted(fast.alphas.begin(), fast.alphas.end()));
    CHECK(near(fast.alphas.back(), slow.alphas.back()));
    for (std::size_t i = 0; i + 1 < slow.alphas.size(); ++i) {
      if (slow.alphas[i + 1] - slow.alphas[i] < 1e-9) continue;
      const double alpha = (slow.alphas[i] + slow.alphas[i + 1]) / 2;
      CHECK(near(impurity_at(fast, alpha), impurity_at(slow, alpha)));
      const ForestArrays pruned = collapse(tree, cost_complexity_cut(tree, alpha));
      CHECK(near(leaf_impurity(pruned), impurity_at(slow, alpha)));
    }
  }
}

TEST(prune_chain_of_a_million_nodes) {
  for (const bool right : {false, true}) {
    ForestArrays tree = make_tree(chain(1000001, right), 2);
    const std::size_t n = tree.nodes.size();
    for (std::size_t i = 0; i < n; ++i) {
      tree.weight[i] = static_cast<double>(n - i);
      tree.impurity[i] = 1.0 - static_cast<double>(i) / static_cast<double>(2 * n);
      tree.values[2 * i] = 0.75, tree.values[2 * i + 1] = 0.25;
    }
    CHECK(collapse(tree, cost_complexity_cut(tree, kInf)).nodes.size() == 1);
    CHECK(cost_complexity_path(tree).alphas.size() >= 2);
    CHECK(pessimistic_cut(tree, 0.25).size() == n);
    CHECK(collapse(tree, std::vector<std::uint8_t>(n, 0)).nodes.size() == n);
  }
}

TEST(prune_pessimistic_errors_known_values) {
  // e = 0: n (1 - CF^(1/n)); Quinlan's book prints the rates 0.206, 0.143 and 0.750 for 6, 9 and 1
  // rows.
  CHECK(near(pessimistic_errors(1, 0, 0.25), 0.75));
  CHECK(near(pessimistic_errors(6, 0, 0.25), 6 * (1 - std::pow(0.25, 1.0 / 6))));
  CHECK(near(pessimistic_errors(6, 0, 0.25), 1.2377968440, 1e-9));
  CHECK(near(pessimistic_errors(9, 0, 0.25), 1.2848041543, 1e-9));
  CHECK(near(pessimistic_errors(1e12, 0, 0.25), std::log(4.0), 1e-9));
  // Normal approximation, z = 0.67448975019608 at 0.25; the high end; interpolation between 0
  // and 1.
  CHECK(near(pessimistic_errors(16, 1, 0.25), 1.475714631837, 1e-9));
  CHECK(near(pessimistic_errors(168, 1, 0.25), 1.573759112903, 1e-9));
  CHECK(near(pessimistic_errors(100, 30, 0.05), 8.503933562525, 1e-9));
  CHECK(near(pessimistic_errors(100, 10, 0.5), 0.5));
  CHECK(pessimistic_errors(2, 1.5, 0.25) == 0.5 && pessimistic_errors(2, 3, 0.25) == 0.0);
  CHECK(pessimistic_errors(0, 0, 0.25) == 0.0);
  const double zero = pessimistic_errors(16, 0, 0.25), one = pessimistic_errors(16, 1, 0.25);
  CHECK(near(pessimistic_errors(16, 0.5, 0.25), (zero + one) / 2));
  CHECK_THROWS(pessimistic_errors(5, 1, 0.0), std::invalid_argument);
  CHECK_THROWS(pessimistic_errors(5, 1, 0.51), std::invalid_argument);
  CHECK_THROWS(pessimistic_errors(-1, 0, 0.25), std::invalid_argument);
}

TEST(prune_pessimistic_quinlans_example) {
  // Quinlan 1993, section 4.2: leaves of 6, 9 and 1 rows without errors give 3.273, one leaf of all
  // 16 rows with one error gives 2.476, so the whole goes though the lower split alone stays. A
  // clean 50 to 50 split stays.
  ForestArrays vote = make_tree({1, 0, 1, 0, 0}, 2);
  vote.weight = {16, 6, 10, 9, 1};
  vote.values = {15.0 / 16, 1.0 / 16, 1, 0, 0.9, 0.1, 1, 0, 0, 1};
  CHECK(pessimistic_cut(vote, 0.25) == (std::vector<std::uint8_t>{1, 0, 0, 0, 0}));
  ForestArrays clean = make_tree({1, 0, 0}, 2);
  clean.weight = {100, 50, 50};
  clean.values = {0.5, 0.5, 1, 0, 0, 1};
  CHECK(pessimistic_cut(clean, 0.25)[0] == 0);
  clean.values[0] = 7.0;
  CHECK_THROWS(pessimistic_cut(clean, 0.25), std::invalid_argument);
}

TEST(prune_collapse_renews_nodes_and_sets) {
  // Nodes 0, 2 and 4 split on category sets 1, 0 and 2; cutting node 1 leaves sets 1 and 0.
  ForestArrays tree = make_tree({1, 1, 1, 0, 1, 0, 0, 0, 0});
  for (const auto& [node, set] : {std::pair{0, 1.0}, {2, 0.0}, {4, 2.0}}) {
    tree.nodes[node].feature = 2 | kCategorical | kMissingLeft;
    tree.nodes[node].threshold = set;
  }
  tree.set_begin = {0, 1, 3, 4};
  tree.set_words = {10, 21, 22, 30};
  for (std::size_t i = 0; i < 9; ++i) tree.values[i] = static_cast<double>(i), tree.count[i] = i;
  const ForestArrays out = collapse(tree, std::vector<std::uint8_t>{0, 1, 0, 0, 1, 0, 0, 0, 0});
  CHECK(out.nodes.size() == 5 && out.tree_begin == (std::vector<std::uint64_t>{0, 5}));
  CHECK(out.values == (std::vector<double>{0, 1, 2, 5, 6}));
  CHECK(out.count == (std::vector<std::uint64_t>{0, 1, 2, 5, 6}));
  CHECK(out.gain == (std::vector<double>{1, 0, 1, 0, 0}));
  CHECK(out.nodes[0].left == 1 && out.nodes[1].left == 1 && out.nodes[2].left == 3);
  CHECK(out.nodes[1].threshold == kInf && out.nodes[1].feature == 0);
  CHECK(out.nodes[0].threshold == 0.0 && out.nodes[2].threshold == 1.0);
  CHECK(out.nodes[2].feature == (2 | kCategorical | kMissingLeft));
  CHECK(out.set_begin == (std::vector<std::uint64_t>{0, 2, 3}));
  CHECK(out.set_words == (std::vector<std::uint64_t>{21, 22, 10}));
}

TEST(prune_refuses_what_is_no_tree) {
  ForestArrays tree = make_tree({1, 0, 0});
  CHECK_THROWS(cost_complexity_cut(tree, -1.0), std::invalid_argument);
  CHECK_THROWS(cost_complexity_cut(tree, std::nan("")), std::invalid_argument);
  CHECK_THROWS(collapse(tree, std::vector<std::uint8_t>(2)), std::invalid_argument);
  ForestArrays two = tree;
  two.tree_begin = {0, 1, 3};
  CHECK_THROWS(cost_complexity_path(two), std::invalid_argument);
  CHECK_THROWS(pessimistic_cut(ForestArrays{}, 0.25), std::invalid_argument);
  ForestArrays cyclic = tree;
  cyclic.nodes[2].left = 0;
  CHECK_THROWS(cost_complexity_path(cyclic), std::invalid_argument);
  ForestArrays far = tree;
  far.nodes[0].left = 2;
  CHECK_THROWS(collapse(far, std::vector<std::uint8_t>(3)), std::invalid_argument);
  ForestArrays bare = tree;
  bare.impurity.clear();
  CHECK_THROWS(cost_complexity_path(bare), std::invalid_argument);
}
