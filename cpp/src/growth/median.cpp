#include "committee/growth/median.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "committee/growth/tree.hpp"

namespace committee {
namespace {

constexpr double kUnit = 0x1p-60;  // of y_scale

/// Prefix sums of weight and weight * y over the ranks of y, updated in O(log n).
class RankSums {
 public:
  void reset(std::size_t n) {
    n_ = n;
    weight_.assign(n + 1, 0);
    sum_.assign(n + 1, 0);
    total_weight_ = 0;
    total_sum_ = 0;
  }
  void add(std::size_t rank, std::int64_t weight, __int128 sum) {
    total_weight_ += weight;
    total_sum_ += sum;
    for (std::size_t i = rank + 1; i <= n_; i += i & (~i + 1)) {
      weight_[i] += weight;
      sum_[i] += sum;
    }
  }
  /// Sum of weight * |y - median|; y_of(rank) gives y in units.
  template <class YOf>
  __int128 distance(YOf y_of) const {
    const Below below = below_median(0);
    const __int128 median = y_of(below.ranks);
    return (median * below.weight - below.sum) +
           ((total_sum_ - below.sum) - median * (total_weight_ - below.weight));
  }
  /// The median itself, the middle of two where the half falls between them.
  template <class ValueOf>
  double median(ValueOf value_of) const {
    const double lower = value_of(below_median(0).ranks), upper = value_of(below_median(1).ranks);
    return lower == upper ? lower : lower / 2 + upper / 2;
  }
  std::int64_t weight() const { return total_weight_; }

 private:
  struct Below {
    std::size_t ranks = 0;
    std::int64_t weight = 0;
    __int128 sum = 0;
  };
  /// The longest prefix of ranks that holds less than half of the weight (and `slack` units).
  Below below_median(std::int64_t slack) const {
    Below below;
    for (std::size_t step = std::bit_floor(n_); step > 0; step /= 2) {
      const std::size_t end = below.ranks + step;
      if (end > n_ || 2 * (below.weight + weight_[end]) >= total_weight_ + slack) continue;
      below = {end, below.weight + weight_[end], below.sum + sum_[end]};
    }
    return below;
  }

  std::size_t n_ = 0;
  std::vector<std::int64_t> weight_;
  std::vector<__int128> sum_;
  std::int64_t total_weight_ = 0;
  __int128 total_sum_ = 0;
};

/// One node's rows, ready to be swept in the order of any feature.
class MedianSearch {
 public:
  MedianSearch(const BinnedMatrix& matrix, const BinMapper& mapper, const Stats& stats,
               const TreeParams& params)
      : matrix_(matrix),
        mapper_(mapper),
        stats_(stats),
        params_(params),
        search_(params, mapper, stats) {}

  void load(std::span<const RowId> rows);
  double median() const;    // of the rows as loaded, before a search
  double impurity() const;  // mean distance, in the user's units
  Split best(std::span<const std::uint32_t> features, std::uint64_t key, const NodeRange& range);

 private:
  struct Position {
    std::uint32_t code;
    std::uint32_t local;
  };
  void sort_by(std::uint32_t feature);
  std::size_t draw(std::uint32_t feature, std::uint64_t key);
  void sweep(std::uint32_t feature, std::uint64_t key, Split& best);
  bool admissible(std::uint32_t feature, std::size_t n_left, double& middle) const;
  void consider(std::uint32_t feature, std::size_t end, bool missing_left, Split& best);
  std::int64_t y_of(std::size_t rank) const {
    return unit_of_rank_[std::min(rank, unit_of_rank_.size() - 1)];
  }

