// Both pruning rules as passes over one tree's level-ordered arrays: parents stand before their
// children, so a backward loop is bottom-up, a forward loop top-down, and no depth of tree can
// exhaust the stack.
//
// Cost-complexity does not repeat the search for the weakest link, which is quadratic in a deep
// tree. Each node computes its own effective alpha once, from its gain and from those of its
// descendants' links that would not go before it; a leftist heap per subtree (Crane 1972) hands
// these out, the strongest first: n log n altogether.
#include "committee/forest/prune.hpp"

#include <algorithm>
#include <cmath>

#include "committee/base/det_math.hpp"

namespace committee {

namespace {

bool is_leaf(const ForestArrays& tree, std::size_t i) { return tree.nodes[i].left == i; }

// In level order the k-th split's children are nodes 2k+1 and 2k+2: one number proves the whole
// shape.
void check_tree(const ForestArrays& tree) {
  const std::size_t n = tree.nodes.size();
  if (n == 0 || tree.tree_begin.size() != 2 || tree.tree_begin[0] != 0 || tree.tree_begin[1] != n) {
    throw std::invalid_argument("tree_begin: pruning takes exactly one tree");
  }
  std::size_t next = 1;
  for (std::size_t i = 0; i < n; ++i) {
    if (is_leaf(tree, i)) continue;
    if (tree.nodes[i].left != next || next <= i || next + 1 >= n) {
      throw std::invalid_argument("nodes[" + std::to_string(i) + "]: not in level order");
    }
    next += 2;
  }
  if (next != n) throw std::invalid_argument("nodes: not in level order");
}

void check_size(std::size_t size, std::size_t wanted, const char* name) {
  if (size != wanted)
    throw std::invalid_argument(std::string(name) + ": must have a value for each node");
}

// The rank of each node in a depth-first walk from the left: how ties between links are ordered.
std::vector<std::uint32_t> preorder(const ForestArrays& tree) {
  const std::size_t n = tree.nodes.size();
  std::vector<std::uint32_t> size(n, 1), rank(n, 0);
  for (std::size_t i = n; i-- > 0;) {
    const std::size_t left = tree.nodes[i].left;
    if (left != i) size[i] += size[left] + size[left + 1];
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t left = tree.nodes[i].left;
    if (left == i) continue;
    rank[left] = rank[i] + 1;
    rank[left + 1] = rank[left] + size[left];
  }
  return rank;
}

// A split with the links below it that cannot go before it: collapsing it raises the risk by `rise`
// and removes `leaves` leaves. Links are also the nodes of the heaps; the index of a link is that
// of its tree node.
struct Link {
  double rise = 0.0;
  double alpha = 0.0;
  std::uint32_t leaves = 0;
  std::uint32_t strong = kNone;  // heap children, the one with the longer right spine first
  std::uint32_t weak = kNone;
  std::uint32_t spine = 1;

  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
};

class LinkHeaps {
 public:
  explicit LinkHeaps(const ForestArrays& tree) : rank_(preorder(tree)), links_(tree.nodes.size()) {}

  Link& operator[](std::size_t i) { return links_[i]; }

  // Recursion runs down right spines, at most log2(n) long each.
  std::uint32_t merge(std::uint32_t a, std::uint32_t b) {
    if (a == Link::kNone) return b;
    if (b == Link::kNone) return a;
    if (before(a, b)) std::swap(a, b);
    Link& top = links_[a];
    top.weak = merge(top.weak, b);
    if (spine(top.strong) < spine(top.weak)) std::swap(top.strong, top.weak);
    top.spine = spine(top.weak) + 1;
    return a;
  }

  std::uint32_t pop(std::uint32_t top) { return merge(links_[top].strong, links_[top].weak); }

 private:
  std::uint32_t spine(std::uint32_t i) const { return i == Link::kNone ? 0 : links_[i].spine; }
  bool before(std::uint32_t a, std::uint32_t b) const {
    if (links_[a].alpha != links_[b].alpha) return links_[a].alpha < links_[b].alpha;
    return rank_[a] < rank_[b];
  }

