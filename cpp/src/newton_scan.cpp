#include "newton_scan.hpp"

#include <algorithm>
#include <cstring>

#include "committee/clones.hpp"
#include "committee/criterion.hpp"

namespace committee {
namespace {

constexpr std::size_t kLanes = 4;
constexpr std::size_t kChunk = 256;  // bins whose running sums are held
using Numbers = double __attribute__((vector_size(8 * kLanes)));
using Words = std::uint64_t __attribute__((vector_size(8 * kLanes)));
using Places = std::int64_t __attribute__((vector_size(8 * kLanes)));

/// 2^52 as a number has the bits of x below it when x is added: integers become numbers by one "or"
/// and one subtraction, where most instruction sets have no conversion.
constexpr std::uint64_t kTwo52 = std::uint64_t{0x433} << 52;
constexpr unsigned kSignedBits = 51;  // of a sum that is moved above 0 so as to be taken out

/// The best cut of each lane so far.
struct Lanes {
  Numbers top = {-1, -1, -1, -1};
  Places at{};
};

/// Scores the cuts whose left words are [begin, end), the first of which is the `first`-th.
inline __attribute__((always_inline)) void score_cuts(const std::uint64_t* begin,
                                                      const std::uint64_t* end, std::size_t first,
                                                      unsigned shift,
                                                      const pair::NewtonSides& sides, Lanes& best) {
  const std::uint64_t mask = (std::uint64_t{1} << shift) - 1;
  const unsigned bits = std::min(63 - shift, kSignedBits);
  const std::uint64_t lift = std::uint64_t{1} << (bits + shift);
  const double two52 = 0x1p52, lifted = two52 + static_cast<double>(std::uint64_t{1} << bits);
  const double mean = sides.mean, l2 = sides.l2, all_g = sides.gradient, all_h = sides.hessian;
  Places place = static_cast<std::int64_t>(first) + Places{0, 1, 2, 3};
  for (const std::uint64_t* x = begin; x < end; x += kLanes) {
    Words w;
    std::memcpy(&w, x, sizeof(w));
    const Words g_bits = ((w + lift) >> shift) | kTwo52, h_bits = (w & mask) | kTwo52;
    const Numbers g = reinterpret_cast<Numbers>(g_bits) - lifted;
    const Numbers h = reinterpret_cast<Numbers>(h_bits) - two52;
    const Numbers a = h + l2, b = (all_h - h) + l2;
    const Numbers l = g - mean * a, r = (all_g - g) - mean * b;
    const Numbers score = (l * l + r * r) / (a * b);
    const auto better = score > best.top;
    best.top = better ? score : best.top;
    best.at = better ? place : best.at;
    place += static_cast<std::int64_t>(kLanes);
  }
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

/// All in units, which are powers of two, so that the best cut is the same and its score is exact
/// once they are put back.
COMMITTEE_CLONES
NewtonCut best_newton_cut(const std::int64_t* cells, std::size_t n_bins, std::int64_t aside,
                          const NewtonTerms& terms, BinRange among) {
  const std::uint64_t mask = (std::uint64_t{1} << terms.shift) - 1;
  const auto hessian = [mask](std::uint64_t word) { return static_cast<double>(word & mask); };
  const double all = hessian(static_cast<std::uint64_t>(terms.total));
  const double least = terms.least / terms.unit_hessian;
  const pair::NewtonSides sides(static_cast<double>(terms.total >> terms.shift), all,
                                terms.l2 / terms.unit_hessian);
  std::uint64_t left[kChunk + kLanes];
  Lanes lanes;
  auto sum = static_cast<std::uint64_t>(aside);
  among.end = std::min(among.end, n_bins);
  for (std::size_t i = 0; i < std::min(among.begin, n_bins); ++i)
    sum += static_cast<std::uint64_t>(cells[i]);
  for (std::size_t first = among.begin; first < among.end; first += kChunk) {
    const std::size_t n = std::min(kChunk, among.end - first);
    for (std::size_t i = 0; i < n; ++i) {
      sum += static_cast<std::uint64_t>(cells[first + i]);
      left[i] = sum;
    }
    // Hessians only grow: the cuts that leave enough on both sides lie together.
    std::uint64_t* const begin = std::partition_point(
        left, left + n, [&](std::uint64_t word) { return hessian(word) < least; });
    std::uint64_t* const end = std::partition_point(
        begin, left + n, [&](std::uint64_t word) { return all - hessian(word) >= least; });
    if (begin == end) continue;
    std::fill_n(end, kLanes - 1, end[-1]);  // what is read behind the last ties with it
    const auto skipped = static_cast<std::size_t>(begin - left);
    score_cuts(begin, end, first + skipped, terms.shift, sides, lanes);
  }
  const std::size_t best = winner(lanes);
  if (!(lanes.top[best] >= 0)) return {};
  const double unit = terms.unit_gradient * terms.unit_gradient / terms.unit_hessian;
  return {sides.gain(lanes.top[best]) * unit, static_cast<std::uint32_t>(lanes.at[best])};
}

}  // namespace committee
