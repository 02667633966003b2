#include "committee/growth/shard.hpp"

#include <algorithm>

#include "committee/growth/tree.hpp"

namespace committee {

namespace {

/// Rows of weight zero are as good as absent.
std::vector<RowId> weighty(const Stats& stats, std::span<const RowId> rows) {
  std::vector<RowId> some;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(some),
               [&](RowId r) { return stats.counts(r); });
  return some;
}

}  // namespace

MemoryShard::MemoryShard(const BinnedMatrix& matrix, const Stats& stats,
                         std::span<const RowId> rows)
    : matrix_(matrix),
      stats_(stats),
      partition_(weighty(stats, rows)),
      ranges_{{0, partition_.rows().size()}} {}

void MemoryShard::widen(std::span<const RowId> rows, std::span<double> y_range) const {
  if (stats_.kind != SumKind::regression) return;
  for (const RowId r : rows) {
    for (std::size_t m = 0; m < stats_.n_outputs; ++m) {
      const double y = stats_.y[r * stats_.n_outputs + m];
      y_range[2 * m] = std::min(y_range[2 * m], y);
      y_range[2 * m + 1] = std::max(y_range[2 * m + 1], y);
    }
  }
}

RowFacts MemoryShard::begin(std::vector<std::int64_t>& totals, std::span<double> y_range) {
  for (const RowId r : rows(0)) stats_.add_row(r, totals.data());
  widen(rows(0), y_range);
  return {ranges_[0].n, false, rows(0).empty() ? 0 : rows(0)[0]};
}

void MemoryShard::accumulate(NodeId node, Histogram& sum, const Context&) {
  committee::accumulate(matrix_, stats_, rows(node), sum);
}

void MemoryShard::route(NodeId node, NodeId left, const Split& split, RowFacts facts[2],
                        std::span<double> y_range, const Context& context) {
  if (ranges_.size() < left + 2) ranges_.resize(left + 2);
  const Range range = ranges_[node];
  const std::size_t n_left = partition_.divide(range.begin, range.n, matrix_, split, context);
  ranges_[left] = {range.begin, n_left};
  ranges_[left + 1] = {range.begin + n_left, range.n - n_left};
  facts[0].rows += n_left;
  facts[1].rows += range.n - n_left;
  for (NodeId side = 0; side < 2; ++side) {
    if (!rows(left + side).empty()) facts[side].row = rows(left + side)[0];
  }
  widen(rows(left), y_range.subspan(0, y_range.size() / 2));
  widen(rows(left + 1), y_range.subspan(y_range.size() / 2));
}

std::size_t MemoryShard::n_left(NodeId node, const Split& split, const Context& context) const {
  return RowsInMemory(matrix_, rows(node), context).n_left(split);
}

void MemoryShard::count(NodeId node, std::vector<std::uint32_t>& counts,
                        const Context& context) const {
  RowsInMemory(matrix_, rows(node), context).add(counts);
}

void MemoryShard::add_fine(NodeId leaf, __int128* fine) const { stats_.add_fine(rows(leaf), fine); }

void MemoryShard::settle(NodeId leaf, double value, std::span<double> scores) const {
  for (const RowId r : rows(leaf)) scores[r] += value;
}

namespace {

/// low = +inf, high = -inf per output: the empty range.
std::vector<double> empty_ranges(std::size_t n) {
  std::vector<double> ranges(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    ranges[2 * i] = std::numeric_limits<double>::infinity();
    ranges[2 * i + 1] = -std::numeric_limits<double>::infinity();
  }
  return ranges;
}

bool constant(const Stats& stats, std::span<const double> ranges) {
  if (stats.kind != SumKind::regression) return false;
  for (std::size_t m = 0; m < stats.n_outputs; ++m) {
    if (ranges[2 * m] != ranges[2 * m + 1]) return false;
  }
  return true;
}

/// The rows of a node, wherever they are.
class ShardedRows final : public NodeRows {
 public:
  ShardedRows(std::span<const std::unique_ptr<Shard>> shards, const BinnedMatrix& layout,
              NodeId node, const Context& context)
      : shards_(shards), layout_(layout), node_(node), context_(context) {}
  std::size_t n_left(const Split& split) const override {
    std::size_t n = 0;
    for (const auto& shard : shards_) n += shard->n_left(node_, split, context_);
    return n;
  }
  void count(BinCounts& counts) const override {
    counts.rows.assign(layout_.histogram_size(), 0);
    counts.offset = layout_.column_offset;
    counts.all_counted = true;
    for (const auto& shard : shards_) shard->count(node_, counts.rows, context_);
  }

