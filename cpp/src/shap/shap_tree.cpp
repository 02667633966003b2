// From the arrays of a forest to the steps of the walk: shares of the cover, what was asked above,
// tables.
#include "shap/shap_tree.hpp"

#include <algorithm>
#include <utility>

namespace committee {
namespace {

constexpr double kPi = 3.14159265358979323846;

/// cos for [0, pi / 2]: only a start, but the same on every machine.
double cosine(double x) {
  double term = 1.0, sum = 1.0;
  for (int k = 1; k <= 12; ++k) {
    term *= -x * x / ((2 * k - 1) * (2 * k));
    sum += term;
  }
  return sum;
}

/// The Legendre polynomial of degree n at x, and its derivative.
std::pair<double, double> legendre(std::size_t n, double x) {
  double before = 1.0, at = x;
  for (std::size_t k = 2; k <= n; ++k) {
    const auto d = static_cast<double>(k);
    before = std::exchange(at, ((2 * d - 1) * x * at - (d - 1) * before) / d);
  }
  return {at, static_cast<double>(n) * (before - x * at) / (1 - x * x)};
}

/// What the features above a node have let through, by column.
struct Asked {
  double share = 1.0;
  std::uint32_t slot = kNoTable;  // kNoTable: not asked
  std::uint32_t split = 0;
  bool right = false;
};

class TreeBuilder {
 public:
  TreeBuilder(const Forest& forest, std::span<const std::uint32_t> columns)
      : forest_(forest), columns_(columns), asked_(forest.used_features().size()) {}

  ShapTree build(std::size_t tree, double weight, std::vector<double>& bias);

 private:
  struct Visit {
    std::uint32_t node, split, depth;
    ShapStep::Kind next;
    bool right;
    double reach;  // the share of the cover that comes here
    Asked before;  // of the split's feature
  };

  void visit(Visit& at);
  void begin(Visit& at);
  void go_down(const Visit& at, bool right);
  std::size_t leaf(std::uint32_t node, double reach);
  ShapSplit split_of(const Visit& at) const;
  bool is_leaf(std::uint32_t node) const { return nodes_[node].left == node; }