  const BinnedMatrix& matrix_;
  const BinMapper& mapper_;
  const Stats& stats_;
  const TreeParams& params_;
  SplitSearch search_;
  std::span<const RowId> rows_;
  std::vector<std::uint32_t> rank_;  // of each local row's y among the node's distinct ones
  std::vector<std::int64_t> unit_of_rank_;
  std::vector<double> value_of_rank_;
  std::vector<Position> positions_;  // present rows by code, missing ones behind them
  std::size_t n_present_ = 0;
  std::size_t best_end_ = 0;
  double drawn_ = -std::numeric_limits<double>::infinity();
  __int128 parent_ = 0;
  double lower_ = 0, upper_ = 0;  // monotone bounds on the node's value
  RankSums left_, right_;
};

void MedianSearch::load(std::span<const RowId> rows) {
  rows_ = rows;
  std::vector<std::uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return stats_.y[rows[a]] < stats_.y[rows[b]];
  });
  rank_.resize(rows.size());
  unit_of_rank_.clear();
  value_of_rank_.clear();
  for (const std::uint32_t i : order) {
    const double y = stats_.y[rows[i]];
    if (value_of_rank_.empty() || value_of_rank_.back() != y) {
      value_of_rank_.push_back(y);
      unit_of_rank_.push_back(stats_.y_units(rows[i], 0, 2));
    }
    rank_[i] = static_cast<std::uint32_t>(value_of_rank_.size() - 1);
  }
  left_.reset(value_of_rank_.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int64_t w = stats_.weight_units(rows[i]);
    left_.add(rank_[i], w, static_cast<__int128>(w) * unit_of_rank_[rank_[i]]);
  }
  parent_ = left_.distance([&](std::size_t r) { return y_of(r); });
}

double MedianSearch::median() const {
  return left_.median([&](std::size_t r) { return value_of_rank_[r]; });
}

double MedianSearch::impurity() const {
  std::int64_t total = 0;
  for (const RowId r : rows_) total += stats_.weight_units(r);
  return static_cast<double>(parent_) / static_cast<double>(total) * stats_.y_scale() * kUnit;
}

void MedianSearch::sort_by(std::uint32_t feature) {
  const std::uint32_t missing = matrix_.n_bins[feature];
  positions_.resize(rows_.size());
  n_present_ = 0;
  for (std::uint32_t i = 0; i < rows_.size(); ++i) {
    positions_[i] = {matrix_.code(rows_[i], feature), i};
    n_present_ += positions_[i].code != missing;
  }
  if (mapper_.feature(feature).categorical) {  // levels by their mean, as for squared error
    std::vector<__int128> sum(missing + 1, 0);
    std::vector<std::int64_t> weight(missing + 1, 0);
    for (const Position& p : positions_) {
      const std::int64_t w = stats_.weight_units(rows_[p.local]);
      weight[p.code] += w;
      sum[p.code] += static_cast<__int128>(w) * unit_of_rank_[rank_[p.local]];
    }
    const auto mean = [&](std::uint32_t c) {
      return static_cast<double>(sum[c]) / static_cast<double>(weight[c]);
    };
    std::sort(positions_.begin(), positions_.end(), [&](const Position& a, const Position& b) {
      if ((a.code == missing) != (b.code == missing)) return b.code == missing;
      if (a.code == b.code) return a.local < b.local;
      return mean(a.code) < mean(b.code) || (mean(a.code) == mean(b.code) && a.code < b.code);
    });
  } else {
    std::sort(positions_.begin(), positions_.end(), [](const Position& a, const Position& b) {
      return a.code < b.code || (a.code == b.code && a.local < b.local);
    });
  }
}

/// Whether both sides satisfy every limit. middle: between their medians, where the feature is
/// constrained.
bool MedianSearch::admissible(std::uint32_t feature, std::size_t n_left, double& middle) const {
  const std::size_t n_right = rows_.size() - n_left;
  if (std::min(n_left, n_right) < std::max<std::size_t>(1, params_.min_rows_leaf)) return false;
  const double unit = stats_.weight_scale() * stats_.unit(stats_.n_sums - 1);
  const double least = params_.min_weight_leaf * kRounded;
  if (static_cast<double>(std::min(left_.weight(), right_.weight())) * unit < least) return false;
  const int sign = params_.monotone.empty() ? 0 : params_.monotone[feature];
  if (sign == 0) return true;
  const auto value = [&](std::size_t r) { return value_of_rank_[r]; };
  const double left = left_.median(value), right = right_.median(value);
  middle = left / 2 + right / 2;
  return std::min(left, right) >= lower_ && std::max(left, right) <= upper_ &&
         (sign > 0 ? left <= right : left >= right);
}

