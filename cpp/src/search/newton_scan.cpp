#include "search/newton_scan.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "committee/base/clones.hpp"
#include "search/newton_lanes.hpp"
#include "search/newton_screen.hpp"

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

constexpr std::size_t kChunk = 512;      // cells that are summed up before their cuts are judged
constexpr std::size_t kStep = 16;        // cuts that are judged together
constexpr double kSurely = 1 - 0x1p-40;  // what is below by more than this is not by rounding

/// The best cut of each lane so far.
struct Best {
  Numbers top = {-1, -1, -1, -1};
  Places at{};
};

/// The best cut of all lanes, of equal ones the lowest: its number and what varies.
struct Winner {
  double top;
  std::int64_t at;
};

Winner winner(const Best& lanes) {
  Winner best{lanes.top[0], lanes.at[0]};
  for (std::size_t k = 1; k < kLanes; ++k) {  // without a branch, which nobody could foresee
    const double top = lanes.top[k];
    const std::int64_t at = lanes.at[k];
    best.at = top > best.top ? at : top == best.top ? std::min(at, best.at) : best.at;
    best.top = std::max(top, best.top);
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
    V::clear(reach - V::size(from), found);
    std::memcpy(&sum, gain, sizeof(sum));
    sum += found;
    std::memcpy(gain, &sum, sizeof(sum));
  }

  NewtonCut cut(const Best& lanes) const {
    const Winner best = winner(lanes);
    if (best.top < 0) return {};
    return {sides.gain(best.top) * unit, static_cast<std::uint32_t>(best.at)};
  }

  pair::NewtonSides sides;
  double reach, unit;
  unsigned shift;
  std::uint64_t mask, lift;
  double lifted;
};

namespace {

/// Sums of n cells up to each, more or less `before`; what is carried from one vector to the next
/// waits for one addition only. Behind them the last is repeated, up to a multiple of kStep. In a
/// pass of its own: with what is made of the sums, processors could not look far enough ahead.
template <class V>
COMMITTEE_INLINE std::uint64_t sum_up(const std::int64_t* cells, std::size_t n,
                                      std::uint64_t before, std::uint64_t* left) {
  typename V::Words w, carry = typename V::Words{} + before;
  std::size_t i = 0;
  for (; i + V::kLanes <= n; i += V::kLanes) {
    std::memcpy(&w, cells + i, sizeof(w));
    V::run(w);
    const typename V::Words sums = w + carry;
    std::memcpy(left + i, &sums, sizeof(sums));
    V::add_last(w, carry);
  }
  std::uint64_t sum = carry[0];
  for (; i < n; ++i) left[i] = sum += static_cast<std::uint64_t>(cells[i]);
  for (; i % kStep != 0; ++i) left[i] = sum;
  return sum;
}

/// Scores n cuts, a whole number of vectors, by their sums and what is to be added to them.
COMMITTEE_CLONES
void score_cuts(const NewtonScan& scan, const std::uint64_t* left, std::size_t n,
                std::uint64_t more, std::size_t first, Best& lanes) {
  for (std::size_t k = 0; k < n; k += kLanes) {
    Words w;
    std::memcpy(&w, left + k, sizeof(w));
    scan(w + more, static_cast<std::int64_t>(first + k) + Places{0, 1, 2, 3}, lanes);
  }
}

/// Finds the best cuts of features, one after the other. Few exceed the best before them or that of
/// features tried before: where one of a step may, its cuts are scored.
template <class V>
class Judge {
 public:
  COMMITTEE_INLINE Judge(const NewtonScan& scan, double floor)
      : scan_(scan), screen_(scan.sides, scan.shift, scan.reach) {
    raise(scan.bar(floor));
  }