  const Forest& forest_;
  std::span<const std::uint32_t> columns_;
  std::vector<Asked> asked_;
  // Of the tree that is being built.
  const Node* nodes_ = nullptr;
  std::size_t first_ = 0;
  double weight_ = 1.0;
  std::vector<double>* bias_ = nullptr;
  std::vector<Visit> stack_;
  ShapTree out_;
  std::uint32_t n_slots_ = 0, n_repeated_ = 0;
};

std::size_t TreeBuilder::leaf(std::uint32_t node, double reach) {
  const ForestArrays& a = forest_.arrays();
  const std::size_t at = out_.values.size();
  for (std::size_t k = 0; k < a.n_outputs; ++k) {
    const double value = weight_ * a.values[(first_ + node) * a.n_outputs + k];
    out_.values.push_back(value);
    (*bias_)[k] += reach * value;
  }
  return at;
}

ShapSplit TreeBuilder::split_of(const Visit& at) const {
  const Node& node = nodes_[at.node];
  const double* cover = forest_.arrays().weight.data() + first_;
  const double left = cover[node.left], both = left + cover[node.left + 1];
  ShapSplit s{};
  s.node = node;
  s.share = both > 0 ? left / both : 0.5;
  s.column = columns_[node.feature & kFeatureMask];
  s.above = at.before.share;
  s.n_slots = n_slots_;
  s.slot = at.before.slot == kNoTable ? n_slots_ : at.before.slot;
  s.repeated = at.before.slot == kNoTable ? kNoTable : n_repeated_;
  s.above_split = at.before.split;
  s.above_right = at.before.right;
  s.leaf_left = is_leaf(node.left);
  s.leaf_right = is_leaf(node.left + 1);
  return s;
}

/// Names the split, its leaves, and the first step.
void TreeBuilder::begin(Visit& at) {
  at.before = asked_[columns_[nodes_[at.node].feature & kFeatureMask]];
  at.split = static_cast<std::uint32_t>(out_.splits.size());
  ShapSplit s = split_of(at);
  if (s.repeated == kNoTable) {
    ++n_slots_;
  } else {
    ++n_repeated_;
  }
  if (s.leaf_left) s.left_value = leaf(s.node.left, at.reach * s.share);
  if (s.leaf_right) s.right_value = leaf(s.node.left + 1, at.reach * (1 - s.share));
  out_.n_slots = std::max<std::size_t>(out_.n_slots, n_slots_);
  out_.depth = std::max<std::size_t>(out_.depth, at.depth + 1);
  out_.splits.push_back(s);
}

void TreeBuilder::go_down(const Visit& at, bool right) {
  const ShapSplit& s = out_.splits[at.split];
  const double share = right ? 1 - s.share : s.share;
  asked_[s.column] = {s.above * share, s.slot, at.split, right};
  stack_.push_back({s.node.left + (right ? 1u : 0u),
                    0,
                    at.depth + 1,
                    ShapStep::Kind::enter,
                    right,
                    at.reach * share,
                    {}});
}

/// One more step of the walk. `at` is a copy's original: going down moves the stack.
void TreeBuilder::visit(Visit& at) {
  using Kind = ShapStep::Kind;
  const Visit now = at;
  const ShapSplit s = out_.splits[now.split];
  Kind kind = now.next;
  if (kind == Kind::enter && s.leaf_left && s.leaf_right) kind = Kind::stump;
  out_.steps.push_back({kind, now.right, now.depth, now.split});
  if (kind == Kind::stump || kind == Kind::leave) {
    asked_[s.column] = now.before;
    if (s.repeated == kNoTable) --n_slots_;
    stack_.pop_back();
    return;
  }
  const bool both = !s.leaf_left && !s.leaf_right;
  at.next = kind == Kind::enter && both ? Kind::turn : Kind::leave;
  go_down(now, kind == Kind::turn || s.leaf_left);
}

ShapTree TreeBuilder::build(std::size_t tree, double weight, std::vector<double>& bias) {
  out_ = {};
  first_ = forest_.arrays().tree_begin[tree];
  nodes_ = forest_.arrays().nodes.data() + first_;
  weight_ = weight;
  bias_ = &bias;
  n_slots_ = n_repeated_ = 0;
  if (is_leaf(0)) {
    leaf(0, 1.0);
    return std::move(out_);
  }
  stack_.push_back({0, 0, 0, ShapStep::Kind::enter, false, 1.0, {}});
  while (!stack_.empty()) {
    Visit& at = stack_.back();
    if (at.next == ShapStep::Kind::enter) begin(at);
    visit(at);
  }
  out_.n_points = (out_.n_slots + 1) / 2;
  return std::move(out_);
}

/// t / F and y / F^2 of the repeated splits.
void fill_slopes(ShapTree& tree, const GaussRule& rule) {
  for (const ShapSplit& s : tree.splits) {
    if (s.repeated == kNoTable) continue;
    for (const double t : rule.point) tree.slope.push_back(t / (s.above + t * (1 - s.above)));
    for (const double t : rule.point) {
      const double factor = s.above + t * (1 - s.above);
      tree.slope.push_back(s.above / (factor * factor));
    }
  }
}

void fill_known(ShapTree& tree, const GaussRule& rule) {
  for (const ShapSplit& s : tree.splits) {
    for (const double share : {s.share, 1 - s.share}) {
      const double z = s.above * share;
      for (const double t : rule.point) tree.known.push_back((1 - z) / (z + t * (1 - z)));
    }
  }
}

}  // namespace

GaussRule::GaussRule(std::size_t n) : point(n), weight(n), off(n) {
  for (std::size_t i = 0; 2 * i < n; ++i) {
    double x = cosine(kPi * (static_cast<double>(i) + 0.75) / (static_cast<double>(n) + 0.5));
    if (2 * i + 1 == n) x = 0.0;
    // Newton doubles the digits; from this start a few rounds reach the last one.
    for (int round = 0; round < 8; ++round) {
      const auto [value, slope] = legendre(n, x);
      x -= value / slope;
    }
    const double slope = legendre(n, x).second;
    const double w = 1.0 / ((1 - x * x) * slope * slope);
    point[i] = (1 - x) / 2;
    point[n - 1 - i] = (1 + x) / 2;
    weight[i] = weight[n - 1 - i] = w;
  }
  for (std::size_t i = 0; i < n; ++i) off[i] = -1.0 / (1.0 - point[i]);
}

ShapForest::ShapForest(const Forest& forest, std::span<const double> weight, bool pairs)
    : n_outputs(forest.arrays().n_outputs),
      n_columns(forest.used_features().size()),
      bias(forest.arrays().n_outputs, 0.0) {
  std::vector<std::uint32_t> columns(forest.arrays().n_features);
  for (std::uint32_t u = 0; u < n_columns; ++u) columns[forest.used_features()[u]] = u;
  TreeBuilder builder(forest, columns);
  for (std::size_t t = 0; t < forest.n_trees(); ++t) {
    trees.push_back(builder.build(t, weight.empty() ? 1.0 : weight[t], bias));
    ShapTree& tree = trees.back();
    if (rules.size() <= tree.n_points) rules.resize(tree.n_points + 1);
    auto& rule = rules[tree.n_points];
    if (!rule) rule = std::make_shared<GaussRule>(tree.n_points);
    fill_slopes(tree, *rule);
    if (pairs) fill_known(tree, *rule);
    n_points = std::max(n_points, tree.n_points);
    n_slots = std::max(n_slots, tree.n_slots);
    depth = std::max(depth, tree.depth);
    n_splits = std::max(n_splits, tree.splits.size());
  }
}

}  // namespace committee
