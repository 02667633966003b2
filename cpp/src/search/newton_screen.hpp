// Which cuts may gain more than the best so far, told in single precision: twice as many cuts in a
// vector as in double precision, and no division. The few that may are scored as they were, so that
// rounding here costs time at most, never a cut.
//
// What varies of a gain is (u - mean f)^2 / ((middle + f) (middle - f)), where u and f are gradient
// and hessian of the left side, less half of the node's. It is above `bar` just where
// (u - mean f)^2 + bar f^2 is above bar middle^2. A word less half of the node's holds u in its
// upper 32 bits and f in the lower ones, both as integers that need only be converted.
#pragma once

#include <algorithm>
#include <cmath>

#include "committee/search/criterion.hpp"
#include "search/newton_lanes.hpp"

namespace committee {

class NewtonScreen {
 public:
  /// reach: the largest |f| of a cut that counts. Where `shift` is above 32, or 0, halves of words
  /// are not u and f, and nothing is ruled out.
  NewtonScreen(const pair::NewtonSides& sides, unsigned shift, double reach)
      : fits_(shift >= 1 && shift <= 32),
        up_(fits_ ? 32 - static_cast<int>(shift) : 0),
        unit_(1.0 / static_cast<double>(std::uint64_t{1} << up_)),
        mean_(std::abs(sides.mean)),
        middle_(sides.middle),
        half_((static_cast<std::uint64_t>(std::llrint(std::floor(sides.half_gradient))) << shift) +
              static_cast<std::uint64_t>(std::llrint(std::floor(sides.half_hessian)))),
        slope_(static_cast<float>(sides.mean * unit_ * unit_)) {
    const double widest = (reach + 1) / unit_;
    widest_ = static_cast<float>(fits_ ? std::min(widest * widest * (1 + kSlack), kHuge) : kHuge);
  }

  /// Cuts are ruled out that surely vary by less than `bar`; by none above 0, none is. A unit or
  /// two are lost where halves and fields are rounded, and a few parts in 2^24 in every number, of
  /// which kSlack is twice what they add up to: the bound is lower by all that.
  void raise(double bar) {
    curve_ = 0;
    most_ = -1;
    if (!(bar > 0) || !fits_) return;
    const double unit = unit_ * unit_, all = bar * middle_ * middle_ * unit;
    const double lost = 2 + mean_ * unit_ * (1 + middle_ * kSlack);
    const double most = all * (1 - kSlack) - bar * (middle_ + 1) * unit - 2 * lost * std::sqrt(all);
    const bool never = !(all < kHuge);  // no sums of 64 bits come near
    curve_ = never ? 0 : static_cast<float>(bar * unit * unit);
    most_ = static_cast<float>(never ? kHuge : most > 0 ? most : -1);
  }

  std::uint64_t half() const { return half_; }

  /// Sets the sign of 32 bits for each cut that may vary by more; words are less `half`.
  template <class V>
  COMMITTEE_INLINE typename V::Words signs(const typename V::Words& a,
                                           const typename V::Words& b) const {
    using Singles = typename V::Singles;
    using Words = typename V::Words;
    const Singles u = __builtin_convertvector(V::upper(a, b), Singles);
    const Singles f = __builtin_convertvector(V::lower(a, b) << up_, Singles);
    const Singles apart = u - slope_ * f, square = f * f;
    const Singles below = most_ - (apart * apart + curve_ * square), beyond = square - widest_;
    return reinterpret_cast<Words>(below) & reinterpret_cast<Words>(beyond);
  }

 private:
  static constexpr double kSlack = 0x1p-20, kHuge = 1e36;

  bool fits_;
  int up_;  // what the fields are off 32 bits
  double unit_, mean_, middle_;
  std::uint64_t half_;
  float slope_, widest_, curve_ = 0, most_ = -1;
};

}  // namespace committee
