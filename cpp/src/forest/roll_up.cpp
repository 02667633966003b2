// Inner nodes as functions of their leaves. Children lie behind their parent, so one sweep from the
// last node to the first finds both children ready.
#include <algorithm>
#include <cmath>

#include "committee/forest/pack.hpp"
#include "forest/pack_format.hpp"

namespace committee {
namespace packing {
namespace {

/// visit(node, left child), both as indices into the arrays, the last inner node first.
template <class Visit>
void each_inner_backwards(const ForestArrays& a, const Visit& visit) {
  for (std::size_t t = a.tree_begin.size() - 1; t-- > 0;) {
    const std::size_t begin = a.tree_begin[t];
    for (std::size_t i = a.tree_begin[t + 1]; i-- > begin;) {
      const std::size_t left = begin + a.nodes[i].left;
      if (left != i) visit(i, left);
    }
  }
}

double blend(double v_l, double w_l, double v_r, double w_r) {
  const double weight = w_l + w_r;
  if (!(weight > 0)) return v_l / 2 + v_r / 2;
  double mean = (v_l * w_l + v_r * w_r) / weight;
  if (!std::isfinite(mean)) mean = v_l * (w_l / weight) + v_r * (w_r / weight);
  return std::clamp(mean, std::min(v_l, v_r), std::max(v_l, v_r));
}

double blended(const ForestArrays& a, std::size_t left, std::size_t output) {
  const double* value = a.values.data() + left * a.n_outputs + output;
  const bool known = !a.weight.empty();
  return blend(value[0], known ? a.weight[left] : 0.0, value[a.n_outputs],
               known ? a.weight[left + 1] : 0.0);
}

bool same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace

void roll_weight(ForestArrays& a) {
  each_inner_backwards(a, [&](std::size_t i, std::size_t left) {
    a.weight[i] = a.weight[left] + a.weight[left + 1];
  });
}

void roll_values(ForestArrays& a) {
  each_inner_backwards(a, [&](std::size_t i, std::size_t left) {
    for (std::size_t k = 0; k < a.n_outputs; ++k)
      a.values[i * a.n_outputs + k] = blended(a, left, k);
  });
}

void roll_count(ForestArrays& a) {
  each_inner_backwards(
      a, [&](std::size_t i, std::size_t left) { a.count[i] = a.count[left] + a.count[left + 1]; });
}

/// Where every inner node follows from its children as they are, it follows from the leaves: no
/// copy has to be rolled up to see it.
std::uint64_t what_rolls_up(const ForestArrays& a) {
  bool values = true, weight = !a.weight.empty(), count = !a.count.empty();
  each_inner_backwards(a, [&](std::size_t i, std::size_t left) {
    for (std::size_t k = 0; values && k < a.n_outputs; ++k)
      values = same(a.values[i * a.n_outputs + k], blended(a, left, k));
    weight = weight && same(a.weight[i], a.weight[left] + a.weight[left + 1]);
    count = count && a.count[i] == a.count[left] + a.count[left + 1];
  });
  return (values ? kValuesRolled : 0) | (weight ? kWeightRolled : 0) | (count ? kCountRolled : 0);
}

}  // namespace packing

void roll_up(ForestArrays& arrays) {
  if (!arrays.weight.empty()) packing::roll_weight(arrays);
  packing::roll_values(arrays);
}

}  // namespace committee
