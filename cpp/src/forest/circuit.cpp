#include "forest/circuit.hpp"

#include <algorithm>
#include <bit>

namespace committee {

Circuit::Circuit(std::span<const Node> nodes, std::span<const PlaneId> condition,
                 PlaneId first_result)
    : nodes_(nodes),
      condition_(condition),
      first_result_(first_result),
      n_leaves_(nodes.size(), 1) {
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const std::uint32_t left = nodes[i].left;
    if (left != i) n_leaves_[i] = n_leaves_[left] + n_leaves_[left + 1];
  }
  Part all = make_subtree(0);
  bits_ = std::move(all.bits);
  number_leaves(all.leaves);
  assign_planes();
}

Circuit::Part Circuit::make_subtree(std::uint32_t node) {
  std::vector<Exit> exits;
  while (nodes_[node].left != node) {
    const std::uint32_t left = nodes_[node].left;
    const bool go_right = n_leaves_[left] < n_leaves_[left + 1];
    exits.push_back({{condition_[node], go_right}, make_subtree(go_right ? left : left + 1)});
    node = go_right ? left + 1 : left;
  }
  exits.push_back({{kOne, false}, {{}, {{node, 0, 0}}}});
  return join_exits(exits, nullptr);
}

/// `taken`, unless null, becomes whether a row takes one of the exits. The numbers of parts lie
/// in aligned blocks, from the last exit on, so the whole has as few bits as it can; the second
/// half takes what fits into half of the numbers, so that few exits need a common flag.
Circuit::Part Circuit::join_exits(std::span<Exit> exits, Flag* taken) {
  if (exits.size() == 1) {
    if (taken != nullptr) *taken = exits[0].taken;
    return std::move(exits[0].part);
  }
  std::vector<std::size_t> used(exits.size() + 1, 0);  // numbers, by exits that have none
  for (std::size_t i = exits.size(); i-- > 0;) {
    const std::size_t size = std::size_t{1} << exits[i].part.bits.size();
    used[i] = (used[i + 1] + size - 1) / size * size + size;
  }
  std::size_t middle = 1;
  while (used[middle] > std::bit_ceil(used[0]) / 2) ++middle;
  Flag early, late;
  Part first = join_exits(exits.first(middle), &early);
  Part second = join_exits(exits.subspan(middle), taken == nullptr ? nullptr : &late);
  if (taken != nullptr) *taken = either(early, late);
  return join(early, std::move(first), std::move(second));
}

Circuit::Part Circuit::join(Flag which, Part first, Part second) {
  if (which.negated) std::swap(first, second);  // the first is now where the plane is set
  const bool swap = first.bits.size() < second.bits.size();
  Part &larger = swap ? second : first, &smaller = swap ? first : second;
  const std::uint32_t top = 1u << larger.bits.size();
  for (Leaf& leaf : first.leaves) leaf.number |= top;
  for (Leaf& leaf : smaller.leaves) leaf.any |= top - (1u << smaller.bits.size());
  for (std::size_t b = 0; b < smaller.bits.size(); ++b) {
    larger.bits[b] = choose(which.plane, second.bits[b], first.bits[b]);
  }
  larger.bits.push_back(which.plane);
  larger.leaves.insert(larger.leaves.end(), smaller.leaves.begin(), smaller.leaves.end());
  return std::move(larger);
}

Circuit::Flag Circuit::either(Flag a, Flag b) {
  if (a.negated && b.negated) return {choose(a.plane, kZero, b.plane), true};
  if (a.negated) return {choose(a.plane, kOne, b.plane), false};
  if (b.negated) return {choose(b.plane, kOne, a.plane), false};
  return {choose(a.plane, b.plane, kOne), false};
}

PlaneId Circuit::choose(PlaneId which, PlaneId zero, PlaneId one) {
  if (zero == one) return zero;
  gates_.emplace_back(which, zero, one, static_cast<PlaneId>(first_result_ + gates_.size()));
  return gates_.back().out();
}

void Circuit::number_leaves(const std::vector<Leaf>& leaves) {
  leaves_.assign(std::size_t{1} << bits_.size(), 0);
  for (const Leaf& leaf : leaves) {
    std::uint32_t some = 0;  // goes through all that have no bit beside those of any
    do {
      leaves_[leaf.number | some] = leaf.node;
      some = (some - leaf.any) & leaf.any;
    } while (some != 0);
  }
}

/// A gate that waits for the one before it takes three times as long, so those of equal height
/// stand together.
std::vector<std::uint32_t> Circuit::order_gates() const {
  std::vector<std::uint32_t> height(gates_.size(), 0), order(gates_.size());
  for (std::size_t i = 0; i < gates_.size(); ++i) {
    order[i] = static_cast<std::uint32_t>(i);
    for (const PlaneId plane : {gates_[i].which(), gates_[i].zero(), gates_[i].one()}) {
      if (plane >= first_result_)
        height[i] = std::max(height[i], height[plane - first_result_] + 1);
    }
  }
  const auto lower = [&](std::uint32_t a, std::uint32_t b) { return height[a] < height[b]; };
  std::stable_sort(order.begin(), order.end(), lower);
  return order;
}

/// A plane that is needed no more becomes that of a later result: few planes stay near. It is the
/// one that has waited longest, for the same reason as above.
void Circuit::assign_planes() {
  std::vector<std::uint32_t> uses(gates_.size(), 0);
  const auto use = [&](PlaneId plane) {
    if (plane >= first_result_) ++uses[plane - first_result_];
  };
  for (const Gate& gate : gates_) {
    for (const PlaneId plane : {gate.which(), gate.zero(), gate.one()}) use(plane);
  }
  for (const PlaneId plane : bits_) use(plane);
  std::vector<PlaneId> assigned(gates_.size()), unused;
  std::size_t next = 0;
  const auto read = [&](PlaneId plane) {
    if (plane < first_result_) return plane;
    const std::size_t result = plane - first_result_;
    if (--uses[result] == 0) unused.push_back(assigned[result]);
    return assigned[result];
  };
  std::vector<Gate> ordered;
  for (const std::uint32_t i : order_gates()) {
    const PlaneId which = read(gates_[i].which()), zero = read(gates_[i].zero()),
                  one = read(gates_[i].one());
    assigned[i] =
        next < unused.size() ? unused[next++] : static_cast<PlaneId>(first_result_ + n_results_++);
    ordered.emplace_back(which, zero, one, assigned[i]);
  }
  gates_ = std::move(ordered);
  for (PlaneId& plane : bits_) plane = read(plane);
}

}  // namespace committee