  /// The best of each lane of the cuts behind cells [among.begin, among.end), where one may exceed
  /// the bar, which is raised; false where none does. `before` is left of them all.
  COMMITTEE_INLINE bool operator()(const std::int64_t* cells, BinRange among, std::uint64_t before,
                                   Best& lanes) {
    bool exceeded = false;
    before -= screen_.half();
    for (std::size_t first = among.begin; first < among.end; first += kChunk) {
      const std::size_t n = std::min(kChunk, among.end - first);
      before = sum_up<V>(cells + first, n, before, left_);
      for (std::size_t i = 0; i < n; i += kStep) {
        if (!V::negative(signs(left_ + i))) [[likely]]
          continue;
        exceeded = true;
        score_cuts(scan_, left_ + i, kStep, screen_.half() + scan_.lift, first + i, lanes);
        raise_to(lanes);
      }
    }
    return exceeded;
  }

 private:
  /// Sets signs where the cuts of a step may exceed the bar.
  COMMITTEE_INLINE typename V::Words signs(const std::uint64_t* left) const {
    typename V::Words any{}, a, b;
#pragma GCC unroll 8
    for (std::size_t k = 0; k < kStep; k += 2 * V::kLanes) {
      std::memcpy(&a, left + k, sizeof(a));
      std::memcpy(&b, left + k + V::kLanes, sizeof(b));
      any |= screen_.signs<V>(a, b);
    }
    return any;
  }

  COMMITTEE_INLINE void raise(double bar) {
    bar_ = bar;
    screen_.raise(bar);
  }
  COMMITTEE_INLINE void raise_to(const Best& lanes) {
    double top = lanes.top[0];
    for (std::size_t k = 1; k < kLanes; ++k) top = std::max(top, lanes.top[k]);
    if (top * kSurely > bar_) raise(top * kSurely);
  }

  const NewtonScan& scan_;
  NewtonScreen screen_;
  double bar_ = 0;
  std::uint64_t left_[kChunk];
};

template <class V>
COMMITTEE_INLINE NewtonCut best_cut(const std::int64_t* cells, std::size_t n_bins,
                                    std::int64_t aside, const NewtonTerms& terms, BinRange among,
                                    double floor) {
  const NewtonScan scan(terms);
  auto before = static_cast<std::uint64_t>(aside);
  among.end = std::min(among.end, n_bins);
  for (std::size_t i = 0; i < std::min(among.begin, n_bins); ++i)
    before += static_cast<std::uint64_t>(cells[i]);
  Best lanes;
  Judge<V> judge(scan, floor);
  judge(cells, among, before, lanes);
  return scan.cut(lanes);
}

template <class V>
COMMITTEE_INLINE NewtonChoice best_of(std::span<const NewtonWords> features,
                                      const NewtonTerms& terms, double floor) {
  const NewtonScan scan(terms);
  NewtonChoice best{{floor, 0}, features.size()};
  Judge<V> judge(scan, floor);
  for (std::size_t k = 0; k < features.size(); ++k) {
    Best lanes;
    if (!judge(features[k].words, {0, features[k].n}, 0, lanes)) continue;
    const NewtonCut cut = scan.cut(lanes);
    if (cut.gain > best.cut.gain) best = {cut, k};
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
  auto before = static_cast<std::uint64_t>(aside) + scan.lift;
  std::uint64_t left[kChunk];
  for (std::size_t first = 0; first < n_bins; first += kChunk) {
    const std::size_t n = std::min(kChunk, n_bins - first);
    before = sum_up<V>(cells + first, n, before, left);
    typename V::Words w;
    std::size_t i = 0;
    for (; i + V::kLanes <= n; i += V::kLanes) {
      std::memcpy(&w, left + i, sizeof(w));
      scan.add<V>(w, gain + first + i);
    }
    if (i == n) continue;
    double sums[V::kLanes] = {};
    std::copy(gain + first + i, gain + first + n, sums);
    std::memcpy(&w, left + i, sizeof(w));
    scan.add<V>(w, sums);
    std::copy(sums, sums + (n - i), gain + first + i);
  }
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
  const Winner best = winner(lanes);
  return {best.top * scan.unit, static_cast<std::uint32_t>(best.at)};
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