  std::vector<std::uint32_t> rank_;
  std::vector<Link> links_;
};

struct Step {
  std::uint32_t node;
  double alpha;
  double rise;
};

double risk(const ForestArrays& tree, std::size_t i) {
  return tree.weight[i] * tree.impurity[i] / tree.weight[0];
}

void check_risks(const ForestArrays& tree) {
  check_tree(tree);
  check_size(tree.weight.size(), tree.nodes.size(), "weight");
  check_size(tree.impurity.size(), tree.nodes.size(), "impurity");
  if (!(tree.weight[0] > 0.0)) throw std::invalid_argument("weight[0]: must be positive");
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    if (!std::isfinite(risk(tree, i))) {
      throw std::invalid_argument("impurity[" + std::to_string(i) + "]: not finite");
    }
  }
}

// The collapses of weakest-link pruning in their order. A link's alpha is its rise per leaf; a link
// below that is not weaker would outlive it, so it is taken in (rises and leaves add up), which can
// only lift the mean.
std::vector<Step> weakest_links(const ForestArrays& tree) {
  const std::size_t n = tree.nodes.size();
  LinkHeaps links(tree);
  std::vector<std::uint32_t> heap(n, Link::kNone);
  for (std::size_t i = n; i-- > 0;) {
    if (is_leaf(tree, i)) continue;
    const std::size_t left = tree.nodes[i].left;
    std::uint32_t below = links.merge(heap[left], heap[left + 1]);
    Link& link = links[i];
    link.rise = risk(tree, i) - risk(tree, left) - risk(tree, left + 1);
    link.leaves = 1;
    link.alpha = link.rise;
    while (below != Link::kNone && links[below].alpha >= link.alpha) {
      link.rise += links[below].rise;
      link.leaves += links[below].leaves;
      link.alpha = link.rise / link.leaves;
      below = links.pop(below);
    }
    heap[i] = links.merge(static_cast<std::uint32_t>(i), below);
  }
  std::vector<Step> steps;
  for (std::uint32_t top = heap[0]; top != Link::kNone; top = links.pop(top)) {
    // Rounding can leave a useless split a hair below zero.
    steps.push_back({top, std::max(links[top].alpha, 0.0), links[top].rise});
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

// z with P(Z > z) = upper for a standard normal Z, 0 < upper <= 0.5: a rational start (Abramowitz
// and Stegun 26.2.23, error below 4.5e-4) and two Halley steps, each of which triples the number of
// right digits.
double normal_quantile(double upper) {
  const double t = std::sqrt(-2.0 * det_log(upper));
  double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                     (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  constexpr double kRootTwo = 1.41421356237309504880;
  constexpr double kRootTwoPi = 2.50662827463100050242;
  for (int step = 0; step < 2; ++step) {
    const double u = (upper - 0.5 * std::erfc(z / kRootTwo)) * kRootTwoPi * det_exp(0.5 * z * z);
    z -= u / (1.0 - 0.5 * z * u);
  }
  return z;
}

// What addErrs needs of the confidence, computed once for a tree.
class UpperLimit {
 public:
  explicit UpperLimit(double confidence) {
    if (!(confidence > 0.0 && confidence <= 0.5)) {
      throw std::invalid_argument("confidence: must be in (0, 0.5]");
    }
    log_ = det_log(confidence);
    z_ = normal_quantile(confidence);
  }

  double added(double n, double e) const {
    if (n <= 0.0) return 0.0;
    if (e >= 1.0) return above_one(n, e);
    const double base = none_seen(n);
    return e > 0.0 ? base + e * (above_one(n, 1.0) - base) : base;
  }

 private:
  // n (1 - confidence^(1/n)): the exact binomial limit for e = 0. Kahan's quotient keeps the digits
  // that 1 - exp(x) loses for large n.
  double none_seen(double n) const {
    const double x = log_ / n;
    const double power = det_exp(x);
    if (power == 1.0) return -log_;
    if (power == 0.0) return n;
    return n * (1.0 - power) * (x / det_log(power));
  }

  double above_one(double n, double e) const {
    if (e + 0.5 >= n) return std::max(n - e, 0.0);
    const double f = (e + 0.5) / n;
    const double zz = z_ * z_;
    const double spread = z_ * std::sqrt(f / n - f * f / n + zz / (4.0 * n * n));
    return n * (f + zz / (2.0 * n) + spread) / (1.0 + zz / n) - e;
  }

  double log_ = 0.0;
  double z_ = 0.0;
};

double largest_share(const ForestArrays& tree, std::size_t i) {
  const auto first = tree.values.begin() + static_cast<std::ptrdiff_t>(i * tree.n_outputs);
  const double share =
      *std::max_element(first, first + static_cast<std::ptrdiff_t>(tree.n_outputs));
  // Shares are sums of weights divided by their sum: one may exceed 1 by rounding.
  if (!(share >= 0.0 && share <= 1.0 + 1e-9)) {
    throw std::invalid_argument("values: node " + std::to_string(i) + " holds no class shares");
  }
  return std::min(share, 1.0);
}

template <class T>
std::vector<T> kept_of(const std::vector<T>& all, std::span<const std::uint32_t> kept,
                       std::size_t width = 1) {
  std::vector<T> out;
  if (all.empty()) return out;
  out.reserve(kept.size() * width);
  for (const std::size_t i : kept) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(i * width);
    out.insert(out.end(), first, first + static_cast<std::ptrdiff_t>(width));
  }
  return out;
}

// Writes the nodes that remain and returns their old indices. In their old order they are again in
// level order, so the place of the next pair of children is always known.
std::vector<std::uint32_t> keep_nodes(const ForestArrays& tree, std::span<const std::uint8_t> cut,
                                      std::vector<Node>& nodes) {
  std::vector<std::uint32_t> kept{0};
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const std::uint32_t old = kept[i];
    Node node = tree.nodes[old];
    if (node.left == old || cut[old]) {
      node = {std::numeric_limits<double>::infinity(), 0, static_cast<std::uint32_t>(i)};
    } else {
      const std::uint32_t left = node.left;
      node.left = static_cast<std::uint32_t>(kept.size());
      kept.push_back(left);
      kept.push_back(left + 1);
    }
    nodes.push_back(node);
  }
  return kept;
}

// Gives the category sets of the tree's remaining splits new numbers, in the order in which they
// occur.
void renew_sets(const ForestArrays& from, ForestArrays& to) {
  constexpr std::size_t kUnseen = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> renamed(from.set_begin.size() - 1, kUnseen);
  for (Node& node : to.nodes) {
    if (!(node.feature & kCategorical)) continue;
    if (!(node.threshold >= 0.0 && node.threshold < static_cast<double>(renamed.size()))) {
      throw std::invalid_argument("nodes: a category set that does not exist");
    }
    const auto old = static_cast<std::size_t>(node.threshold);
    if (renamed[old] == kUnseen) {
      const std::uint64_t begin = from.set_begin[old], end = from.set_begin[old + 1];
      if (begin > end || end > from.set_words.size()) {
        throw std::invalid_argument("set_begin: out of range");
      }
      renamed[old] = to.set_begin.size() - 1;
      to.set_words.insert(to.set_words.end(),
                          from.set_words.begin() + static_cast<std::ptrdiff_t>(begin),
                          from.set_words.begin() + static_cast<std::ptrdiff_t>(end));
      to.set_begin.push_back(to.set_words.size());
    }
    node.threshold = static_cast<double>(renamed[old]);
  }
}

}  // namespace

PruningPath cost_complexity_path(const ForestArrays& tree) {
  check_risks(tree);
  double total = 0.0;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    if (is_leaf(tree, i)) total += risk(tree, i);
  }
  PruningPath path{{0.0}, {total}};
  for (const Step& step : weakest_links(tree)) {
    path.alphas.push_back(step.alpha);
    path.impurities.push_back(total += step.rise);
  }
  return path;
}

