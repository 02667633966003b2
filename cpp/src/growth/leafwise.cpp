#include "growth/leafwise.hpp"

#include <algorithm>

#include "committee/growth/tree.hpp"

namespace committee {
namespace {

constexpr std::size_t kSharedRows = 32768;  // of a node that all threads split together
constexpr std::size_t kWavesPerThread = 2;  // nodes of a wave, so that threads end together
constexpr std::size_t kFewRows = 4096;      // of a node that is split so soon that one is enough
constexpr std::size_t kFewLeaves = 256;     // that room is made for at once

}  // namespace

Leafwise::Leafwise(const TreeData& data, Grower grower)
    : data_(data),
      grower_(std::move(grower)),
      block_rows_(block_rows(data.matrix, data.stats, false)) {}

std::span<RowId> Leafwise::rows(NodeId id) const {
  const GrownNode& node = grower_.node(id);
  return data_.partition.rows(node.begin, node.rows);
}

Histogram Leafwise::sum_rows(NodeId id, const Context& context) {
  Histogram sums = data_.pool.take();
  accumulate(data_.matrix, data_.stats, rows(id), sums, data_.pool, context);
  return sums;
}

/// Finds the split of an open node: from its rows when it is small, else from its histogram.
void Leafwise::look(NodeId id, Histogram histogram, int slot, double floor,
                    const Context& context) {
  State& state = states_[id];
  const RowsInMemory of_node(data_.matrix, rows(id), context);
  Split split;
  bool found = false;
  if (small(id)) {
    data_.pool.give(std::move(histogram));
    std::optional<FewRows>& few = few_[static_cast<std::size_t>(slot)];
    if (!few) few.emplace(data_.matrix, data_.stats, data_.all_features(), false);
    const ProfileSource& profiles = few->load(rows(id), grower_.sums(id));
    found = grower_.find(id, profiles, Context{1, context.poll}, split, &of_node, floor);
  } else {
    if (histogram.empty()) histogram = sum_rows(id, context);
    const HistogramProfiles profiles(data_.matrix, data_.stats, histogram, grower_.sums(id));
    found = grower_.find(id, profiles, context, split, &of_node, floor);
    if (found) {
      state.histogram = std::move(histogram);
    } else {
      data_.pool.give(std::move(histogram));
    }
  }
  if (found) state.split = std::move(split);
}

void Leafwise::enqueue(NodeId id) {
  const std::size_t birth = births_++;
  if (!states_[id].split) return;
  const Candidate candidate{id, states_[id].split->gain, birth};
  if (spare_.empty()) {
    queue_.insert(candidate);
    return;
  }
  spare_.back().value() = candidate;
  queue_.insert(std::move(spare_.back()));
  spare_.pop_back();
}

NodeId Leafwise::take_out(Queue::iterator at) {
  spare_.push_back(queue_.extract(at));
  return spare_.back().value().node;
}

/// Every split adds one leaf, so that what stands behind the room that is left never comes.
void Leafwise::trim(std::size_t room) {
  while (queue_.size() > room) {
    const NodeId last = take_out(std::prev(queue_.end()));
    data_.pool.give(std::move(states_[last].histogram));
    if (states_[last].expanded) grower_.cut(last);
  }
}

/// The nodes that are split with `top`: those that are likely to follow, the largest first, so that
/// the last task to end is a short one.
std::span<const NodeId> Leafwise::wave_of(NodeId top, std::size_t room, const Context& context) {
  std::vector<NodeId>& wave = wave_;
  wave.assign(1, top);
  if (context.n_threads <= 1 || grower_.node(top).rows >= kSharedRows) return wave;
  const std::size_t each = grower_.node(top).rows < kFewRows ? 1 : kWavesPerThread;
  const std::size_t most = std::min(room, each * static_cast<std::size_t>(context.n_threads));
  for (const Candidate& next : queue_) {
    if (wave.size() >= most) break;
    const bool shared = grower_.node(next.node).rows >= kSharedRows;
    if (next.node != top && !states_[next.node].expanded && !shared) wave.push_back(next.node);
  }
  std::stable_sort(wave.begin(), wave.end(),
                   [&](NodeId a, NodeId b) { return grower_.node(a).rows > grower_.node(b).rows; });
  return wave;
}

/// Splits `top`, and with it those that are likely to follow.
void Leafwise::expand(NodeId top, std::size_t room, const Context& context) {
  const std::span<const NodeId> wave = wave_of(top, room, context);
  for (const NodeId id : wave) {
    grower_.apply(id, *states_[id].split);
    states_[id].expanded = true;
  }
  states_.resize(grower_.size());
  // Where the queue holds as many as there is room for, children must be better than its last.
  const bool full = queue_.size() == room;
  const double floor =
      full ? std::prev(queue_.end())->gain : -std::numeric_limits<double>::infinity();
  const auto expand_one = [&](NodeId id, int slot, const Context& own) {
    divide(id, own);
    if (room > 1) return open_children(id, slot, floor, own);
    data_.pool.give(std::move(states_[id].histogram));  // no split follows
  };
  if (wave.size() == 1) {
    expand_one(top, 0, context);
  } else {
    parallel_for(wave.size(), context, [&](std::size_t k, int slot) {
      expand_one(wave[k], slot, Context{1, context.poll});
    });
  }
  grower_.forget_wanted();
}

/// Divides the rows of a node among its children, which exist.
void Leafwise::divide(NodeId id, const Context& context) {
  const GrownNode node = grower_.node(id);
  const std::size_t n_left =
      data_.partition.divide(node.begin, node.rows, data_.matrix, *states_[id].split, context);
  const std::size_t n[2] = {n_left, node.rows - n_left};
  for (NodeId side = 0; side < 2; ++side) {
    GrownNode& child = grower_.node(node.left + side);
    child.begin = static_cast<RowId>(node.begin + (side == 0 ? 0 : n_left));
    const RowFacts facts = row_facts(data_.stats, data_.partition.rows(child.begin, n[side]));
    std::unique_lock lock(describing_, std::defer_lock);
    if (wave_.size() > 1) lock.lock();
    grower_.describe(node.left + side, facts);
  }
}

/// The smaller child is summed, the larger is what remains of the parent. A small one, which needs
/// no sums, is taken off the parent row by row.
void Leafwise::open_children(NodeId parent, int slot, double floor, const Context& context) {
  const NodeId left = grower_.node(parent).left;
  Histogram above = std::move(states_[parent].histogram), sums[2];
  const auto summed = [&](NodeId id) { return grower_.node(id).open && !small(id); };
  if ((summed(left) || summed(left + 1)) && !above.empty()) {
    const NodeId fewer = grower_.node(left + 1).rows < grower_.node(left).rows ? 1 : 0;
    if (small(left + fewer) && data_.stats.packed_histogram()) {
      subtract_rows(data_.matrix, data_.stats, rows(left + fewer), above);
    } else {
      sums[fewer] = sum_rows(left + fewer, context);
      subtract(above, sums[fewer]);
    }
    sums[1 - fewer] = std::move(above);
  }
  data_.pool.give(std::move(above));
  for (NodeId side = 0; side < 2; ++side) {
    if (grower_.node(left + side).open) {
      look(left + side, std::move(sums[side]), slot, floor, context);
    } else {
      data_.pool.give(std::move(sums[side]));
    }
  }
}

void Leafwise::grow(const Context& context) {
  few_.resize(static_cast<std::size_t>(std::max(1, context.n_threads)));
  states_.reserve(2 * std::min(data_.params.max_leaves, kFewLeaves));
  spare_.reserve(std::min(data_.params.max_leaves, kFewLeaves));
  states_.resize(grower_.size());
  if (grower_.node(0).open) look(0, {}, 0, -std::numeric_limits<double>::infinity(), context);
  enqueue(0);
  for (std::size_t n_leaves = 1; n_leaves < data_.params.max_leaves; ++n_leaves) {
    const std::size_t room = data_.params.max_leaves - n_leaves;
    trim(room);
    if (queue_.empty()) break;
    check_interrupt(context);
    const NodeId top = queue_.begin()->node;
    if (!states_[top].expanded) expand(top, room, context);
    take_out(queue_.begin());
    const NodeId left = grower_.node(top).left;
    enqueue(left);
    enqueue(left + 1);
  }
  trim(0);
}

}  // namespace committee
