#include "search/newton_scan.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "committee/base/clones.hpp"
#include "search/newton_lanes.hpp"

namespace committee {
namespace {

constexpr std::size_t kLanes = FewLanes::kLanes;
using Numbers = FewLanes::Numbers;
using Words = FewLanes::Words;
using Places = std::int64_t __attribute__((vector_size(8 * kLanes)));

/// 2^52 as a number has the bits of x below it when x is added: integers become numbers by one "or"
/// and one subtraction, where most instruction sets have no conversion.
constexpr std::uint64_t kTwo52 = std::uint64_t{0x433} << 52;
constexpr unsigned kSignedBits = 51;  // of a sum that is moved above 0 so as to be taken out

constexpr std::size_t kTogether = 2;     // vectors of cuts that are judged together
constexpr double kSurely = 1 - 0x1p-40;  // what is below by more than this is not by rounding

/// The best cut of each lane so far.
struct Best {
  Numbers top = {-1, -1, -1, -1};
  Places at{};
};

/// The lane whose cut is best, of equal ones the lowest.
std::size_t winner(const Best& lanes) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < kLanes; ++k) {
    const bool ties = lanes.top[k] == lanes.top[best];
    if (lanes.top[k] > lanes.top[best] || (ties && lanes.at[k] < lanes.at[best])) best = k;
  }
  return best;
}

}  // namespace

NewtonTerms::NewtonTerms(std::int64_t total, unsigned shift, double unit_gradient,
                         double unit_hessian, double l2, double least)
    : shift_(shift),
      sides_(static_cast<double>(total >> shift),
             static_cast<double>(total & ((std::int64_t{1} << shift) - 1)), l2 / unit_hessian),
      reach_(sides_.half_hessian - std::ceil(least / unit_hessian)),
      unit_(unit_gradient * unit_gradient / unit_hessian) {}

/// Scores cuts by the words left of them.
struct NewtonScan {
  explicit NewtonScan(const NewtonTerms& terms)
      : sides(terms.sides_),
        reach(terms.reach_),
        unit(terms.unit_),
        shift(terms.shift_),
        mask((std::uint64_t{1} << shift) - 1),
        lift(std::uint64_t{1} << (std::min(63 - shift, kSignedBits) + shift)),
        lifted(0x1p52 + static_cast<double>(lift >> shift)) {}

  /// What varies of the cuts' gains is square / product. Words are lifted.
  template <class W, class N>
  COMMITTEE_INLINE void parts(const W& left, N& square, N& product, N& from) const {
    const W g_bits = (left >> shift) | kTwo52, h_bits = (left & mask) | kTwo52;
    const N g = reinterpret_cast<N>(g_bits) - lifted;
    const N h = reinterpret_cast<N>(h_bits) - 0x1p52;
    from = h - sides.half_hessian;
    const N apart = (g - sides.half_gradient) - sides.mean * from;
    square = apart * apart;
    product = (sides.middle + from) * (sides.middle - from);
  }

  /// `counts` where both sides have hessian enough.
  COMMITTEE_INLINE void score(const Words& left, Numbers& varying, Places& counts) const {
    Numbers square, product, from;
    parts(left, square, product, from);
    counts = (from <= reach) & (from >= -reach);
    varying = square / product;
  }

  /// Below what varies of a cut that gains `floor`, and of none when that is minus infinity.
  double bar(double floor) const { return std::max(-1.0, sides.varying(floor / unit) * kSurely); }

  /// Sets the signs of the lanes where a cut may exceed `bar`, a bit less than what varies of the
  /// best one: no division, and no comparison, which compilers take apart in large vectors.
  template <class V>
  COMMITTEE_INLINE void exceeds(const typename V::Words& left, double bar,
                                typename V::Words& signs) const {
    typename V::Numbers square, product, from;
    parts(left, square, product, from);
    const typename V::Numbers below = bar * product - square;
    signs |= reinterpret_cast<typename V::Words>(below);
  }

  /// The cuts behind `place`s.
  COMMITTEE_INLINE void operator()(const Words& left, const Places& place, Best& best) const {
    Numbers found;
    Places counts;
    score(left, found, counts);
    keep(found, counts, place, best);
  }

  /// The same by gains, by which features are compared: these may tie where what varies does not.
  COMMITTEE_INLINE void compare(const Words& left, const Places& place, Best& best) const {
    Numbers found;
    Places counts;
    score(left, found, counts);
    keep(sides.whole * found - sides.less, counts, place, best);
  }

  COMMITTEE_INLINE static void keep(const Numbers& found, const Places& counts, const Places& place,
                                    Best& best) {
    const auto better = (found > best.top) & counts;
    best.top = better ? found : best.top;
    best.at = better ? place : best.at;
  }

