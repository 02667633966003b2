// From the nodes as they were grown to a tree as it is kept: level order, values, impurities.
#include <algorithm>
#include <cmath>

#include "committee/growth/grower.hpp"

namespace committee {
/// Nodes by level, left to right; the children of a node side by side.
std::vector<NodeId> Grower::level_order() const {
  std::vector<NodeId> order;
  order.reserve(size());
  order.push_back(0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (nodes_[order[i]].left == 0) continue;
    order.push_back(nodes_[order[i]].left);
    order.push_back(nodes_[order[i]].left + 1);
  }
  return order;
}

ForestArrays Grower::finish(std::vector<__int128> fine) {
  const std::vector<NodeId> order = level_order();
  const std::size_t n = order.size();
  ForestArrays out;
  out.n_features = n_features_;
  out.n_outputs = stats_.kind == SumKind::classes ? stats_.n_sums : stats_.n_outputs;
  out.tree_begin = {0, n};
  out.nodes.resize(n);
  out.gain.resize(n);
  out.weight.resize(n);
  if (params_.described) {
    out.impurity.resize(n);
    out.count.resize(n);
  }
  out.values.resize(n * out.n_outputs);
  const double gain_scale = stats_.weight_scale() * search_.score_scale();
  std::uint32_t next_child = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const GrownNode& node = nodes_[order[i]];
    Node& to = out.nodes[i];
    if (params_.described) out.count[i] = node.rows;
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

/// Values and impurities of all nodes.
void Grower::set_values(ForestArrays& out, std::span<const NodeId> order,
                        std::vector<__int128>& fine) const {
  const std::size_t width = stats_.fine_width();
  // A regression's values come from exact integer sums of its leaves, added upwards.
  for (std::size_t i = order.size(); width > 0 && params_.described && i-- > 0;) {
    const GrownNode& node = nodes_[order[i]];
    if (node.left == 0) continue;
    const __int128* child = fine.data() + node.left * width;
    __int128* sum = fine.data() + order[i] * width;
    for (std::size_t j = 0; j < width; ++j) sum[j] = child[j] + child[width + j];
  }
  std::vector<double> s(stats_.n_sums);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (!params_.described && nodes_[order[i]].left != 0) continue;
    stats_.decode(sums(order[i]).data(), s.data());
    if (stats_.kind == SumKind::classes) {
      set_shares(out, i, order[i], s.data());
    } else {
      set_numbers(out, i, order[i], fine.data() + order[i] * width);
      if (stats_.kind == SumKind::newton) out.weight[i] = stats_.weight_of(s.data());
    }
  }
}

void Grower::set_shares(ForestArrays& out, std::size_t at, NodeId id, const double* sums) const {
  const double weight = stats_.weight_of(sums);
  double* value = out.values.data() + at * out.n_outputs;
  for (std::size_t k = 0; k < stats_.n_sums; ++k) value[k] = sums[k] / weight;
  if (!params_.monotone.empty()) {  // two classes
    value[1] = std::clamp(value[1], ranges_[id].lower, ranges_[id].upper);
    value[0] = 1 - value[1];
  }
  out.weight[at] = weight * stats_.weight_scale();
  if (!params_.described) return;
  const double purity = node_score(params_.criterion, search_.shape(), sums) / weight;
  // What a pure node scores: its weight, or nothing.
  const bool weight_scored =
      params_.criterion == Criterion::gini || params_.criterion == Criterion::error;
  const double highest = weight_scored ? static_cast<double>(stats_.n_outputs) : 0.0;
  out.impurity[at] = std::max(0.0, (highest - purity) * search_.score_scale());
}

void Grower::set_numbers(ForestArrays& out, std::size_t at, NodeId id, const __int128* fine) const {
  const GrownNode& node = nodes_[id];
  double* value = out.values.data() + at * out.n_outputs;
  if (stats_.kind == SumKind::newton) {
    const double least = search_.shape().least;
    for (std::size_t m = 0; m < stats_.n_outputs; ++m) {
      const double h = std::max(stats_.fine_value(fine, 2 * m + 1), least) + params_.l2;
      double step = -stats_.fine_value(fine, 2 * m);
      if (params_.l1 > 0) step = soft_threshold(step, params_.l1);
      value[m] = h > 0 ? step / h : 0.0;
    }
    if (!params_.monotone.empty())
      *value = std::clamp(*value, ranges_[id].lower, ranges_[id].upper);
    for (std::size_t m = 0; m < params_.max_value.size(); ++m)
      value[m] = std::clamp(value[m], -params_.max_value[m], params_.max_value[m]);
    return;
  }
  out.weight[at] = stats_.fine_total(fine);
  if (params_.criterion == Criterion::absolute_error) {
    *value = ranges_[id].value;
    if (params_.described) out.impurity[at] = ranges_[id].impurity;
    return;
  }
  double impurity = 0;
  for (std::size_t m = 0; m < stats_.n_outputs; ++m) {
    value[m] =
        node.constant ? stats_.y[node.row * stats_.n_outputs + m] : stats_.fine_value(fine, m);
    if (params_.described) impurity += stats_.fine_impurity(fine, m);
    if (params_.monotone.empty()) continue;
    value[m] = std::clamp(value[m], stats_.centre(m) + ranges_[id].lower * stats_.y_scale(),
                          stats_.centre(m) + ranges_[id].upper * stats_.y_scale());
  }
  if (params_.described)
    out.impurity[at] = node.constant ? 0.0 : impurity / static_cast<double>(stats_.n_outputs);
}

}  // namespace committee
