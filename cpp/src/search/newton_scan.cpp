#include "search/newton_scan.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "committee/base/clones.hpp"

namespace committee {
namespace {

constexpr std::size_t kLanes = 4;
using Numbers = double __attribute__((vector_size(8 * kLanes)));
using Words = std::uint64_t __attribute__((vector_size(8 * kLanes)));
using Places = std::int64_t __attribute__((vector_size(8 * kLanes)));

/// 2^52 as a number has the bits of x below it when x is added: integers become numbers by one "or"
/// and one subtraction, where most instruction sets have no conversion.
constexpr std::uint64_t kTwo52 = std::uint64_t{0x433} << 52;
constexpr unsigned kSignedBits = 51;  // of a sum that is moved above 0 so as to be taken out

constexpr std::size_t kTogether = 2;     // vectors of cuts that are judged together
constexpr double kSurely = 1 - 0x1p-40;  // what is below by more than this is not by rounding

/// The best cut of each lane so far.
struct Lanes {
  Numbers top = {-1, -1, -1, -1};
  Places at{};
};

/// Each lane becomes the sum of those up to it.
inline __attribute__((always_inline)) void run(Words& w) {
  const Words none{};
  w += __builtin_shufflevector(none, w, 0, 4, 5, 6);
  w += __builtin_shufflevector(none, w, 0, 1, 4, 5);
}

inline __attribute__((always_inline)) bool any(const Places& lanes) {
  const auto half =
      __builtin_shufflevector(lanes, lanes, 0, 1) | __builtin_shufflevector(lanes, lanes, 2, 3);
  return (half[0] | half[1]) != 0;
}

/// The lane whose cut is best, of equal ones the lowest.
std::size_t winner(const Lanes& lanes) {
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
  inline __attribute__((always_inline)) void parts(const Words& left, Numbers& square,
                                                   Numbers& product, Numbers& from) const {
    const Words g_bits = (left >> shift) | kTwo52, h_bits = (left & mask) | kTwo52;
    const Numbers g = reinterpret_cast<Numbers>(g_bits) - lifted;
    const Numbers h = reinterpret_cast<Numbers>(h_bits) - 0x1p52;
    from = h - sides.half_hessian;
    const Numbers apart = (g - sides.half_gradient) - sides.mean * from;
    square = apart * apart;
    product = (sides.middle + from) * (sides.middle - from);
  }

  /// `counts` where both sides have hessian enough.
  inline __attribute__((always_inline)) void score(const Words& left, Numbers& varying,
                                                   Places& counts) const {
    Numbers square, product, from;
    parts(left, square, product, from);
    counts = (from <= reach) & (from >= -reach);
    varying = square / product;
  }

  /// Below what varies of a cut that gains `floor`, and of none when that is minus infinity.
  double bar(double floor) const { return std::max(-1.0, sides.varying(floor / unit) * kSurely); }

  /// Adds to `lanes` where a cut may exceed `bar`, a bit less than what varies of the best one: no
  /// division.
  inline __attribute__((always_inline)) void exceeds(const Words& left, double bar,
                                                     Places& lanes) const {
    Numbers square, product, from;
    parts(left, square, product, from);
    lanes |= square > bar * product;
  }

  /// The cuts behind `place`s.
  inline __attribute__((always_inline)) void operator()(const Words& left, const Places& place,
                                                        Lanes& best) const {
    Numbers found;
    Places counts;
    score(left, found, counts);
    keep(found, counts, place, best);
  }

  /// The same by gains, by which features are compared: these may tie where what varies does not.
  inline __attribute__((always_inline)) void compare(const Words& left, const Places& place,
                                                     Lanes& best) const {
    Numbers found;
    Places counts;
    score(left, found, counts);
    keep(sides.whole * found - sides.less, counts, place, best);
  }

  inline __attribute__((always_inline)) static void keep(const Numbers& found, const Places& counts,
                                                         const Places& place, Lanes& best) {
    const auto better = (found > best.top) & counts;
    best.top = better ? found : best.top;
    best.at = better ? place : best.at;
  }

  inline __attribute__((always_inline)) void add(const Words& left, double* gain) const {
    Numbers found, sum;
    Places counts;
    score(left, found, counts);
    std::memcpy(&sum, gain, sizeof(sum));
    sum += counts ? sides.whole * found - sides.less : Numbers{};
    std::memcpy(gain, &sum, sizeof(sum));
  }

  NewtonCut cut(const Lanes& lanes) const {
    if (!any(lanes.top >= 0)) return {};
    const std::size_t best = winner(lanes);
    return {sides.gain(lanes.top[best]) * unit, static_cast<std::uint32_t>(lanes.at[best])};
  }

  pair::NewtonSides sides;
  double reach, unit;
  unsigned shift;
  std::uint64_t mask, lift;
  double lifted;
};

/// Sums run inside of a vector; what is carried from one to the next waits for one addition only.
/// Few cuts exceed the best before them or that of features tried before, and all the others are
/// told without a division.
COMMITTEE_CLONES
NewtonCut best_newton_cut(const std::int64_t* cells, std::size_t n_bins, std::int64_t aside,
                          const NewtonTerms& terms, BinRange among, double floor) {
  const NewtonScan scan(terms);
  auto before = static_cast<std::uint64_t>(aside) + scan.lift;
  among.end = std::min(among.end, n_bins);
  for (std::size_t i = 0; i < std::min(among.begin, n_bins); ++i)
    before += static_cast<std::uint64_t>(cells[i]);
  Lanes lanes;
  double bar = scan.bar(floor);
  Words carry = Words{} + before;
  const auto step = [&](const std::int64_t* from,
                        std::size_t first) __attribute__((always_inline)) {
    Words left[kTogether];
    Places reached{};
#pragma GCC unroll 8
    for (std::size_t k = 0; k < kTogether; ++k) {
      Words w;
      std::memcpy(&w, from + k * kLanes, sizeof(w));
      run(w);
      left[k] = w + carry;
      carry += __builtin_shufflevector(w, w, 3, 3, 3, 3);
      scan.exceeds(left[k], bar, reached);
    }
    if (!any(reached)) [[likely]]
      return;
    for (std::size_t k = 0; k < kTogether; ++k)
      scan(left[k], static_cast<std::int64_t>(first + k * kLanes) + Places{0, 1, 2, 3}, lanes);
    for (std::size_t k = 0; k < kLanes; ++k) bar = std::max(bar, lanes.top[k] * kSurely);
  };
  constexpr std::size_t kStep = kTogether * kLanes;
  std::size_t i = among.begin;
  for (; i + kStep <= among.end; i += kStep) step(cells + i, i);
  if (i < among.end) {
    Words rest[kTogether] = {};  // no more words: these cuts tie with the last one
    std::memcpy(rest, cells + i, (among.end - i) * sizeof(*cells));
    step(reinterpret_cast<const std::int64_t*>(rest), i);
  }
  return scan.cut(lanes);
}

COMMITTEE_CLONES
void add_newton_gains(const std::int64_t* cells, std::size_t n_bins, std::int64_t aside,
                      const NewtonTerms& terms, double* gain) {
  const NewtonScan scan(terms);
  Words carry = Words{} + (static_cast<std::uint64_t>(aside) + scan.lift);
  const auto step = [&](const std::int64_t* from, double* to) __attribute__((always_inline)) {
    Words w;
    std::memcpy(&w, from, sizeof(w));
    run(w);
    scan.add(w + carry, to);
    carry += __builtin_shufflevector(w, w, 3, 3, 3, 3);
  };
  std::size_t i = 0;
  for (; i + kLanes <= n_bins; i += kLanes) step(cells + i, gain + i);
  if (i == n_bins) return;
  std::int64_t rest[kLanes] = {};
  double sums[kLanes] = {};
  std::copy(cells + i, cells + n_bins, rest);
  std::copy(gain + i, gain + n_bins, sums);
  step(rest, sums);
  std::copy(sums, sums + (n_bins - i), gain + i);
}

COMMITTEE_CLONES
NewtonCut best_newton_word(const std::int64_t* left, std::size_t n, const NewtonTerms& terms) {
  const NewtonScan scan(terms);
  Lanes lanes;
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