std::vector<std::uint8_t> cost_complexity_cut(const ForestArrays& tree, double alpha) {
  if (!(alpha >= 0.0)) throw std::invalid_argument("alpha: must be at least 0");
  check_risks(tree);
  std::vector<std::uint8_t> cut(tree.nodes.size(), 0);
  if (alpha == 0.0) return cut;
  for (const Step& step : weakest_links(tree)) {
    if (step.alpha <= alpha) cut[step.node] = 1;
  }
  return cut;
}

std::vector<std::uint8_t> pessimistic_cut(const ForestArrays& tree, double confidence) {
  const UpperLimit limit(confidence);
  check_tree(tree);
  const std::size_t n = tree.nodes.size();
  check_size(tree.weight.size(), n, "weight");
  if (tree.n_outputs == 0) throw std::invalid_argument("n_outputs: must be positive");
  check_size(tree.values.size(), n * tree.n_outputs, "values");

  constexpr double kAllowance = 0.1;
  std::vector<std::uint8_t> cut(n, 0);
  std::vector<double> estimate(n);
  for (std::size_t i = n; i-- > 0;) {
    const double errors = tree.weight[i] * (1.0 - largest_share(tree, i));
    const double as_leaf = errors + limit.added(tree.weight[i], errors);
    estimate[i] = as_leaf;
    if (is_leaf(tree, i)) continue;
    const double as_split = estimate[tree.nodes[i].left] + estimate[tree.nodes[i].left + 1];
    cut[i] = as_leaf <= as_split + kAllowance;
    if (!cut[i]) estimate[i] = as_split;
  }
  return cut;
}

double pessimistic_errors(double n, double e, double confidence) {
  if (!(n >= 0.0 && e >= 0.0)) throw std::invalid_argument("n, e: must be at least 0");
  return UpperLimit(confidence).added(n, e);
}

ForestArrays collapse(const ForestArrays& tree, std::span<const std::uint8_t> cut) {
  check_tree(tree);
  const std::size_t n = tree.nodes.size();
  check_size(cut.size(), n, "cut");
  check_size(tree.values.size(), n * tree.n_outputs, "values");
  if (!tree.gain.empty()) check_size(tree.gain.size(), n, "gain");
  if (!tree.impurity.empty()) check_size(tree.impurity.size(), n, "impurity");
  if (!tree.weight.empty()) check_size(tree.weight.size(), n, "weight");
  if (!tree.count.empty()) check_size(tree.count.size(), n, "count");
  if (tree.set_begin.empty()) throw std::invalid_argument("set_begin: must begin with 0");

  ForestArrays out;
  out.n_features = tree.n_features;
  out.n_outputs = tree.n_outputs;
  const std::vector<std::uint32_t> kept = keep_nodes(tree, cut, out.nodes);
  out.tree_begin = {0, kept.size()};
  out.values = kept_of(tree.values, kept, tree.n_outputs);
  out.gain = kept_of(tree.gain, kept);
  for (std::size_t i = 0; i < out.gain.size(); ++i) {
    if (is_leaf(out, i)) out.gain[i] = 0.0;
  }
  out.impurity = kept_of(tree.impurity, kept);
  out.weight = kept_of(tree.weight, kept);
  out.count = kept_of(tree.count, kept);
  renew_sets(tree, out);
  return out;
}

}  // namespace committee
