#include "growth/leafwise.hpp"

#include <algorithm>

#include "committee/growth/tree.hpp"

namespace committee {
namespace {

constexpr std::size_t kSharedRows = 32768;  // of a node that all threads split together
constexpr std::size_t kWavesPerThread = 2;  // nodes of a wave, so that threads end together
constexpr std::size_t kFewRows = 4096;      // of a node that is split so soon that one is enough
constexpr std::size_t kFewLeaves = 256;     // that room is made for at once
constexpr std::size_t kAloneRows = 8192;    // of a wave, which one thread divides sooner than two

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
  if (states_[id].split) queue_.insert({id, states_[id].split->gain, birth});
}

/// Every split adds one leaf, so that what stands behind the room that is left never comes.
void Leafwise::trim(std::size_t room) {
  while (queue_.size() > room) {
    const NodeId last = std::prev(queue_.end())->node;
    queue_.erase(std::prev(queue_.end()));
    data_.pool.give(std::move(states_[last].histogram));
    if (states_[last].expanded) grower_.cut(last);
  }
}

/// Splits `top`, and with it those that are likely to follow.
void Leafwise::expand(NodeId top, std::size_t room, const Context& context) {
  std::vector<NodeId> wave{top};
  if (context.n_threads > 1 && grower_.node(top).rows < kSharedRows) {
    const std::size_t each = grower_.node(top).rows < kFewRows ? 1 : kWavesPerThread;
    const std::size_t most = std::min(room, each * static_cast<std::size_t>(context.n_threads));
    for (const Candidate& next : queue_) {
      if (wave.size() >= most) break;
      const bool shared = grower_.node(next.node).rows >= kSharedRows;
      if (next.node != top && !states_[next.node].expanded && !shared) wave.push_back(next.node);
    }
  }
  make_children(wave, context);
  if (room == 1) return data_.pool.give(std::move(states_[top].histogram));  // no split follows
  // Where the queue holds as many as there is room for, children must be better than its last.
  const bool full = queue_.size() == room;
  const double floor =
      full ? std::prev(queue_.end())->gain : -std::numeric_limits<double>::infinity();
  if (wave.size() == 1) return open_children(top, 0, floor, context);
  parallel_for(wave.size(), context, [&](std::size_t k, int slot) {
    open_children(wave[k], slot, floor, Context{1, context.poll});
  });
}

/// Makes the children of a wave's nodes and divides their rows.
void Leafwise::make_children(std::span<const NodeId> wave, const Context& context) {
  for (const NodeId id : wave) {
    grower_.apply(id, *states_[id].split);
    states_[id].expanded = true;
  }
  states_.resize(grower_.size());
  std::vector<std::size_t> n_left(wave.size());
  const auto divide = [&](std::size_t k, const Context& own) {
    const GrownNode& node = grower_.node(wave[k]);
    n_left[k] =
        data_.partition.divide(node.begin, node.rows, data_.matrix, *states_[wave[k]].split, own);
  };
  std::size_t rows = 0;
  for (const NodeId id : wave) rows += grower_.node(id).rows;
  const int n_threads = rows < kAloneRows ? 1 : context.n_threads;
  if (wave.size() == 1) {
    divide(0, context);
  } else {
    parallel_for(wave.size(), Context{n_threads, context.poll},
                 [&](std::size_t k, int) { divide(k, Context{1, context.poll}); });
  }
  for (std::size_t k = 0; k < wave.size(); ++k) {
    const GrownNode node = grower_.node(wave[k]);
    const std::size_t n[2] = {n_left[k], node.rows - n_left[k]};
    for (NodeId side = 0; side < 2; ++side) {
      GrownNode& child = grower_.node(node.left + side);
      child.begin = static_cast<RowId>(node.begin + (side == 0 ? 0 : n[0]));
      grower_.describe(node.left + side,
                       row_facts(data_.stats, data_.partition.rows(child.begin, n[side])));
    }
  }
  grower_.forget_wanted();
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
    queue_.erase(queue_.begin());
    const NodeId left = grower_.node(top).left;
    enqueue(left);
    enqueue(left + 1);
  }
  trim(0);
}

}  // namespace committee
