#include "growth/branch.hpp"

#include <algorithm>

#include "committee/growth/tree.hpp"

namespace committee {
namespace {

/// Drawn cuts in one-byte bins: blocks by row find the ends of all features at once.
bool cuts_drawn(const TreeData& data) {
  return data.params.rule == SplitRule::random && data.matrix.layout == Layout::dense8 &&
         data.stats.form == RowForm::packed && data.matrix.n_features <= kMaxBlockFeatures;
}

}  // namespace

Branch::Branch(const TreeData& data, Grower grower, std::size_t task_rows)
    : data_(data),
      grower_(std::move(grower)),
      few_(data.matrix, data.stats, data.all_features(), cuts_drawn(data)),
      drawn_(data.matrix, data.stats),
      task_rows_(task_rows),
      block_rows_(block_rows(data.matrix, data.stats, cuts_drawn(data))),
      few_drawn_(data.matrix.few_drawn(data.params.node_features)) {}

Histogram& Branch::histogram(NodeId id) {
  if (histograms_.size() <= id) histograms_.resize(grower_.size());
  return histograms_[id];
}

Histogram Branch::sum_rows(NodeId id, const Context& context) {
  const GrownNode& node = grower_.node(id);
  Histogram sums = data_.pool.take();
  accumulate(data_.matrix, data_.stats, data_.partition.rows(node.begin, node.rows), sums,
             data_.pool, context);
  return sums;
}

/// An open node gets its profiles: from its rows when it is small, else from its histogram, which
/// is kept for the subtraction below it.
void Branch::take(NodeId id, Histogram sums, const Context& context) {
  const bool whole = data_.params.growth == Growth::depth_first;
  const GrownNode& node = grower_.node(id);
  const RowsInMemory rows(data_.matrix, data_.partition.rows(node.begin, node.rows), context);
  if (small(id)) {
    data_.pool.give(std::move(sums));
    Block* const block = few_.block();
    if (whole && block != nullptr) return grow_block(id, *block, context);
    const ProfileSource& few =
        few_.load(data_.partition.rows(node.begin, node.rows), grower_.sums(id));
    grower_.feed(id, few, Context{1, context.poll}, &rows);  // it serves one thread
  } else if (whole && id != 0 && node.rows <= task_rows_) {
    tasks_.push_back({id, std::move(sums)});
  } else if (few_drawn_) {
    drawn_.focus(data_.partition.rows(node.begin, node.rows), context);
    grower_.feed(id, drawn_, context, &rows);
  } else {
    if (sums.empty()) sums = sum_rows(id, context);
    const HistogramProfiles profiles(data_.matrix, data_.stats, sums, grower_.sums(id));
    grower_.feed(id, profiles, context, &rows);
    histogram(id) = std::move(sums);
    for (const NodeId hopeless : grower_.given_up()) {
      data_.pool.give(std::move(histogram(hopeless)));
    }
  }
}

/// After a split: the smaller child is summed, the larger is what remains of the parent. A small
/// one, which needs no sums, is taken off the parent row by row.
void Branch::open_children(NodeId parent, const Context& context) {
  const NodeId left = grower_.node(parent).left;
  const std::vector<NodeId> open = grower_.wanted();
  const bool any_large =
      std::any_of(open.begin(), open.end(), [&](NodeId id) { return !small(id); });
  Histogram sums[2];
  Histogram above;
  if (!few_drawn_) above = std::move(histogram(parent));
  if (any_large && !above.empty()) {
    const NodeId fewer = left + (grower_.node(left + 1).rows < grower_.node(left).rows ? 1 : 0);
    if (small(fewer) && data_.stats.packed_histogram()) {
      const GrownNode& node = grower_.node(fewer);
      subtract_rows(data_.matrix, data_.stats, data_.partition.rows(node.begin, node.rows), above);
    } else {
      sums[fewer - left] = sum_rows(fewer, context);
      subtract(above, sums[fewer - left]);
    }
    sums[1 - (fewer - left)] = std::move(above);
  } else {
    data_.pool.give(std::move(above));
  }
  for (const NodeId id : open) take(id, std::move(sums[id - left]), context);
  for (Histogram& rest : sums) data_.pool.give(std::move(rest));
}

/// Whether both children are leaves by their depth alone; a chain goes on at its own.
bool Branch::last_level(NodeId left) const {
  const GrownNode &l = grower_.node(left), &r = grower_.node(left + 1);
  return std::min(l.depth, r.depth) >= data_.params.max_depth && l.bound < 0 && r.bound < 0;
}

void Branch::divide(NodeId id, const Context& context) {
  const GrownNode node = grower_.node(id);
  if (!data_.ordered && last_level(node.left)) {
    const std::size_t n_left =
        data_.partition.mark(node.begin, node.rows, data_.matrix, grower_.pending(id), node.left,
                             data_.node_of, context);
    for (const NodeId child : {node.left, node.left + 1}) {
      grower_.node(child).begin = node.begin;
      grower_.node(child).marked = true;
      grower_.describe(child, {child == node.left ? n_left : node.rows - n_left, false, 0});
    }
    return open_children(id, context);
  }
  const std::size_t n_left =
      data_.partition.divide(node.begin, node.rows, data_.matrix, grower_.pending(id), context);
  const std::size_t n_right = node.rows - n_left;
  grower_.node(node.left).begin = node.begin;
  grower_.node(node.left + 1).begin = static_cast<RowId>(node.begin + n_left);
  grower_.describe(node.left, row_facts(data_.stats, data_.partition.rows(node.begin, n_left)));
  grower_.describe(node.left + 1,
                   row_facts(data_.stats, data_.partition.rows(node.begin + n_left, n_right)));
  open_children(id, context);
}

void Branch::grow(Histogram root, const Context& context) {
  if (grower_.node(0).open) take(0, std::move(root), context);
  while (true) {
    const std::vector<NodeId> nodes = grower_.splits();
    if (nodes.empty()) break;
    for (const NodeId id : nodes) divide(id, context);
    check_interrupt(context);
  }
}

namespace {

/// Rows [begin, end) of a block, looked up where they are asked for, which is seldom.
class BlockRows final : public NodeRows {
 public:
  BlockRows(const BinnedMatrix& matrix, const Block& block, std::size_t begin, std::size_t end)
      : matrix_(matrix), block_(block), begin_(begin), end_(end) {}
  std::size_t n_left(const Split& split) const override {
    const std::vector<RowId> some = rows();
    return RowsInMemory(matrix_, some, Context{}).n_left(split);
  }
  void count(BinCounts& counts) const override {
    const std::vector<RowId> some = rows();
    RowsInMemory(matrix_, some, Context{}).count(counts);
  }

