#include "search/feature_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "committee/search/node_rows.hpp"
#include "search/newton_scan.hpp"

namespace committee {

/// Two sums, and nothing to check but weights and rows, which only move the ends: all boundaries at
/// once.
bool FeatureSearch::plain(const Limits& limits) const {
  return s.pair_ && s.stats_.small_sums() && !limits.check_values &&
         s.params_.criterion != Criterion::normalized_gain;
}

Limits FeatureSearch::limits(std::uint32_t feature) const {
  Limits l;
  l.min_weight = s.min_weight_;
  l.min_rows = s.check_rows_ ? static_cast<double>(s.params_.min_rows_leaf) : 0;
  if (s.params_.in_parts) l.min_rows *= kRounded;
  if (!s.stats_.counts_rows() && !s.params_.in_parts) l.min_rows = 0;  // rows_range counts them
  // As in scikit-learn, splits on other features are free: leaves are clipped to their bounds.
  if (!s.params_.monotone.empty()) l.monotone = s.params_.monotone[feature];
  l.check_values = l.monotone != 0;
  l.lower = node.lower;
  l.upper = node.upper;
  return l;
}

/// The boundaries among n bins that leave enough rows on both sides: left or right of them all are
/// the missing ones. Bins whose sums are nothing count for neither side: they name no boundary, and
/// where their rows go is told by the next that does.
template <class RowsAt>
BinRange FeatureSearch::rows_range(RowsAt rows_at, std::size_t n, std::size_t left,
                                   std::size_t right) const {
  const std::size_t least = s.params_.min_rows_leaf;
  BinRange range{0, n};
  while (range.begin < n && left + rows_at(range.begin) < least) left += rows_at(range.begin++);
  for (; range.end > 0 && right < least; --range.end) right += rows_at(range.end - 1);
  return range;
}

/// The limits with which the profile in scratch is scanned in some order, or its own.
Limits FeatureSearch::limits_of(std::uint32_t feature, const Profile& profile,
                                const std::uint32_t* order) const {
  Limits l = limits(feature);
  if (node.counts == nullptr) return l;
  const std::uint32_t* const rows = node.counts->of(feature);
  const auto rows_at = [&](std::size_t i) { return rows[profile.bin[order ? order[i] : i]]; };
  const std::size_t missing = profile.has_missing ? rows[s.mapper_.feature(feature).n_bins] : 0;
  l.among[0] = rows_range(rows_at, profile.n, 0, missing);
  l.among[1] = rows_range(rows_at, profile.n, missing, 0);
  return l;
}

template <class C, class M>
void FeatureSearch::scan_with(C pair_criterion, M many_criterion, const Profile& profile,
                              const std::uint32_t* order, std::size_t begin, std::size_t end,
                              const Limits& limits, Boundary& best) const {
  const Stats& stats = s.stats_;
  const Criterion c = s.params_.criterion;
  const auto run = [&](const auto& scorer) {
    if (c == Criterion::normalized_gain) {
      scan(
          scorer, profile, order, node.raw, begin, end, parent, limits,
          [&](double gain, double l, double r) { return normalised(c, gain, parent, l, r); }, best);
    } else {
      scan(
          scorer, profile, order, node.raw, begin, end, parent, limits,
          [&](double gain, double, double) { return std::min(gain, perfect); }, best);
    }
  };
  const double l1 = s.params_.l1, l2 = s.params_.l2;
  if (s.pair_ && stats.width == 1) {
    run(PairScorer<C, true>{pair_criterion, stats.kind, stats.shift, stats.unit(0), stats.unit(1),
                            l1, l2, mean[0], limits.check_values});
  } else if (s.pair_) {
    run(PairScorer<C, false>{pair_criterion, stats.kind, 0, stats.unit(0), stats.unit(1), l1, l2,
                             mean[0], limits.check_values});
  } else {
    run(ManyScorer<M>{many_criterion, stats, s.shape_, s, mean.data(), s.check_rows_,
                      limits.check_values, stats.width, std::vector<double>(stats.n_sums)});
  }
}

void FeatureSearch::scan_any(const Profile& profile, const std::uint32_t* order, std::size_t begin,
                             std::size_t end, const Limits& limits, Boundary& best) const {
  const auto go = [&](auto pair_criterion, auto many_criterion) {
    scan_with(pair_criterion, many_criterion, profile, order, begin, end, limits, best);
  };
  switch (s.params_.criterion) {
    case Criterion::gini:
      return go(pair::Gini{}, many::Gini{});
    case Criterion::error:
      return go(pair::Error{}, many::Error{});
    case Criterion::exponential:
      return go(pair::Exponential{}, many::Exponential{});
    case Criterion::squared_error:
      return go(pair::Squared{}, many::Squared{});
    case Criterion::newton:
      if (s.params_.l1 > 0)
        return go(pair::Thresholded{s.params_.l1, s.params_.l2}, many::Newton{});
      return go(pair::Squared{s.params_.l2}, many::Newton{});
    case Criterion::poisson:
      return go(pair::Poisson{}, many::Poisson{});
    default:
      return go(pair::Entropy{}, many::Entropy{});
  }
}

/// Two classes and regression need one order (by share or mean), which holds the best of all 2^L
/// subsets (Fisher 1958, Breiman et al. 1984). For more classes the rule is: one order for each
/// class, by its share; the best prefix of any. Several outputs: the same over all their classes or
/// targets.
std::size_t FeatureSearch::n_variants() const {
  if (s.stats_.kind == SumKind::newton) return s.stats_.n_outputs;
  if (s.shape_.n_sums == 2) return 1;
  return s.stats_.kind == SumKind::classes ? s.shape_.n_sums : s.shape_.n_sums - 1;
}

void FeatureSearch::order_levels(Scratch& scratch, std::uint32_t feature,
                                 std::size_t variant) const {
  const Profile& profile = scratch.profile;
  std::vector<double> sums(s.shape_.n_sums);
  scratch.order.resize(profile.n);
  scratch.ratio.resize(profile.n);
  std::iota(scratch.order.begin(), scratch.order.end(), 0u);
  if (sides_drawn() && profile.n > 1) {
    draw_sides(scratch, feature);
  } else {
    for (std::size_t i = 0; i < profile.n; ++i) {
      s.stats_.decode(profile.raw.data() + i * s.stats_.width, sums.data());
      const bool two = s.shape_.n_sums == 2;
      if (s.stats_.kind == SumKind::newton && !two) {
        const double h = std::max(sums[2 * variant + 1], s.shape_.least);
        scratch.ratio[i] = h > 0 ? s.pair_value(sums[2 * variant], h) : 0.0;
        continue;
      }
      scratch.ratio[i] =
          two ? s.pair_ratio(sums[0], sums[1]) : sums[variant] / s.stats_.weight_of(sums.data());
    }
  }
  std::stable_sort(
      scratch.order.begin(), scratch.order.end(),
      [&](std::uint32_t a, std::uint32_t b) { return scratch.ratio[a] < scratch.ratio[b]; });
}

/// The best of boundaries [0, n), whose left sums stand in scratch. A tie between the two sides of
/// missing rows goes to the lower cut, then to the right, as in `scan`.
void FeatureSearch::best_of(Scratch& scratch, std::size_t n, const double total[2],
                            const Limits& limits, bool missing_left, Boundary& best) const {
  const double *a = scratch.a.data(), *b = scratch.b.data();
  const bool classes = s.stats_.kind == SumKind::classes;
  const double least = std::max(limits.min_weight, s.stats_.counts_rows() ? limits.min_rows : 0.0);
  const double all = classes ? total[0] + total[1] : total[1];
  const auto weight = [&](std::size_t i) { return classes ? a[i] + b[i] : b[i]; };
  std::size_t begin = std::min(n, limits.among[missing_left].begin);
  n = std::max(begin, std::min(n, limits.among[missing_left].end));
  while (begin < n && weight(begin) < least) ++begin;
  while (n > begin && all - weight(n - 1) < least) --n;
  s.score_plain(a + begin, b + begin, n - begin, total, scratch.score.data() + begin);
  double top = -infinity();
  std::size_t at = n;
  for (std::size_t i = begin; i < n; ++i) {
    if (scratch.score[i] > top) {
      top = scratch.score[i];
      at = i;
    }
  }
  if (at == n || !std::isfinite(top)) return;
  const double gain = std::min(top - s.plain_parent(parent), perfect);
  if (best.found && (gain < best.score || (gain == best.score && at >= best.index))) return;
  best = {gain, gain, at, missing_left, true};
}

void FeatureSearch::scan_plain(Scratch& scratch, const std::uint32_t* order, std::size_t end,
                               const Limits& limits, Boundary& best) const {
  const Profile& profile = scratch.profile;
  const Stats& stats = s.stats_;
  if (scratch.a.size() < end) {
    scratch.a.resize(end);
    scratch.b.resize(end);
    scratch.score.resize(end);
  }
  const double unit_a = stats.unit(0), unit_b = stats.unit(1);
  const std::int64_t* raw = profile.raw.data();
  if (stats.width == 1) {
    const std::int64_t mask = (std::int64_t{1} << stats.shift) - 1;
    std::int64_t left = 0;
    for (std::size_t i = 0; i < end; ++i) {
      left += raw[order ? order[i] : i];
      scratch.a[i] = static_cast<double>(left >> stats.shift) * unit_a;
      scratch.b[i] = static_cast<double>(left & mask) * unit_b;
    }
  } else {
    std::int64_t left[2] = {0, 0};
    for (std::size_t i = 0; i < end; ++i) {
      const std::int64_t* cell = raw + 2 * (order ? order[i] : i);
      left[0] += cell[0];
      left[1] += cell[1];
      scratch.a[i] = static_cast<double>(left[0]) * unit_a;
      scratch.b[i] = static_cast<double>(left[1]) * unit_b;
    }
  }
  double total[2];
  stats.decode(node.raw.data(), total);
  best_of(scratch, end, total, limits, false, best);
  if (!profile.has_missing) return;
  double missing[2];
  stats.decode(profile.missing.data(), missing);
  const std::size_t n = std::min(end, profile.n - 1);
  for (std::size_t i = 0; i < n; ++i) {
    scratch.a[i] += missing[0];
    scratch.b[i] += missing[1];
  }
  best_of(scratch, n, total, limits, true, best);
}

void FeatureSearch::try_numeric(Scratch& scratch, double floor, Candidate& out) const {
  const std::size_t n = scratch.profile.n;
  const std::size_t end = scratch.profile.has_missing ? n : n - 1;
  const Limits limit = limits_of(out.feature, scratch.profile, nullptr);
  if (newton != nullptr && !limit.check_values) {
    const Profile& profile = scratch.profile;
    const std::int64_t missing = profile.has_missing ? profile.missing[0] : 0;
    out.boundary = newton_cut(profile.raw.data(), n, missing, limit, floor);
    return;
  }
  if (plain(limit)) return scan_plain(scratch, nullptr, end, limit, out.boundary);
  if (vectors()) return scan_vectors(scratch, nullptr, end, limit, out.boundary);
  scan_any(scratch.profile, nullptr, 0, end, limit, out.boundary);
}

/// The best cut of n words, missing rows right or left; among[left] are the cuts allowed. A tie
/// between the two goes to the lower cut, then to the right.
Boundary FeatureSearch::newton_cut(const std::int64_t* words, std::size_t n, std::int64_t missing,
                                   const Limits& limits, double floor) const {
  NewtonCut cut = best_newton_cut(words, n, 0, *newton, limits.among[0], floor);
  bool missing_left = false;
  if (missing != 0) {
    const NewtonCut other = best_newton_cut(words, n, missing, *newton, limits.among[1], floor);
    missing_left = other.gain > cut.gain || (other.gain == cut.gain && other.bin < cut.bin);
    if (missing_left) cut = other;
  }
  if (!std::isfinite(cut.gain)) return {};
  return {cut.gain, cut.gain, cut.bin, missing_left, true};
}

/// Newton's score needs no profile: all cuts are scored on the histogram itself. False where that
/// does not apply, or no cut is found and it must be known whether the feature varies.
bool FeatureSearch::try_cells(const std::int64_t* cells, double floor, Candidate& out) const {
  if (cells == nullptr) return false;
  const FeatureBins& bins = s.mapper_.feature(out.feature);
  Limits limit = limits(out.feature);
  if (bins.categorical || limit.check_values) return false;
  const std::int64_t missing = cells[bins.n_bins];
  limit.among[0] = limit.among[1] = {0, bins.n_bins};
  if (node.counts != nullptr) {
    const std::uint32_t* const rows = node.counts->of(out.feature);
    const auto rows_at = [&](std::size_t b) { return cells[b] != 0 ? rows[b] : 0; };
    const std::size_t aside = missing != 0 ? rows[bins.n_bins] : 0;
    limit.among[0] = rows_range(rows_at, bins.n_bins, 0, aside);
    limit.among[1] = rows_range(rows_at, bins.n_bins, aside, 0);
  }
  if (missing != 0) {  // behind no bin but empty ones missing rows would be alone
    const auto first =
        std::find_if(cells, cells + bins.n_bins, [](auto cell) { return cell != 0; });
    limit.among[1].begin = std::max(limit.among[1].begin, static_cast<std::size_t>(first - cells));
  }
  out.boundary = newton_cut(cells, bins.n_bins, missing, limit, floor);
  if (!out.boundary.found) return s.params_.node_features == 0;
  out.bin = static_cast<std::uint32_t>(out.boundary.index);
  out.by_bin = true;
  out.quality = out.boundary.score;
  return true;
}

void FeatureSearch::try_levels(Scratch& scratch, Candidate& out) const {
  const Profile& profile = scratch.profile;
  if (s.params_.rule == SplitRule::random && profile.n > 1) return draw_levels(scratch, out);
  const std::size_t end = profile.has_missing ? profile.n : profile.n - 1;
  for (std::size_t variant = 0; variant < n_variants(); ++variant) {
    // Many levels times many classes may take a second for each order.
    if (variant > 0 && context != nullptr) check_interrupt(*context);
    order_levels(scratch, out.feature, variant);
    Boundary best = out.boundary;
    const std::uint32_t* order = scratch.order.data();
    const Limits limit = limits_of(out.feature, profile, order);
    if (plain(limit)) {
      scan_plain(scratch, order, end, limit, best);
    } else if (vectors()) {
      scan_vectors(scratch, order, end, limit, best);
    } else {
      scan_any(profile, order, 0, end, limit, best);
    }
    if (!best.found || (out.boundary.found && !(best.score > out.boundary.score))) continue;
    out.boundary = best;
    out.variant = variant;
  }
}

/// False when the feature is constant in the node.
bool FeatureSearch::try_feature(const ProfileSource& profiles, std::uint32_t feature,
                                Scratch& scratch, const Candidate& beside, Candidate& out) const {
  const bool categorical = s.mapper_.feature(feature).categorical;
  out = Candidate{};
  out.feature = feature;
  if (s.params_.rule == SplitRule::random && !categorical) {
    if (!try_random(profiles, scratch, out)) return false;
    out.quality = out.boundary.score;
    return true;
  }
  double floor = -infinity();
  if (node.retired.empty()) {  // whether a feature retires is told by the best that it has
    floor = beside.boundary.found ? std::max(beside.quality, node.floor) : node.floor;
  }
  if (newton != nullptr && try_cells(profiles.cells(feature), floor, out)) return true;
  profiles.read(feature, scratch.profile);
  if (!hides_missing(scratch.profile)) return try_profile(scratch, floor, out);
  NodeSums known;
  if (!among_known(scratch, known).try_profile(scratch, floor, out)) return false;
  if (!out.multiway) return true;
  // C4.5 counts the missing rows as a branch of their own.
  const double all = weight, some = s.node_weight(known);
  out.split_entropy += x_log_x(all) - x_log_x(some) - x_log_x(std::max(0.0, all - some));
  return true;
}

/// C4.5: a feature is judged by the rows that are not missing. Gains are in units of weight, so
/// that this one counts for their share of the node.
FeatureSearch FeatureSearch::among_known(Scratch& scratch, NodeSums& known) const {
  scratch.profile.has_missing = false;
  scratch.known.assign(node.raw.begin(), node.raw.end());
  for (std::size_t j = 0; j < scratch.known.size(); ++j)
    scratch.known[j] -= scratch.profile.missing[j];
  known = node;
  known.raw = scratch.known;
  std::vector<double> sums(s.shape_.n_sums);
  s.stats_.decode(known.raw.data(), sums.data());
  const double own = node_score(s.params_.criterion, s.shape_, sums.data());
  const double most = perfect_score(s.params_.criterion, s.shape_, sums.data()) - own;
  return {s, known, own, mean, most, s.stats_.weight_of(sums.data()), context};
}

/// The best split of the profile in scratch; false when there is nothing to split.
bool FeatureSearch::try_profile(Scratch& scratch, double floor, Candidate& out) const {
  const Profile& profile = scratch.profile;
  const bool categorical = s.mapper_.feature(out.feature).categorical;
  if (profile.n + (profile.has_missing ? 1 : 0) < 2 || profile.n == 0) return false;
  if (categorical && s.params_.multiway && profile.n > 1) {
    try_multiway(scratch, out);
  } else if (categorical) {
    try_levels(scratch, out);
  } else {
    try_numeric(scratch, floor, out);
  }
  out.quality = out.boundary.score;
  return true;
}

}  // namespace committee