/// Scores "the first `end` positions go left", the missing rows already standing on their side.
void MedianSearch::consider(std::uint32_t feature, std::size_t end, bool missing_left,
                            Split& best) {
  const std::size_t n_missing = rows_.size() - n_present_;
  double middle = 0;
  if (!admissible(feature, end + (missing_left ? n_missing : 0), middle)) return;
  const auto y = [&](std::size_t r) { return y_of(r); };
  const auto gain = static_cast<double>(parent_ - left_.distance(y) - right_.distance(y));
  // Ties: the lower feature, then the lower cut, then missing to the right.
  const bool tie = gain == best.quality && feature == best.feature && end < best_end_;
  if (!(gain > best.quality) && !tie) return;
  best_end_ = end;
  best.quality = gain;
  best.gain = gain * stats_.unit(stats_.n_sums - 1) * kUnit;
  best.feature = feature;
  best.middle = middle;
  best.missing_left = n_missing > 0 ? missing_left : left_.weight() >= right_.weight();
  const FeatureBins& bins = mapper_.feature(feature);
  best.categorical = bins.categorical;
  best.levels.clear();
  if (bins.categorical) {
    const bool left_heavier =
        left_.weight() >= right_.weight();  // levels absent from the node go there
    best.levels = level_set(bins.n_bins, left_heavier);
    for (std::size_t i = 0; i < n_present_; ++i) {
      put_level(best.levels, positions_[i].code, i < end);
    }
  } else if (end == n_present_) {
    best.bin = bins.n_bins - 1;
    best.threshold = std::numeric_limits<double>::max();
  } else {
    best.bin = positions_[end - 1].code;
    const double low = bins.gap_low[best.bin], high = bins.gap_high[positions_[end].code - 1];
    const bool inside = drawn_ >= low && drawn_ < high;
    best.threshold = inside ? drawn_ : threshold_between(bins, best.bin, positions_[end].code);
  }
}

/// Random rule: the one boundary that is tried, as a number of positions; n where there is none to
/// draw. Numeric: a uniform threshold between the smallest and the largest value; levels: a uniform
/// cut in their order.
std::size_t MedianSearch::draw(std::uint32_t feature, std::uint64_t key) {
  std::vector<std::size_t> ends;  // positions after which the code changes
  for (std::size_t i = 1; i < n_present_; ++i) {
    if (positions_[i].code != positions_[i - 1].code) ends.push_back(i);
  }
  drawn_ = -std::numeric_limits<double>::infinity();
  if (ends.empty()) return rows_.size();
  KeyedStream stream(mix(key, feature), Use::threshold);
  const FeatureBins& bins = mapper_.feature(feature);
  if (bins.categorical) return ends[stream.below(ends.size())];
  const double low = bins.gap_low[positions_[0].code],
               high = bins.gap_high[positions_[n_present_ - 1].code - 1];
  const double u = stream.uniform();
  drawn_ = low * (1 - u) + high * u;
  std::size_t k = 0;
  while (k + 1 < ends.size() && bins.gap_low[positions_[ends[k]].code] <= drawn_) ++k;
  return ends[k];
}

void MedianSearch::sweep(std::uint32_t feature, std::uint64_t key, Split& best) {
  sort_by(feature);
  const std::size_t n = rows_.size(), n_missing = n - n_present_;
  const std::size_t only = params_.rule == SplitRule::random ? draw(feature, key) : n;
  for (int missing_left = 0; missing_left <= (n_missing > 0 ? 1 : 0); ++missing_left) {
    left_.reset(value_of_rank_.size());
    right_.reset(value_of_rank_.size());
    const auto put = [&](RankSums& side, const Position& p, std::int64_t sign) {
      const std::int64_t w = sign * stats_.weight_units(rows_[p.local]);
      side.add(rank_[p.local], w, static_cast<__int128>(w) * unit_of_rank_[rank_[p.local]]);
    };
    for (std::size_t i = 0; i < n_present_; ++i) put(right_, positions_[i], 1);
    for (std::size_t i = n_present_; i < n; ++i)
      put(missing_left ? left_ : right_, positions_[i], 1);
    for (std::size_t i = 0; i < n_present_; ++i) {
      put(left_, positions_[i], 1);
      put(right_, positions_[i], -1);
      if (i + 1 < n_present_ && positions_[i].code == positions_[i + 1].code) continue;
      if (only != n && i + 1 != only) continue;
      consider(feature, i + 1, missing_left != 0, best);
    }
  }
}