 private:
  std::vector<RowId> rows() const {
    std::vector<RowId> some(end_ - begin_);
    for (std::size_t i = begin_; i < end_; ++i) some[i - begin_] = block_.row(i);
    return some;
  }

  const BinnedMatrix& matrix_;
  const Block& block_;
  std::size_t begin_, end_;
};

}  // namespace

/// The whole subtree below a small node, depth-first inside the block; the rows' new order goes
/// back at the end.
void Branch::grow_block(NodeId root, Block& block, const Context& context) {
  const std::size_t first = grower_.node(root).begin, n = grower_.node(root).rows;
  const Context alone{1, context.poll};
  block.load(data_.partition.rows(first, n));
  const bool classes = data_.stats.kind == SumKind::classes;
  std::vector<NodeId> stack{root};
  Split split;
  std::vector<RowId> side;
  while (!stack.empty()) {
    const NodeId id = stack.back();
    stack.pop_back();
    const std::size_t begin = grower_.node(id).begin - first, end = begin + grower_.node(id).rows;
    block.focus(begin, end);
    const BlockRows rows(data_.matrix, block, begin, end);
    if (!grower_.find(id, block, alone, split, &rows)) continue;
    const NodeId left = grower_.apply(id, split);
    const std::size_t middle = begin + block.divide(begin, end, split);
    for (int right = 0; right < 2; ++right) {
      const std::size_t from = right ? middle : begin, to = right ? end : middle;
      const NodeId child = left + static_cast<NodeId>(right);
      grower_.node(child).begin = static_cast<RowId>(first + from);
      if (classes) {  // the sums tell the rest
        grower_.describe(child, {to - from, false, block.row(from)});
      } else {
        side.resize(to - from);
        for (std::size_t i = from; i < to; ++i) side[i - from] = block.row(i);
        grower_.describe(child, row_facts(data_.stats, side));
      }
      if (grower_.node(child).open) stack.push_back(child);
    }
    grower_.wanted();
  }
  const std::span<RowId> rows = data_.partition.rows(first, n);
  for (std::size_t i = 0; i < n; ++i) rows[i] = block.row(i);
}

}  // namespace committee
