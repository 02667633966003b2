#include "committee/split.hpp"

#include <algorithm>
#include <numeric>

#include "scan.hpp"

namespace committee {
namespace {

constexpr std::size_t kParallelCells = 65536;  // bins to scan before a second thread is worth waking

double infinity() { return std::numeric_limits<double>::infinity(); }

}  // namespace

struct SplitSearch::Candidate {
  Boundary boundary;
  double quality = -infinity();
  std::uint32_t feature = 0;
  std::size_t variant = 0;  // categorical: which order of the levels
  double threshold = 0;     // random rule: the drawn one
  bool drawn = false;

  bool better_than(const Candidate& other) const {
    if (!boundary.found) return false;
    if (!other.boundary.found || quality > other.quality) return true;
    return quality == other.quality && feature < other.feature;
  }
};

struct SplitSearch::Scratch {
  Profile profile;
  std::vector<std::uint32_t> order;
  std::vector<double> ratio;
};

SplitSearch::SplitSearch(const TreeParams& params, const BinMapper& mapper, const Stats& stats)
    : params_(params), mapper_(mapper), stats_(stats) {
  shape_ = {stats.n_sums, stats.n_classes, params.l2};
  min_weight_ = params.min_weight_leaf / stats.weight_scale();
  pair_ = stats.n_sums == 2 && !stats.has_count() && stats.width <= 2;
  check_rows_ = params.min_rows_leaf > 1;
}

double SplitSearch::pair_value(double a, double b) const {
  if (stats_.kind == SumKind::classes) return b / (a + b);
  return (stats_.kind == SumKind::newton ? -a : a) / (b + params_.l2);
}

/// Scans one profile in one order with the criterion at hand.
struct SplitSearch::Worker {
  const SplitSearch& s;
  const NodeSums& node;
  double parent;

  template <class Scorer>
  void run(const Scorer& scorer, const Profile& profile, const std::uint32_t* order, std::size_t begin,
           std::size_t end, const Limits& limits, Boundary& best) const {
    const Criterion c = s.params_.criterion;
    if (c == Criterion::normalized_gain) {
      scan(scorer, profile, order, node.raw, begin, end, parent, limits,
           [&](double gain, double l, double r) { return normalised(c, gain, parent, l, r); }, best);
    } else {
      scan(scorer, profile, order, node.raw, begin, end, parent, limits,
           [](double gain, double, double) { return gain; }, best);
    }
  }

  template <class C, class M>
  void with(C pair_criterion, M many_criterion, const Profile& profile, const std::uint32_t* order,
            std::size_t begin, std::size_t end, const Limits& limits, Boundary& best) const {
    const Stats& stats = s.stats_;
    if (s.pair_ && stats.width == 1) {
      run(PairScorer<C, true>{pair_criterion, stats.kind, stats.shift, stats.unit(0), stats.unit(1),
                              s.params_.l2, limits.check_values},
          profile, order, begin, end, limits, best);
    } else if (s.pair_) {
      run(PairScorer<C, false>{pair_criterion, stats.kind, 0, stats.unit(0), stats.unit(1), s.params_.l2,
                               limits.check_values},
          profile, order, begin, end, limits, best);
    } else {
      run(ManyScorer<M>{many_criterion, stats, s.shape_, s, s.check_rows_, limits.check_values, stats.width,
                        std::vector<double>(stats.n_sums)},
          profile, order, begin, end, limits, best);
    }
  }

  void operator()(const Profile& profile, const std::uint32_t* order, std::size_t begin, std::size_t end,
                  const Limits& limits, Boundary& best) const {
    switch (s.params_.criterion) {
      case Criterion::gini:
        return with(pair::Gini{}, many::Gini{}, profile, order, begin, end, limits, best);
      case Criterion::error:
        return with(pair::Error{}, many::Error{}, profile, order, begin, end, limits, best);
      case Criterion::squared_error:
        return with(pair::Squared{}, many::Squared{}, profile, order, begin, end, limits, best);
      case Criterion::newton:
        return with(pair::Squared{s.params_.l2}, many::Newton{}, profile, order, begin, end, limits, best);
      case Criterion::poisson:
        return with(pair::Poisson{}, many::Poisson{}, profile, order, begin, end, limits, best);
      default:
        return with(pair::Entropy{}, many::Entropy{}, profile, order, begin, end, limits, best);
    }
  }

