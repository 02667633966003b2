// The inner loop of the split search: walk along a profile, left sums growing, and score every
// boundary. Written once; `Scorer` turns the raw sums of a side into a score (two sums inline, or
// any number).
#pragma once

#include <cmath>

#include "committee/search/split.hpp"
#include "search/newton_scan.hpp"

namespace committee {

/// One feature's best boundary so far.
struct Boundary {
  double score = -std::numeric_limits<double>::infinity();  // what the scan maximises
  double gain = 0;
  std::size_t index = 0;  // the last position that goes left
  bool missing_left = false;
  bool found = false;
};

/// What each side must satisfy.
struct Limits {
  BinRange among[2];  // boundaries with rows enough, missing rows right and left
  double min_weight = 0;
  double min_rows = 0;  // 0: rows are not counted
  int monotone = 0;     // of the feature at hand
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  bool check_values = false;
};

/// A side's facts, filled by the scorer.
struct Side {
  double score = 0;
  double weight = 0;
  double rows = 0;
  double value = 0;
};

inline bool admissible(const Side& left, const Side& right, const Limits& limits) {
  if (left.weight < limits.min_weight || right.weight < limits.min_weight) return false;
  if (limits.min_rows > 0 && (left.rows < limits.min_rows || right.rows < limits.min_rows))
    return false;
  if (limits.check_values) {
    const double low = std::min(left.value, right.value), high = std::max(left.value, right.value);
    if (!(low >= limits.lower) || !(high <= limits.upper)) return false;
    if (limits.monotone > 0 && left.value > right.value) return false;
    if (limits.monotone < 0 && left.value < right.value) return false;
  }
  return std::isfinite(left.score) && std::isfinite(right.score);
}

/// Two sums in one packed word or in two words; C scores (a, b).
template <class C, bool kPacked>
struct PairScorer {
  C criterion;
  SumKind kind;
  unsigned shift;
  double unit_a, unit_b, l1, l2, mean;
  bool need_value;
  std::size_t width = kPacked ? 1 : 2;

  void operator()(const std::int64_t* raw, Side& side) const {
    double a, b;
    if constexpr (kPacked) {
      a = static_cast<double>(raw[0] >> shift) * unit_a;
      b = static_cast<double>(raw[0] & ((std::int64_t{1} << shift) - 1)) * unit_b;
    } else {
      a = static_cast<double>(raw[0]) * unit_a;
      b = static_cast<double>(raw[1]) * unit_b;
    }
    side.score = criterion(a - mean * b, b);
    side.weight = kind == SumKind::classes ? a + b : b;
    side.rows = side.weight;
    if (!need_value) return;
    if (kind == SumKind::classes) {
      side.value = b / (a + b);
    } else {
      side.value = (kind == SumKind::newton ? -soft_threshold(a, l1) : a) / (b + l2);
    }
  }
};

/// Any number of sums; C scores the decoded vector.
template <class C>
struct ManyScorer {
  C criterion;
  const Stats& stats;
  const SumShape& shape;
  const SplitSearch& search;
  const double* mean;
  bool count, need_value;
  std::size_t width;
  mutable std::vector<double> sums;

  void operator()(const std::int64_t* raw, Side& side) const {
    stats.decode(raw, sums.data());
    side.weight = stats.weight_of(sums.data());
    if (need_value) side.value = search.pair_value(sums[0], sums[1]);
    if (stats.kind == SumKind::regression) {
      for (std::size_t m = 0; m + 1 < sums.size(); ++m) sums[m] -= mean[m] * side.weight;
    }
    side.score = criterion(shape, sums.data());
    side.rows = count ? (stats.has_count() ? stats.decode_count(raw) : side.weight) : 0;
  }
};

/// Tries "positions up to i go left" for i in [begin, end), missing rows right, then left.
/// rank(gain, left weight, right weight) is what is maximised; parent is the node's score.
template <class Scorer, class Rank>
void scan(const Scorer& scorer, const Profile& profile, const std::uint32_t* order,
          std::span<const std::int64_t> total, std::size_t begin, std::size_t end, double parent,
          const Limits& limits, Rank rank, Boundary& best) {
  const std::size_t width = scorer.width;
  std::int64_t small[3 * 8] = {};
  std::vector<std::int64_t> large;
  if (width > 8) large.resize(3 * width);
  std::int64_t* left = width > 8 ? large.data() : small;
  std::int64_t* right = left + width;
  std::int64_t* with = right + width;
  Side l, r;
  for (std::size_t i = 0; i < end; ++i) {
    const std::int64_t* cell = profile.raw.data() + (order ? order[i] : i) * width;
    for (std::size_t j = 0; j < width; ++j) left[j] += cell[j];
    if (i < begin) continue;
    for (int side = 0; side <= (profile.has_missing ? 1 : 0); ++side) {
      if (i < limits.among[side].begin || i >= limits.among[side].end) continue;
      const std::int64_t* the_left = left;
      if (side == 1) {
        if (i + 1 == profile.n) break;  // everything left: no split
        for (std::size_t j = 0; j < width; ++j) with[j] = left[j] + profile.missing[j];
        the_left = with;
      }
      for (std::size_t j = 0; j < width; ++j) right[j] = total[j] - the_left[j];
      scorer(the_left, l);
      scorer(right, r);
      const double gain = l.score + r.score - parent;
      const double score = rank(gain, l.weight, r.weight);
      if (!(score > best.score) || !admissible(l, r, limits)) continue;
      best = {score, gain, i, side == 1, true};
    }
  }
}

}  // namespace committee