  template <class V>
  COMMITTEE_INLINE void add(const typename V::Words& left, double* gain) const {
    typename V::Numbers square, product, from, sum;
    parts(left, square, product, from);
    typename V::Numbers found = sides.whole * (square / product) - sides.less;
    V::clear(reach - from, found);
    V::clear(reach + from, found);
    std::memcpy(&sum, gain, sizeof(sum));
    sum += found;
    std::memcpy(gain, &sum, sizeof(sum));
  }

  NewtonCut cut(const Best& lanes) const {
    const std::size_t best = winner(lanes);
    if (lanes.top[best] < 0) return {};
    return {sides.gain(lanes.top[best]) * unit, static_cast<std::uint32_t>(lanes.at[best])};
  }

  pair::NewtonSides sides;
  double reach, unit;
  unsigned shift;
  std::uint64_t mask, lift;
  double lifted;
};

namespace {

/// Judges the cuts behind cells [among.begin, among.end): the best of each lane, where one exceeds
/// `bar`, which is raised; false where none does. Sums run inside of a vector; what is carried from
/// one to the next waits for one addition only. Few cuts exceed the best before them or that of
/// features tried before, and all the others are told without a division.
template <class V>
COMMITTEE_INLINE bool judge(const NewtonScan& scan, const std::int64_t* cells, BinRange among,
                            std::uint64_t before, double& bar, Best& lanes) {
  constexpr std::size_t kStep = kTogether * V::kLanes;
  bool exceeded = false;
  typename V::Words carry = typename V::Words{} + before;
  const auto step = [&](const std::int64_t* from,
                        std::size_t first) __attribute__((always_inline)) {
    typename V::Words left[kTogether], signs{};
#pragma GCC unroll 8
    for (std::size_t k = 0; k < kTogether; ++k) {
      typename V::Words w;
      std::memcpy(&w, from + k * V::kLanes, sizeof(w));
      V::run(w);
      left[k] = w + carry;
      V::add_last(w, carry);
      scan.exceeds<V>(left[k], bar, signs);
    }
    if (!V::negative(signs)) [[likely]]
      return;
    exceeded = true;
    Words four[kStep / kLanes];
    std::memcpy(four, left, sizeof(four));
    for (std::size_t k = 0; k < kStep / kLanes; ++k)
      scan(four[k], static_cast<std::int64_t>(first + k * kLanes) + Places{0, 1, 2, 3}, lanes);
    for (std::size_t k = 0; k < kLanes; ++k) bar = std::max(bar, lanes.top[k] * kSurely);
  };
  std::size_t i = among.begin;
  for (; i + kStep <= among.end; i += kStep) step(cells + i, i);
  if (i < among.end) {
    std::int64_t rest[kStep] = {};  // no more words: these cuts tie with the last one
    std::memcpy(rest, cells + i, (among.end - i) * sizeof(*cells));
    step(rest, i);
  }
  return exceeded;
}

template <class V>
COMMITTEE_INLINE NewtonCut best_cut(const std::int64_t* cells, std::size_t n_bins,
                                    std::int64_t aside, const NewtonTerms& terms, BinRange among,
                                    double floor) {
  const NewtonScan scan(terms);
  auto before = static_cast<std::uint64_t>(aside) + scan.lift;
  among.end = std::min(among.end, n_bins);
  for (std::size_t i = 0; i < std::min(among.begin, n_bins); ++i)
    before += static_cast<std::uint64_t>(cells[i]);
  Best lanes;
  double bar = scan.bar(floor);
  judge<V>(scan, cells, among, before, bar, lanes);
  return scan.cut(lanes);
}

template <class V>
COMMITTEE_INLINE NewtonChoice best_of(std::span<const NewtonWords> features,
                                      const NewtonTerms& terms, double floor) {
  const NewtonScan scan(terms);
  NewtonChoice best{{floor, 0}, features.size()};
  double bar = scan.bar(floor);
  for (std::size_t k = 0; k < features.size(); ++k) {
    Best lanes;
    if (!judge<V>(scan, features[k].words, {0, features[k].n}, scan.lift, bar, lanes)) continue;
    const NewtonCut cut = scan.cut(lanes);
    if (cut.gain > best.cut.gain) best = {cut, k};
    bar = scan.bar(best.cut.gain);
  }
  return best;
}

COMMITTEE_CLONES
NewtonCut best_cut_few(const std::int64_t* cells, std::size_t n_bins, std::int64_t aside,
                       const NewtonTerms& terms, BinRange among, double floor) {
  return best_cut<FewLanes>(cells, n_bins, aside, terms, among, floor);
}
COMMITTEE_CLONES
NewtonChoice best_of_few(std::span<const NewtonWords> features, const NewtonTerms& terms,
                         double floor) {
  return best_of<FewLanes>(features, terms, floor);
}
COMMITTEE_WIDE NewtonCut best_cut_wide(const std::int64_t* cells, std::size_t n_bins,
                                       std::int64_t aside, const NewtonTerms& terms, BinRange among,
                                       double floor) {
  return best_cut<WideLanes>(cells, n_bins, aside, terms, among, floor);
}
COMMITTEE_WIDE NewtonChoice best_of_wide(std::span<const NewtonWords> features,
                                         const NewtonTerms& terms, double floor) {
  return best_of<WideLanes>(features, terms, floor);
}

template <class V>
COMMITTEE_INLINE void add_gains(const std::int64_t* cells, std::size_t n_bins, std::int64_t aside,
                                const NewtonTerms& terms, double* gain) {
  const NewtonScan scan(terms);
  auto carry = typename V::Words{} + (static_cast<std::uint64_t>(aside) + scan.lift);
  const auto step = [&](const std::int64_t* from, double* to) __attribute__((always_inline)) {
    typename V::Words w;
    std::memcpy(&w, from, sizeof(w));
    V::run(w);
    scan.add<V>(w + carry, to);
    V::add_last(w, carry);
  };
  std::size_t i = 0;
  for (; i + V::kLanes <= n_bins; i += V::kLanes) step(cells + i, gain + i);
  if (i == n_bins) return;
  std::int64_t rest[V::kLanes] = {};
  double sums[V::kLanes] = {};
  std::copy(cells + i, cells + n_bins, rest);
  std::copy(gain + i, gain + n_bins, sums);
  step(rest, sums);
  std::copy(sums, sums + (n_bins - i), gain + i);
}

COMMITTEE_CLONES
void add_gains_few(const std::int64_t* cells, std::size_t n_bins, std::int64_t aside,
                   const NewtonTerms& terms, double* gain) {
  add_gains<FewLanes>(cells, n_bins, aside, terms, gain);
}
COMMITTEE_WIDE void add_gains_wide(const std::int64_t* cells, std::size_t n_bins,
                                   std::int64_t aside, const NewtonTerms& terms, double* gain) {
  add_gains<WideLanes>(cells, n_bins, aside, terms, gain);
}

const bool kWide = has_wide_vectors();

}  // namespace