  Limits limits(std::uint32_t feature) const {
    Limits l;
    l.min_weight = s.min_weight_;
    l.min_rows = s.check_rows_ ? static_cast<double>(s.params_.min_rows_leaf) : 0;
    l.check_values = !s.params_.monotone.empty();
    if (l.check_values) l.monotone = s.params_.monotone[feature];
    l.lower = node.lower;
    l.upper = node.upper;
    return l;
  }

  std::size_t n_variants() const;
  void order_levels(Scratch& scratch, std::size_t variant) const;
  void try_numeric(Scratch& scratch, Candidate& out) const;
  void try_random(Scratch& scratch, Candidate& out) const;
  void try_levels(Scratch& scratch, Candidate& out) const;
  bool try_feature(const ProfileSource& profiles, std::uint32_t feature, Scratch& scratch, Candidate& out) const;
};

/// Two classes and regression need one order (by share or mean), which holds the best of all 2^L subsets (Fisher
/// 1958, Breiman et al. 1984). For more classes the rule is: one order for each class, by its share; the best prefix
/// of any. Several outputs: the same over all their classes or targets.
std::size_t SplitSearch::Worker::n_variants() const {
  if (s.stats_.kind == SumKind::newton || s.shape_.n_sums == 2) return 1;
  return s.stats_.kind == SumKind::classes ? s.shape_.n_sums : s.shape_.n_sums - 1;
}

void SplitSearch::Worker::order_levels(Scratch& scratch, std::size_t variant) const {
  const Profile& profile = scratch.profile;
  std::vector<double> sums(s.shape_.n_sums);
  scratch.order.resize(profile.n);
  scratch.ratio.resize(profile.n);
  std::iota(scratch.order.begin(), scratch.order.end(), 0u);
  for (std::size_t i = 0; i < profile.n; ++i) {
    s.stats_.decode(profile.raw.data() + i * s.stats_.width, sums.data());
    const bool two = s.shape_.n_sums == 2;
    scratch.ratio[i] = two ? s.pair_value(sums[0], sums[1]) : sums[variant] / s.stats_.weight_of(sums.data());
  }
  std::stable_sort(scratch.order.begin(), scratch.order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return scratch.ratio[a] < scratch.ratio[b]; });
}

void SplitSearch::Worker::try_numeric(Scratch& scratch, Candidate& out) const {
  const std::size_t n = scratch.profile.n;
  const std::size_t end = scratch.profile.has_missing ? n : n - 1;
  (*this)(scratch.profile, nullptr, 0, end, limits(out.feature), out.boundary);
}

/// One uniform draw between the smallest and the largest value of the node; with missing rows the side they take is
/// still learned, and a node with one value and missing rows is cut between the two.
void SplitSearch::Worker::try_random(Scratch& scratch, Candidate& out) const {
  const Profile& profile = scratch.profile;
  if (profile.n < 2) return try_numeric(scratch, out);
  const FeatureBins& bins = s.mapper_.feature(out.feature);
  KeyedStream stream(mix(node.key, out.feature), Use::threshold);
  const double low = bins.gap_low[profile.bin[0]], high = bins.gap_high[profile.bin[profile.n - 1] - 1];
  const double u = stream.uniform();
  const double t = low * (1 - u) + high * u;
  // The last bin whose largest value does not exceed t goes left; never all of them.
  const auto first = bins.gap_low.begin();
  auto b = static_cast<std::size_t>(std::upper_bound(first, bins.gap_low.end(), t) - first);
  b = std::max<std::size_t>(b, 1) - 1;
  std::size_t index = 0;
  while (index + 2 < profile.n && profile.bin[index + 1] <= b) ++index;
  (*this)(profile, nullptr, index, index + 1, limits(out.feature), out.boundary);
  out.drawn = t >= bins.gap_low[profile.bin[index]] && t < bins.gap_high[profile.bin[index + 1] - 1];
  out.threshold = t;
}

void SplitSearch::Worker::try_levels(Scratch& scratch, Candidate& out) const {
  const Profile& profile = scratch.profile;
  const std::size_t end = profile.has_missing ? profile.n : profile.n - 1;
  const bool random = s.params_.rule == SplitRule::random && profile.n > 1;
  for (std::size_t variant = 0; variant < (random ? 1 : n_variants()); ++variant) {
    order_levels(scratch, variant);
    Boundary best = out.boundary;
    if (random) {  // one uniform cut in the order of the levels
      KeyedStream stream(mix(node.key, out.feature), Use::threshold);
      const std::size_t index = stream.below(profile.n - 1);
      (*this)(profile, scratch.order.data(), index, index + 1, limits(out.feature), best);
    } else {
      (*this)(profile, scratch.order.data(), 0, end, limits(out.feature), best);
    }
    if (!best.found || (out.boundary.found && !(best.score > out.boundary.score))) continue;
    out.boundary = best;
    out.variant = variant;
  }
}

