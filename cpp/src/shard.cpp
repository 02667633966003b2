#include "committee/shard.hpp"

#include <algorithm>

#include "committee/tree.hpp"

namespace committee {

namespace {

/// Rows of weight zero are as good as absent.
std::vector<RowId> weighty(const Stats& stats, std::span<const RowId> rows) {
  std::vector<RowId> some;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(some),
               [&](RowId r) { return std::binary_search(stats.rows.begin(), stats.rows.end(), r); });
  return some;
}

}  // namespace

MemoryShard::MemoryShard(const BinnedMatrix& matrix, const Stats& stats, std::span<const RowId> rows)
    : matrix_(matrix), stats_(stats), partition_(weighty(stats, rows)), ranges_{{0, partition_.rows().size()}} {}

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

void MemoryShard::route(NodeId node, NodeId left, const Split& split, RowFacts facts[2], std::span<double> y_range,
                        const Context& context) {
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

}  // namespace

ForestArrays grow_tree(std::span<const std::unique_ptr<Shard>> shards, const BinnedMatrix& layout,
                       const BinMapper& mapper, const Stats& stats, const TreeParams& params,
                       const Context& context) {
  if (params.criterion == Criterion::absolute_error) {
    throw std::invalid_argument("absolute_error needs all rows in one place: medians do not add up over shards");
  }
  check_growth(layout, mapper, stats, params);
  const SplitSearch search(params, mapper, stats);
  Grower grower(params, search, stats, layout.n_features);
  std::vector<std::int64_t> totals(stats.width, 0);
  std::vector<double> range = empty_ranges(stats.n_outputs);
  RowFacts root;
  for (const auto& shard : shards) {
    const RowFacts facts = shard->begin(totals, range);
    root.rows += facts.rows;
    if (facts.rows > 0) root.row = facts.row;
  }
  root.constant_target = constant(stats, range);
  grower.start(totals, root);

  std::vector<Histogram> kept;  // of open nodes, for the subtraction below them
  const auto sum_of = [&](NodeId id) {
    Histogram sum(layout.histogram_size() * stats.width, 0);
    for (const auto& shard : shards) shard->accumulate(id, sum, context);
    fill_zero_bins(layout, stats, grower.sums(id), sum);
    return sum;
  };
  const auto feed = [&](NodeId id, Histogram sum) {
    grower.feed(id, HistogramProfiles(layout, stats, sum), context);
    kept.resize(std::max<std::size_t>(kept.size(), id + 1));
    kept[id] = std::move(sum);
  };
  for (const NodeId id : grower.wanted()) feed(id, sum_of(id));
  for (std::vector<NodeId> nodes = grower.splits(); !nodes.empty(); nodes = grower.splits()) {
    for (const NodeId id : nodes) {
      const NodeId left = grower.node(id).left;
      RowFacts facts[2];
      range = empty_ranges(2 * stats.n_outputs);
      for (const auto& shard : shards) shard->route(id, left, grower.pending(id), facts, range, context);
      for (std::size_t side = 0; side < 2; ++side) {
        const std::span<const double> half(range.data() + side * 2 * stats.n_outputs, 2 * stats.n_outputs);
        facts[side].constant_target = constant(stats, half);
        grower.describe(left + static_cast<NodeId>(side), facts[side]);
      }
      const std::vector<NodeId> open = grower.wanted();
      if (open.empty()) continue;
      const NodeId fewer = left + (facts[1].rows < facts[0].rows ? 1 : 0);
      Histogram small = sum_of(fewer), large = std::move(kept[id]);
      subtract(large, small);
      for (const NodeId child : open) feed(child, std::move(child == fewer ? small : large));
    }
    check_interrupt(context);
  }
  std::vector<__int128> fine(grower.size() * stats.fine_width(), 0);
  for (NodeId id = 0; id < grower.size() && !fine.empty(); ++id) {
    if (grower.node(id).left != 0) continue;
    for (const auto& shard : shards) shard->add_fine(id, fine.data() + id * stats.fine_width());
  }
  return grower.finish(std::move(fine));
}

}  // namespace committee