NewtonCut best_newton_cut(const std::int64_t* cells, std::size_t n_bins, std::int64_t aside,
                          const NewtonTerms& terms, BinRange among, double floor) {
  return (kWide ? best_cut_wide : best_cut_few)(cells, n_bins, aside, terms, among, floor);
}

NewtonChoice best_newton_of(std::span<const NewtonWords> features, const NewtonTerms& terms,
                            double floor) {
  return (kWide ? best_of_wide : best_of_few)(features, terms, floor);
}

void add_newton_gains(const std::int64_t* cells, std::size_t n_bins, std::int64_t aside,
                      const NewtonTerms& terms, double* gain) {
  (kWide ? add_gains_wide : add_gains_few)(cells, n_bins, aside, terms, gain);
}

COMMITTEE_CLONES
NewtonCut best_newton_word(const std::int64_t* left, std::size_t n, const NewtonTerms& terms) {
  const NewtonScan scan(terms);
  Best lanes;
  lanes.top = Numbers{} - std::numeric_limits<double>::infinity();
  Places place = {0, 1, 2, 3};
  Words w;
  for (std::size_t i = 0; i + kLanes <= n;
       i += kLanes, place += static_cast<std::int64_t>(kLanes)) {
    std::memcpy(&w, left + i, sizeof(w));
    scan.compare(w + scan.lift, place, lanes);
  }
  if (const std::size_t n_rest = n % kLanes; n_rest > 0) {
    std::int64_t rest[kLanes] = {};  // nothing goes left: no cut
    std::copy(left + n - n_rest, left + n, rest);
    std::memcpy(&w, rest, sizeof(w));
    scan.compare(w + scan.lift, place, lanes);
  }
  const std::size_t best = winner(lanes);
  return {lanes.top[best] * scan.unit, static_cast<std::uint32_t>(lanes.at[best])};
}

COMMITTEE_CLONES
void newton_gains(const std::int64_t* left, std::size_t n, const NewtonTerms& terms, double* gain) {
  const NewtonScan scan(terms);
  const Numbers none = Numbers{} - std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < n; i += kLanes) {
    const std::size_t n_here = std::min(kLanes, n - i);
    std::int64_t here[kLanes] = {};
    std::copy(left + i, left + i + n_here, here);
    Words w;
    std::memcpy(&w, here, sizeof(w));
    Numbers found;
    Places counts;
    scan.score(w + scan.lift, found, counts);
    found = counts ? (scan.sides.whole * found - scan.sides.less) * scan.unit : none;
    std::memcpy(gain + i, &found, n_here * sizeof(double));
  }
}

}  // namespace committee
