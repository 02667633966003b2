#include "committee/boosting/renew.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "growth/leaf_groups.hpp"

namespace committee {
namespace {

constexpr double kSlack = 1e-12;  // share of the total weight that is rounding

double middle(double low, double high) { return low + (high - low) / 2; }

/// The sum of term(0) to term(n - 1) in NumPy's order (pairwise, eight lanes at the bottom), which
/// errs less than a plain loop and makes both definitions agree to the bit.
template <class Term>
double pairwise_sum(std::size_t first, std::size_t n, const Term& term) {
  constexpr std::size_t kLanes = 8, kBlock = 128;
  if (n < kLanes) {
    double sum = 0;
    for (std::size_t i = first; i < first + n; ++i) sum += term(i);
    return sum;
  }
  if (n > kBlock) {
    const std::size_t half = n / 2 - n / 2 % kLanes;
    return pairwise_sum(first, half, term) + pairwise_sum(first + half, n - half, term);
  }
  double lane[kLanes];
  for (std::size_t k = 0; k < kLanes; ++k) lane[k] = term(first + k);
  const std::size_t whole = n - n % kLanes;
  for (std::size_t i = kLanes; i < whole; i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) lane[k] += term(first + i + k);
  }
  double sum =
      ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
  for (std::size_t i = whole; i < n; ++i) sum += term(first + i);
  return sum;
}

/// The residuals of one leaf and their weights, as shares of the largest; no weights: all one.
struct Leaf {
  std::vector<double> value, weight;

  void read(const RenewTask& task, std::span<const RowId> rows) {
    value.clear();
    weight.clear();
    for (const RowId r : rows) {
      if (!task.weight.empty()) {
        if (task.weight[r] == 0) continue;
        weight.push_back(task.weight[r]);
      }
      value.push_back(task.y[r] - task.raw[r]);
    }
    if (weight.empty()) return;
    const double most = *std::max_element(weight.begin(), weight.end());
    for (double& w : weight) w /= most;
  }
};

/// Without weights the rank of the answer is known: no sort, two selections.
double plain_quantile(std::vector<double>& value, double level) {
  const auto n = static_cast<double>(value.size());
  const double goal = level * n, slack = kSlack * n;
  const auto last_rank = static_cast<std::size_t>(value.size() - 1);
  // Ranks count from 0: value k has k + 1 at or below it.
  const auto first = static_cast<std::size_t>(std::max(0.0, std::ceil(goal - slack) - 1));
  const auto last = std::min(static_cast<std::size_t>(std::floor(goal + slack)), last_rank);
  const auto at = [&](std::size_t k) { return value.begin() + static_cast<std::ptrdiff_t>(k); };
  std::nth_element(value.begin(), at(first), value.end());
  const double low = *at(first);
  if (last == first) return middle(low, low);
  std::nth_element(at(first + 1), at(last), value.end());
  return middle(low, *at(last));
}

/// With weights sums run in the order of values, rows of equal ones in theirs.
double weighted_quantile(const Leaf& leaf, double level) {
  struct Weighed {
    double value, weight;
  };
  std::vector<Weighed> sorted(leaf.value.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = {leaf.value[i], leaf.weight[i]};
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Weighed& a, const Weighed& b) { return a.value < b.value; });
  double sum = 0;
  for (Weighed& w : sorted) w.weight = sum += w.weight;
  const double goal = level * sum, slack = kSlack * sum;
  const auto first =
      std::lower_bound(sorted.begin(), sorted.end(), goal - slack,
                       [](const Weighed& w, double bound) { return w.weight < bound; });
  const auto last =
      std::upper_bound(sorted.begin(), sorted.end(), goal + slack,
                       [](double bound, const Weighed& w) { return bound < w.weight; });
  return middle(first->value, std::min(last, sorted.end() - 1)->value);
}

/// The slope of the Huber loss is a broken line in the constant, with corners delta beside the
/// values; the two around its zero are found by bisection, and each corner by selection.
class HuberCentre {
 public:
  HuberCentre(const Leaf& leaf, double delta, std::vector<double>& corners)
      : leaf_(leaf), delta_(delta), corners_(corners) {
    corners_.clear();
    for (const double v : leaf.value) corners_.push_back(v - delta);
    for (const double v : leaf.value) corners_.push_back(v + delta);
  }

  double find() {
    const std::size_t n = leaf_.value.size(), count = corners_.size();
    const double mass = leaf_.weight.empty()
                            ? static_cast<double>(n)
                            : pairwise_sum(0, n, [&](std::size_t i) { return leaf_.weight[i]; });
    const double slack = kSlack * delta_ * mass;
    const std::size_t after = first_where([&](double s) { return s >= -slack; });
    if (after == count || (after > 0 && slope(corner(after)) > slack)) {
      const std::size_t high = std::min(after, count - 1);
      const double left = corner(high - 1), right = corner(high);
      const double falling = slope(left), rising = slope(right);
      return left + falling / (falling - rising) * (right - left);
    }
    const std::size_t last = first_where([&](double s) { return s > slack; }) - 1;
    return middle(corner(after), corner(last));
  }