Split MedianSearch::best(std::span<const std::uint32_t> features, std::uint64_t key,
                         const NodeRange& range) {
  lower_ = range.lower;
  upper_ = range.upper;
  std::vector<std::uint32_t> order(features.begin(), features.end());
  const bool sampled = params_.node_features != 0 && params_.node_features < order.size();
  if (sampled) {
    KeyedStream stream(key, Use::node_features);
    for (std::size_t i = 0; i + 1 < order.size(); ++i)
      std::swap(order[i], order[i + stream.below(order.size() - i)]);
    std::size_t take = 0;
    for (std::size_t varying = 0;
         take < order.size() && (take < params_.node_features || varying == 0); ++take) {
      const std::uint32_t first = matrix_.code(rows_[0], order[take]);
      varying += std::any_of(rows_.begin(), rows_.end(),
                             [&](RowId r) { return matrix_.code(r, order[take]) != first; });
    }
    order.resize(take);
    std::sort(order.begin(), order.end());  // ties go to the lower feature
  }
  Split best;
  for (const std::uint32_t feature : order) sweep(feature, key, best);
  if (!best.found() || !search_.enough(best.gain)) return {};
  best.left.assign(stats_.width, 0);
  best.right.assign(stats_.width, 0);
  for (const RowId r : rows_) {
    const bool left = best.goes_left(matrix_.code(r, best.feature), matrix_.n_bins[best.feature]);
    stats_.add_row(r, (left ? best.left : best.right).data());
  }
  return best;
}

}  // namespace

void grow_by_medians(const BinnedMatrix& matrix, const BinMapper& mapper, const Stats& stats,
                     const TreeParams& params, Grower& grower, Partition& partition,
                     const Context& context) {
  MedianSearch search(matrix, mapper, stats, params);
  // Best-first when leaves are bounded: the open node of the largest gain is split next.
  struct Open {
    NodeId node;
    Split split;
  };
  std::vector<Open> open;
  const auto visit = [&](NodeId id) {
    const GrownNode& node = grower.node(id);
    NodeRange& range = grower.range(id);
    search.load(partition.rows(node.begin, node.rows));
    range.value = std::clamp(search.median(), range.lower, range.upper);
    range.impurity = search.impurity();
    if (!node.open) return;
    Split split = search.best(grower.candidates(id), node.key, range);
    if (split.found()) open.push_back({id, std::move(split)});
  };
  visit(0);
  for (std::size_t n_leaves = 1; !open.empty() && n_leaves < params.max_leaves; ++n_leaves) {
    check_interrupt(context);
    auto next = open.end() - 1;
    if (params.growth == Growth::best_first) {
      next = std::max_element(open.begin(), open.end(), [](const Open& a, const Open& b) {
        return a.split.gain < b.split.gain || (a.split.gain == b.split.gain && a.node > b.node);
      });
    }
    const Open now = std::move(*next);
    open.erase(next);
    const GrownNode node = grower.node(now.node);
    const NodeId left = grower.apply(now.node, now.split);
    const std::size_t n_left = partition.divide(node.begin, node.rows, matrix, now.split, context);
    grower.node(left).begin = node.begin;
    grower.node(left + 1).begin = static_cast<RowId>(node.begin + n_left);
    grower.describe(left, row_facts(stats, partition.rows(node.begin, n_left)));
    grower.describe(left + 1,
                    row_facts(stats, partition.rows(node.begin + n_left, node.rows - n_left)));
    visit(left);
    visit(left + 1);
  }
  grower.forget_wanted();
}

}  // namespace committee
