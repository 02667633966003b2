// From the nodes as they were grown to a tree as it is kept: level order, values, impurities.
#include <algorithm>
#include <cmath>

#include "committee/grower.hpp"

namespace committee {
namespace {

/// Nodes by level, left to right; the children of a node side by side.
std::vector<NodeId> level_order(const Grower& grower) {
  std::vector<NodeId> order{0};
  order.reserve(grower.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const GrownNode& node = grower.node(order[i]);
    if (node.left == 0) continue;
    order.push_back(node.left);
    order.push_back(node.left + 1);
  }
  return order;
}

}  // namespace

ForestArrays Grower::finish(std::vector<__int128> fine) {
  const std::vector<NodeId> order = level_order(*this);
  const std::size_t n = order.size();
  ForestArrays out;
  out.n_features = n_features_;
  out.n_outputs = stats_.kind == SumKind::classes      ? stats_.n_sums
                  : stats_.kind == SumKind::regression ? stats_.n_outputs
                                                       : 1;
  out.tree_begin = {0, n};
  out.nodes.resize(n);
  out.gain.resize(n);
  out.impurity.resize(n);
  out.weight.resize(n);
  out.count.resize(n);
  out.values.resize(n * out.n_outputs);
  const double gain_scale = stats_.weight_scale() * search_.score_scale();
  std::uint32_t next_child = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const GrownNode& node = nodes_[order[i]];
    Node& to = out.nodes[i];
    out.count[i] = node.rows;
    if (node.left == 0) {
      to = {std::numeric_limits<double>::infinity(), 0, static_cast<std::uint32_t>(i)};
      continue;
    }
    to = {node.threshold, node.feature | (node.missing_left ? kMissingLeft : 0), next_child};
    next_child += 2;
    out.gain[i] = std::max(0.0, node.gain * gain_scale);
    if (node.set < 0) continue;
    to.feature |= kCategorical;
    to.threshold = static_cast<double>(out.set_begin.size() - 1);
    const auto& words = sets_[static_cast<std::size_t>(node.set)];
    out.set_words.insert(out.set_words.end(), words.begin(), words.end());
    out.set_begin.push_back(out.set_words.size());
  }
  set_values(out, order, fine);
  return out;
}

/// Values and impurities of all nodes. A regression's come from exact integer sums of its leaves, added upwards.
void Grower::set_values(ForestArrays& out, std::span<const NodeId> order, std::vector<__int128>& fine) const {
  const bool exact = stats_.kind != SumKind::classes && params_.criterion != Criterion::absolute_error;
  const std::size_t width = stats_.fine_width();
  std::vector<double> s(stats_.n_sums);
  for (std::size_t i = order.size(); exact && i-- > 0;) {
    const GrownNode& node = nodes_[order[i]];
    if (node.left == 0) continue;
    const __int128* child = fine.data() + node.left * width;
    for (std::size_t j = 0; j < width; ++j) fine[order[i] * width + j] = child[j] + child[width + j];
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    const GrownNode& node = nodes_[order[i]];
    double* value = out.values.data() + i * out.n_outputs;
    const __int128* exact_sums = fine.data() + order[i] * width;
    stats_.decode(sums(order[i]).data(), s.data());
    const double weight = stats_.weight_of(s.data());
    const bool fine_weight = exact && stats_.kind == SumKind::regression;
    out.weight[i] = fine_weight ? stats_.fine_total(exact_sums) : weight * stats_.weight_scale();
    if (stats_.kind == SumKind::classes) {
      const double* from = s.data();
      for (const std::uint32_t k : stats_.n_classes) {
        for (std::uint32_t j = 0; j < k; ++j) *value++ = from[j] / weight;
        from += k;
      }
      const double purity = node_score(params_.criterion, search_.shape(), s.data()) / weight;
      const bool entropy = params_.criterion != Criterion::gini && params_.criterion != Criterion::error;
      const double highest = entropy ? 0.0 : static_cast<double>(stats_.n_outputs);
      out.impurity[i] = std::max(0.0, (highest - purity) * search_.score_scale());
      if (!params_.monotone.empty() && out.n_outputs == 2) {
        double* pair = out.values.data() + i * 2;
        pair[1] = std::clamp(pair[1], node.lower, node.upper);
        pair[0] = 1 - pair[1];
      }
    } else if (!exact) {
      *value = node.value;
      out.impurity[i] = node.impurity;
    } else if (stats_.kind == SumKind::newton) {
      const double h = stats_.fine_value(exact_sums, 1) + params_.l2;
      *value = h > 0 ? -stats_.fine_value(exact_sums, 0) / h : 0.0;
      if (!params_.monotone.empty()) *value = std::clamp(*value, node.lower, node.upper);
    } else {
      double impurity = 0;
      for (std::size_t m = 0; m < stats_.n_outputs; ++m) {
        value[m] = node.constant ? stats_.y[node.row * stats_.n_outputs + m] : stats_.fine_value(exact_sums, m);
        impurity += stats_.fine_impurity(exact_sums, m);
        if (params_.monotone.empty()) continue;
        value[m] = std::clamp(value[m], stats_.centre(m) + node.lower * stats_.y_scale(),
                              stats_.centre(m) + node.upper * stats_.y_scale());
      }
      out.impurity[i] = node.constant ? 0.0 : impurity / static_cast<double>(stats_.n_outputs);
    }
  }
}

}  // namespace committee