 private:
  double select(std::size_t low, std::size_t k, std::size_t high) {
    const auto begin = corners_.begin();
    const auto at = [&](std::size_t i) { return begin + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(at(low), at(k), at(high));
    return corners_[k];
  }
  double corner(std::size_t k) { return select(0, k, corners_.size()); }

  double slope(double constant) const {
    const double* value = leaf_.value.data();
    const double delta = delta_;
    const auto part = [=](std::size_t i) {
      const double far = constant - value[i];
      const double least = far < -delta ? -delta : far;
      return least > delta ? delta : least;
    };
    const std::size_t n = leaf_.value.size();
    if (leaf_.weight.empty()) return pairwise_sum(0, n, part);
    const double* weight = leaf_.weight.data();
    return pairwise_sum(0, n, [=](std::size_t i) { return weight[i] * part(i); });
  }

  /// The first corner whose slope has a property that all later ones have, too; or their count.
  template <class Holds>
  std::size_t first_where(Holds holds) {
    std::size_t low = 0, high = corners_.size();
    while (low < high) {
      const std::size_t k = (low + high) / 2;
      if (holds(slope(select(low, k, high)))) {
        high = k;
      } else {
        low = k + 1;
      }
    }
    return low;
  }

  const Leaf& leaf_;
  double delta_;
  std::vector<double>& corners_;
};

double best_constant(const Loss& loss, std::size_t output, Leaf& leaf,
                     std::vector<double>& corners) {
  if (loss.kind == LossKind::huber) return HuberCentre(leaf, loss.parameter, corners).find();
  const double level = loss.kind == LossKind::absolute ? 0.5 : loss.parameter_of(output);
  return leaf.weight.empty() ? plain_quantile(leaf.value, level) : weighted_quantile(leaf, level);
}

/// value[node] = the best constant of rows_of(its place), node by node.
template <class RowsOf>
void renew_nodes(const RenewTask& task, std::span<const std::uint32_t> nodes, RowsOf rows_of,
                 std::span<double> value, const Context& context) {
  struct Buffers {
    Leaf leaf;
    std::vector<double> corners;
  };
  std::vector<Buffers> buffers(static_cast<std::size_t>(std::max(context.n_threads, 1)));
  parallel_for(nodes.size(), context, [&](std::size_t k, int slot) {
    Buffers& own = buffers[static_cast<std::size_t>(slot)];
    own.leaf.read(task, rows_of(k));
    if (own.leaf.value.empty()) return;
    value[nodes[k]] = best_constant(task.loss, task.output, own.leaf, own.corners);
  });
}

/// The rows below every node, from left to right: those of a node lie together.
struct RowsBelow {
  std::vector<RowId> rows;
  std::vector<std::size_t> begin, count;

  RowsBelow(std::span<const Node> nodes, const LeafRows& groups)
      : rows(groups.rows.size()), begin(nodes.size(), 0), count(nodes.size(), 0) {
    for (std::size_t k = 0; k < groups.node.size(); ++k)
      count[groups.node[k]] = groups.begin[k + 1] - groups.begin[k];
    for (std::size_t i = nodes.size(); i-- > 0;) {  // children come behind their parents
      const std::uint32_t left = nodes[i].left;
      if (left != i) count[i] = count[left] + count[left + 1];
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::uint32_t left = nodes[i].left;
      if (left != i) begin[left] = begin[i], begin[left + 1] = begin[i] + count[left];
    }
    for (std::size_t k = 0; k < groups.node.size(); ++k)
      std::copy_n(groups.rows.data() + groups.begin[k], count[groups.node[k]],
                  rows.data() + begin[groups.node[k]]);
  }
  std::span<const RowId> operator()(std::size_t node) const {
    return std::span(rows).subspan(begin[node], count[node]);
  }
};

/// Renews leaves and, to find the middle between them, the sides of constrained splits.
void renew_in_order(const RenewTask& task, const LeafRows& groups, std::span<double> value,
                    const Context& context) {
  const std::span<const Node> nodes = task.nodes;
  const auto sign_of = [&](std::size_t i) {
    return nodes[i].left == i ? 0 : int{task.monotone[nodes[i].feature & kFeatureMask]};
  };
  std::vector<std::uint32_t> wanted = groups.node;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::uint32_t side : {nodes[i].left, nodes[i].left + 1}) {
      if (sign_of(i) != 0 && nodes[side].left != side) wanted.push_back(side);
    }
  }
  const RowsBelow below(nodes, groups);
  std::vector<double> best(value.begin(), value.end());
  renew_nodes(task, wanted, [&](std::size_t k) { return below(wanted[k]); }, best, context);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> lower(nodes.size(), -kInfinity), upper(nodes.size(), kInfinity);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::uint32_t left = nodes[i].left, right = left + 1;
    if (left == i) {
      value[i] = std::clamp(best[i], lower[i], upper[i]);
      continue;
    }
    lower[left] = lower[right] = lower[i];
    upper[left] = upper[right] = upper[i];
    const int sign = sign_of(i);
    if (sign == 0) continue;
    const double l = std::clamp(best[left], lower[i], upper[i]);
    const double r = std::clamp(best[right], lower[i], upper[i]);
    upper[sign > 0 ? left : right] = lower[sign > 0 ? right : left] = l / 2 + r / 2;
  }
}

}  // namespace

bool renews_leaves(LossKind kind) {
  return kind == LossKind::absolute || kind == LossKind::huber || kind == LossKind::quantile;
}

void renew_leaves(const RenewTask& task, std::span<double> value, const Context& context) {
  const LeafRows groups = group_by_leaf(task.leaf, task.rows, value.size(), context);
  if (!task.monotone.empty()) return renew_in_order(task, groups, value, context);
  const auto rows_of = [&](std::size_t k) {
    return std::span(groups.rows).subspan(groups.begin[k], groups.begin[k + 1] - groups.begin[k]);
  };
  renew_nodes(task, groups.node, rows_of, value, context);
}

}  // namespace committee