/// False when the feature is constant in the node.
bool SplitSearch::Worker::try_feature(const ProfileSource& profiles, std::uint32_t feature, Scratch& scratch,
                                      Candidate& out) const {
  profiles.read(feature, scratch.profile);
  const Profile& profile = scratch.profile;
  out = Candidate{};
  out.feature = feature;
  if (profile.n + (profile.has_missing ? 1 : 0) < 2 || profile.n == 0) return false;
  if (s.mapper_.feature(feature).categorical) {
    try_levels(scratch, out);
  } else if (s.params_.rule == SplitRule::random) {
    try_random(scratch, out);
  } else {
    try_numeric(scratch, out);
  }
  out.quality = out.boundary.score;
  return true;
}

/// The node's own order of features: all of them, or a keyed shuffle when only some are to be tried.
void SplitSearch::draw_features(const NodeSums& node, std::vector<std::uint32_t>& order) const {
  order.assign(node.features.begin(), node.features.end());
  if (params_.node_features == 0 || params_.node_features >= order.size()) return;
  KeyedStream stream(node.key, Use::node_features);
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    std::swap(order[i], order[i + stream.below(order.size() - i)]);
  }
}

SplitSearch::Candidate SplitSearch::search_features(const NodeSums& node, const ProfileSource& profiles,
                                                    const Context& context) const {
  std::vector<double> sums(shape_.n_sums);
  stats_.decode(node.raw.data(), sums.data());
  const Worker worker{*this, node, node_score(params_.criterion, shape_, sums.data())};
  thread_local std::vector<std::uint32_t> order;
  draw_features(node, order);
  if (const auto* varying = profiles.varying(); varying != nullptr && params_.node_features == 0) {
    std::vector<std::uint32_t> some;
    std::set_intersection(order.begin(), order.end(), varying->begin(), varying->end(), std::back_inserter(some));
    order = std::move(some);
  }
  const bool sampled = params_.node_features != 0 && params_.node_features < order.size();
  const bool ratio = params_.criterion == Criterion::gain_ratio;
  const bool shared = !sampled && !ratio && context.n_threads > 1 && order.size() * 256 >= kParallelCells;

  if (shared) {
    const std::size_t chunk = 32, n_chunks = (order.size() + chunk - 1) / chunk;
    std::vector<Candidate> found(n_chunks);
    const std::uint32_t* features = order.data();
    const std::size_t n_features = order.size();
    parallel_for(n_chunks, context, [&](std::size_t k, int) {
      thread_local Scratch scratch;
      Candidate candidate;
      for (std::size_t i = k * chunk; i < std::min(n_features, (k + 1) * chunk); ++i) {
        worker.try_feature(profiles, features[i], scratch, candidate);
        if (candidate.better_than(found[k])) found[k] = candidate;
      }
    });
    Candidate best;
    for (const Candidate& candidate : found) {
      if (candidate.better_than(best)) best = candidate;
    }
    return best;
  }

  thread_local Scratch scratch;
  std::vector<Candidate> all;  // C4.5 looks at every feature's best before it chooses
  Candidate best, candidate;
  std::size_t visited = 0, varying = 0;
  for (const std::uint32_t feature : order) {
    // Drawn features that are constant here count, but at least one that is not must be seen (pitfall of forests).
    if (sampled && visited >= params_.node_features && varying > 0) break;
    ++visited;
    varying += worker.try_feature(profiles, feature, scratch, candidate) ? 1 : 0;
    if (ratio && candidate.boundary.found) all.push_back(candidate);
    if (candidate.better_than(best)) best = candidate;
  }
  return ratio ? best_ratio(node, profiles, worker.parent, all) : best;
}