 private:
  std::span<const std::unique_ptr<Shard>> shards_;
  const BinnedMatrix& layout_;
  NodeId node_;
  const Context& context_;
};

/// Drives a grower over shards: sums travel, rows stay.
class ShardedTree {
 public:
  ShardedTree(std::span<const std::unique_ptr<Shard>> shards, const BinnedMatrix& layout,
              const Stats& stats, Grower& grower, const Context& context)
      : shards_(shards), layout_(layout), stats_(stats), grower_(grower), context_(context) {}

  void start() {
    std::vector<std::int64_t> totals(stats_.width, 0);
    std::vector<double> range = empty_ranges(stats_.n_outputs);
    RowFacts root;
    for (const auto& shard : shards_) {
      const RowFacts facts = shard->begin(totals, range);
      root.rows += facts.rows;
      if (facts.rows > 0) root.row = facts.row;
    }
    root.constant_target = constant(stats_, range);
    grower_.start(totals, root);
    for (const NodeId id : grower_.wanted()) feed(id, sum_of(id));
  }

  void split(NodeId id) {
    const NodeId left = grower_.node(id).left;
    const std::size_t half = 2 * stats_.n_outputs;
    RowFacts facts[2];
    std::vector<double> range = empty_ranges(half);
    for (const auto& shard : shards_) {
      shard->route(id, left, grower_.pending(id), facts, range, context_);
    }
    for (std::size_t side = 0; side < 2; ++side) {
      facts[side].constant_target = constant(stats_, {range.data() + side * half, half});
      grower_.describe(left + static_cast<NodeId>(side), facts[side]);
    }
    const std::vector<NodeId> open = grower_.wanted();
    if (open.empty()) return;
    const NodeId fewer = left + (facts[1].rows < facts[0].rows ? 1 : 0);
    Histogram small = sum_of(fewer), large = std::move(kept_[id]);
    subtract(large, small);
    for (const NodeId child : open) feed(child, std::move(child == fewer ? small : large));
  }

  ForestArrays finish() {
    const std::size_t width = stats_.fine_width();
    std::vector<__int128> fine(grower_.size() * width, 0);
    for (NodeId id = 0; id < grower_.size() && width > 0; ++id) {
      if (grower_.node(id).left != 0) continue;
      for (const auto& shard : shards_) shard->add_fine(id, fine.data() + id * width);
    }
    return grower_.finish(std::move(fine));
  }

 private:
  Histogram sum_of(NodeId id) {
    Histogram sum(layout_.histogram_size() * stats_.width, 0);
    for (const auto& shard : shards_) shard->accumulate(id, sum, context_);
    fill_zero_bins(layout_, grower_.sums(id), sum);
    return sum;
  }
  void feed(NodeId id, Histogram sum) {
    const ShardedRows rows(shards_, layout_, id, context_);
    grower_.feed(id, HistogramProfiles(layout_, stats_, sum), context_, &rows);
    kept_.resize(std::max<std::size_t>(kept_.size(), id + 1));
    kept_[id] = std::move(sum);
    for (const NodeId hopeless : grower_.given_up()) Histogram().swap(kept_[hopeless]);
  }

  std::span<const std::unique_ptr<Shard>> shards_;
  const BinnedMatrix& layout_;
  const Stats& stats_;
  Grower& grower_;
  const Context& context_;
  std::vector<Histogram> kept_;  // of open nodes, for the subtraction below them
};

}  // namespace

ForestArrays grow_tree(std::span<const std::unique_ptr<Shard>> shards, const BinnedMatrix& layout,
                       const BinMapper& mapper, const Stats& stats, const TreeParams& params,
                       const Context& context) {
  if (params.criterion == Criterion::absolute_error) {
    throw std::invalid_argument(
        "absolute_error needs all rows in one place: medians do not add up over shards");
  }
  if (params.growth == Growth::symmetric) {
    throw std::invalid_argument("symmetric trees need all rows in one place");
  }
  check_growth(layout, mapper, stats, params);
  const SplitSearch search(params, mapper, stats);
  Grower grower(params, search, stats, layout.n_features);
  ShardedTree tree(shards, layout, stats, grower, context);
  tree.start();
  for (std::vector<NodeId> nodes = grower.splits(); !nodes.empty(); nodes = grower.splits()) {
    for (const NodeId id : nodes) tree.split(id);
    check_interrupt(context);
  }
  return tree.finish();
}

}  // namespace committee
