#include "committee/search/split.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "search/draw_table.hpp"
#include "search/feature_search.hpp"

namespace committee {
namespace {

constexpr double kNoBound = -std::numeric_limits<double>::infinity();

/// As ProfileSource::halves does.
void fill(const Halves& halves, Profile& out) {
  out.reserve(2, 1);
  out.n = 2;
  out.raw[0] = halves.left;
  out.bin[0] = halves.below;
  out.bin[1] = halves.above;
  out.has_missing = false;
}

}  // namespace

double threshold_between(const FeatureBins& bins, std::uint32_t left, std::uint32_t right) {
  const double middle = cut_between(bins.gap_low[left], bins.gap_high[right - 1]);
  const auto first = bins.cuts.begin() + left, last = bins.cuts.begin() + (right - 1);
  const auto above = std::lower_bound(first, last, middle);  // at most the last of them
  if (above == first) return *first;
  const double low = *(above - 1), high = *above;
  return middle / 2 - low / 2 <= high / 2 - middle / 2 ? low : high;
}

std::vector<std::uint64_t> level_set(std::uint32_t n_levels, bool all) {
  std::vector<std::uint64_t> set((n_levels + 63) / 64, all ? ~std::uint64_t{0} : 0);
  if (n_levels % 64 != 0) set.back() &= (std::uint64_t{1} << (n_levels % 64)) - 1;
  return set;
}

void put_level(std::vector<std::uint64_t>& set, std::uint32_t level, bool in) {
  const std::uint64_t bit = std::uint64_t{1} << (level % 64);
  std::uint64_t& word = set[level / 64];
  word = in ? word | bit : word & ~bit;
}

std::vector<std::uint8_t> side_table(const Split& split, std::uint32_t n_bins) {
  std::vector<std::uint8_t> side(n_bins + 1);
  if (split.categorical) {
    for (std::uint32_t code = 0; code < n_bins; ++code)
      side[code] = split.goes_left(code, n_bins) ? 1 : 0;
  } else {
    std::fill_n(side.begin(), std::min(split.bin + 1, n_bins), std::uint8_t{1});
  }
  side[n_bins] = split.missing_left ? 1 : 0;
  return side;
}

SplitSearch::SplitSearch(const TreeParams& params, const BinMapper& mapper, const Stats& stats)
    : params_(params), mapper_(mapper), stats_(stats) {
  shape_ = {stats.n_sums, stats.n_classes, params.l2, params.l1};
  min_weight_ = params.min_weight_leaf / stats.weight_scale() * kRounded;
  if (stats.kind == SumKind::newton && stats.n_outputs > 1) shape_.least = params.least_hessian;
  pair_ = stats.n_sums == 2 && !stats.has_count() && stats.width <= 2;
  check_rows_ = params.min_rows_leaf > 1 || params.in_parts;
  if (params.criterion == Criterion::newton) {
    free_ = find_free();
    two_bins_ = find_two_bins();
  }
  if (params.rule == SplitRule::random) draw_table_ = std::make_unique<DrawTable>(mapper);
}

SplitSearch::~SplitSearch() = default;

double SplitSearch::pair_value(double a, double b) const {
  if (stats_.kind == SumKind::newton) a = soft_threshold(a, params_.l1);
  return pair_ratio(a, b);
}

double SplitSearch::pair_ratio(double a, double b) const {
  if (stats_.kind == SumKind::classes) return b / (a + b);
  return (stats_.kind == SumKind::newton ? -a : a) / (b + params_.l2);
}

void SplitSearch::score_plain(const double* a, const double* b, std::size_t n,
                              const double total[2], double* out) const {
  if (params_.criterion == Criterion::newton && params_.l1 > 0) {
    return score_thresholded(params_.l1, params_.l2, a, b, n, total[0], total[1], out);
  }
  score_boundaries(params_.criterion, params_.l2, a, b, n, total[0], total[1], out);
}

double SplitSearch::plain_parent(double parent) const {
  return params_.criterion == Criterion::newton && params_.l1 == 0 ? 0.0 : parent;
}

Candidate SplitSearch::best_candidate(const NodeSums& node, const ProfileSource& profiles,
                                      const Context& context, Scratch& scratch) const {
  std::vector<double>&sums = scratch.sums, &mean = scratch.mean;
  sums.resize(shape_.n_sums);
  mean.assign(shape_.n_sums, 0.0);
  stats_.decode(node.raw.data(), sums.data());
  // Squared error is taken from the node's mean, where s(P) = 0: no cancellation far from zero.
  const bool squared = params_.criterion == Criterion::squared_error;
  for (std::size_t m = 0; squared && m + 1 < shape_.n_sums; ++m) {
    mean[m] = sums[m] / sums[shape_.n_sums - 1];
  }
  const double parent = squared ? 0.0 : node_score(params_.criterion, shape_, sums.data());
  const double perfect = perfect_score(params_.criterion, shape_, sums.data()) - parent;
  const double weight = stats_.weight_of(sums.data());
  const std::optional<NewtonTerms> newton = newton_terms(node);
  FeatureSearch search{*this,   node,   parent,   mean,
                       perfect, weight, &context, newton ? &*newton : nullptr};
  if (!node.retired.empty()) search.noise = rounding(node);
  return search_features(search, profiles, context, scratch);
}

/// What all cuts of numeric features share, where Newton's gain can score them at once.
std::optional<NewtonTerms> SplitSearch::newton_terms(const NodeSums& node) const {
  const bool rows_counted = check_rows_ && stats_.counts_rows();
  const double rows = rows_counted ? static_cast<double>(params_.min_rows_leaf) : 0.0;
  const double least = std::max(min_weight_, rows);
  if (params_.criterion != Criterion::newton || params_.rule == SplitRule::random ||
      params_.l1 != 0 || stats_.width != 1 || !pair_ || !stats_.small_sums() || !(least > 0))
    return std::nullopt;
  return NewtonTerms(node.raw[0], stats_.shift, stats_.unit(0), stats_.unit(1), params_.l2, least);
}

void SplitSearch::materialise(const NodeSums& node, const ProfileSource& profiles,
                              const Candidate& found, Scratch& scratch, Split& split) const {
  const std::size_t width = stats_.width;
  Candidate c = found;
  if (c.halves) {
    fill(*c.halves, scratch.profile);
  } else if (c.halved) {
    profiles.halves(c.feature, c.bin, width, scratch.profile);
  } else {
    profiles.read(c.feature, scratch.profile);
  }
  Profile& profile = scratch.profile;
  if (c.by_bin) {
    const auto end = profile.bin.begin() + static_cast<std::ptrdiff_t>(profile.n);
    const auto at = std::lower_bound(profile.bin.begin(), end, c.bin);
    c.boundary.index = static_cast<std::size_t>(at - profile.bin.begin());
  }
  split.quality = c.quality;
  split.gain = c.boundary.gain;
  split.feature = c.feature;
  split.categorical = mapper_.feature(c.feature).categorical;
  scratch.order.resize(profile.n);
  std::iota(scratch.order.begin(), scratch.order.end(), 0u);
  split.chained = c.multiway && profile.n > 2;
  if (split.categorical && !c.multiway) {  // else levels are in their own order
    FeatureSearch{*this, node, 0, {}, 0}.order_levels(scratch, c.feature, c.variant);
  }
  split.left.assign(width, 0);
  for (std::size_t i = 0; i <= c.boundary.index; ++i) {
    const std::int64_t* cell = profile.raw.data() + scratch.order[i] * width;
    for (std::size_t j = 0; j < width; ++j) split.left[j] += cell[j];
  }
  split.right.resize(width);
  for (std::size_t j = 0; j < width; ++j) {
    if (c.boundary.missing_left) split.left[j] += profile.missing[j];
    split.right[j] = node.raw[j] - split.left[j];
    if (params_.in_parts && profile.has_missing) split.right[j] -= profile.missing[j];
  }
  if (params_.in_parts) profile.has_missing = false;
  spell(scratch, c, split);
}

/// What the sums do not say: the threshold or the levels, and where the unseen goes.
void SplitSearch::spell(Scratch& scratch, const Candidate& c, Split& split) const {
  const Profile& profile = scratch.profile;
  const FeatureBins& bins = mapper_.feature(c.feature);
  std::vector<double>&left = scratch.left, &right = scratch.right;
  left.resize(shape_.n_sums);
  right.resize(shape_.n_sums);
  stats_.decode(split.left.data(), left.data());
  stats_.decode(split.right.data(), right.data());
  if (c.multiway) {  // the gain of this step alone; those of a chain add up to the whole
    split.gain = node_score(params_.criterion, shape_, left.data()) +
                 node_score(params_.criterion, shape_, right.data()) - parent_score(split);
  }
  // Missing values first met after training follow the heavier side; so do levels absent here.
  const bool left_heavier = stats_.weight_of(left.data()) >= stats_.weight_of(right.data());
  split.missing_left = profile.has_missing ? c.boundary.missing_left : left_heavier;
  if (split.categorical) {
    split.levels = level_set(bins.n_bins, left_heavier);
    for (std::size_t i = 0; i < profile.n; ++i) {
      put_level(split.levels, profile.bin[scratch.order[i]], i <= c.boundary.index);
    }
  } else if (c.boundary.index + 1 == profile.n) {  // every value left, missing right
    split.bin = bins.n_bins - 1;
    split.threshold = std::numeric_limits<double>::max();
  } else {
    split.bin = profile.bin[c.boundary.index];
    const std::uint32_t next = profile.bin[c.boundary.index + 1];
    const double t = c.threshold;  // a drawn cut stays where it is, unless between binned values
    const bool drawn = c.halved && t >= bins.gap_low[split.bin] && t < bins.gap_high[next - 1];
    split.threshold = drawn ? t : threshold_between(bins, split.bin, next);
  }
}

bool SplitSearch::best(const NodeSums& node, const ProfileSource& profiles, const Context& context,
                       Split& split) const {
  thread_local Scratch scratch;
  const Candidate candidate = best_candidate(node, profiles, context, scratch);
  if (!candidate.boundary.found) return false;
  if (!node.chained && !gains(candidate.boundary.gain, rounding(node))) return false;
  if (candidate.boundary.gain <= node.floor) return false;
  materialise(node, profiles, candidate, scratch, split);
  return true;
}

double SplitSearch::parent_score(const Split& split) const {
  std::vector<std::int64_t> both(split.left.begin(), split.left.end());
  for (std::size_t j = 0; j < both.size(); ++j) both[j] += split.right[j];
  std::vector<double> sums(shape_.n_sums);
  stats_.decode(both.data(), sums.data());
  return node_score(params_.criterion, shape_, sums.data());
}

double SplitSearch::node_weight(const NodeSums& node) const {
  double few[8];
  std::vector<double> many(shape_.n_sums > std::size(few) ? shape_.n_sums : 0);
  double* const sums = many.empty() ? few : many.data();
  stats_.decode(node.raw.data(), sums);
  return stats_.weight_of(sums);
}

/// A gain that rounding alone may bring is none.
double SplitSearch::rounding(const NodeSums& node) const {
  if (stats_.gradient32.empty() || !std::isfinite(params_.min_gain)) return kNoBound;
  return stats_.gain_noise(static_cast<double>(node.rows), node_weight(node));
}

bool SplitSearch::enough(double gain) const {
  if (params_.min_gain <= 0)
    return gain > params_.min_gain;  // scales could make a tiny gain vanish
  return gain * score_scale() * stats_.weight_scale() > params_.min_gain;
}

double SplitSearch::score_scale() const {
  const double mean =
      1.0 / static_cast<double>(stats_.n_outputs);  // impurities are averaged over outputs
  switch (params_.criterion) {
    case Criterion::newton:
      return 1;  // gains of outputs are added
    case Criterion::squared_error:
      return mean * stats_.y_scale() * stats_.y_scale();
    case Criterion::poisson:
    case Criterion::absolute_error:
      return mean * stats_.y_scale();
    case Criterion::entropy:
    case Criterion::gain_ratio:
    case Criterion::normalized_gain:
      return mean / det_log(2.0);  // bits
    default:
      return mean;
  }
}

}  // namespace committee