/// C4.5: the best gain ratio among the features whose gain is at least the average of all with a positive gain, so
/// that a tiny split entropy alone cannot win (Quinlan 1993, section 2.2).
SplitSearch::Candidate SplitSearch::best_ratio(const NodeSums& node, const ProfileSource& profiles, double parent,
                                               std::vector<Candidate>& all) const {
  double sum = 0;
  std::size_t n_positive = 0;
  for (const Candidate& c : all) {
    if (c.boundary.gain <= 0) continue;
    sum += c.boundary.gain;
    ++n_positive;
  }
  const double average = n_positive > 0 ? sum / static_cast<double>(n_positive) : -infinity();
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) { return a.feature < b.feature; });
  Candidate best;
  for (Candidate& c : all) {
    if (c.boundary.gain < average * (1 - 1e-9)) continue;
    const Split split = materialise(node, profiles, c);
    std::vector<double> left(shape_.n_sums), right(shape_.n_sums);
    stats_.decode(split.left.data(), left.data());
    stats_.decode(split.right.data(), right.data());
    c.quality = normalised(Criterion::gain_ratio, c.boundary.gain, parent, stats_.weight_of(left.data()),
                           stats_.weight_of(right.data()));
    if (c.better_than(best)) best = c;
  }
  return best;
}

Split SplitSearch::materialise(const NodeSums& node, const ProfileSource& profiles, const Candidate& c) const {
  Scratch scratch;
  profiles.read(c.feature, scratch.profile);
  const Profile& profile = scratch.profile;
  const FeatureBins& bins = mapper_.feature(c.feature);
  const std::size_t width = stats_.width;
  Split split;
  split.quality = c.quality;
  split.gain = c.boundary.gain;
  split.feature = c.feature;
  split.categorical = bins.categorical;
  if (split.categorical) Worker{*this, node, 0}.order_levels(scratch, c.variant);
  split.left.assign(width, 0);
  for (std::size_t i = 0; i <= c.boundary.index; ++i) {
    const std::int64_t* cell = profile.raw.data() + (split.categorical ? scratch.order[i] : i) * width;
    for (std::size_t j = 0; j < width; ++j) split.left[j] += cell[j];
  }
  if (c.boundary.missing_left) {
    for (std::size_t j = 0; j < width; ++j) split.left[j] += profile.missing[j];
  }
  split.right.resize(width);
  for (std::size_t j = 0; j < width; ++j) split.right[j] = node.raw[j] - split.left[j];

  std::vector<double> left(shape_.n_sums), right(shape_.n_sums);
  stats_.decode(split.left.data(), left.data());
  stats_.decode(split.right.data(), right.data());
  const bool left_heavier = stats_.weight_of(left.data()) >= stats_.weight_of(right.data());
  // Missing values first met after training follow the heavier side, and so do levels absent from this node.
  split.missing_left = profile.has_missing ? c.boundary.missing_left : left_heavier;
  if (split.categorical) {
    split.levels.assign((bins.n_bins + 63) / 64, left_heavier ? ~std::uint64_t{0} : 0);
    if (bins.n_bins % 64 != 0) split.levels.back() &= (std::uint64_t{1} << (bins.n_bins % 64)) - 1;
    for (std::size_t i = 0; i < profile.n; ++i) {
      const std::uint32_t level = profile.bin[scratch.order[i]];
      const std::uint64_t bit = std::uint64_t{1} << (level % 64);
      split.levels[level / 64] = i <= c.boundary.index ? split.levels[level / 64] | bit : split.levels[level / 64] & ~bit;
    }
  } else if (c.boundary.index + 1 == profile.n) {  // every value left, missing right
    split.bin = bins.n_bins - 1;
    split.threshold = std::numeric_limits<double>::max();
  } else {
    split.bin = profile.bin[c.boundary.index];
    const double low = bins.gap_low[split.bin], high = bins.gap_high[profile.bin[c.boundary.index + 1] - 1];
    split.threshold = c.drawn ? c.threshold : cut_between(low, high);
  }
  return split;
}

Split SplitSearch::best(const NodeSums& node, const ProfileSource& profiles, const Context& context) const {
  const Candidate candidate = search_features(node, profiles, context);
  if (!candidate.boundary.found) return {};
  const double min_gain = params_.min_gain / stats_.weight_scale() / score_scale();
  if (!(candidate.boundary.gain > min_gain)) return {};
  return materialise(node, profiles, candidate);
}

double SplitSearch::score_scale() const {
  const double mean = 1.0 / static_cast<double>(stats_.n_outputs);  // impurities are averaged over outputs
  switch (params_.criterion) {
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
