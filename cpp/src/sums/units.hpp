// Fixed point: how many bits go where, and the conversions.
#pragma once

#include <bit>
#include <cmath>

#include "committee/base/types.hpp"

namespace committee {

inline constexpr int kYBits = 30;               // of y's half range kept in one limb
inline constexpr int kTypicalBits = 14;         // the typical |y| must keep these in one limb
inline constexpr std::size_t kMinBlock = 4096;  // shorter blocks would spend their time widening
inline constexpr int kFineBits =
    94;  // of y in a leaf's exact sum; times 2^32 units of weight it fits 128 bits
inline constexpr int kRoundBits =
    62;  // the same where weights had to be rounded and get bits of their own
inline constexpr int kSquareBits = 40;  // of y in a square; 31 where weights are rounded

/// e with 2^(e-1) <= |x| < 2^e; 0 for 0.
inline int exponent_of(double x) {
  int e = 0;
  std::frexp(x, &e);
  return x == 0 ? 0 : e;
}

/// The exponent of the lowest set bit of x > 0.
inline int lowest_bit_of(double x) {
  int e = 0;
  const double f = std::frexp(x, &e);
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(f, 53));
  return e - 53 + std::countr_zero(mantissa);
}

inline int bits_of(unsigned __int128 x) {
  const auto high = static_cast<std::uint64_t>(x >> 64);
  return high != 0 ? 128 - std::countl_zero(high)
                   : 64 - std::countl_zero(static_cast<std::uint64_t>(x));
}

inline std::int64_t to_units(double x, int exponent) {
  return static_cast<std::int64_t>(std::rint(std::ldexp(x, exponent)));
}

/// The nearest integer for |x| < 2^51, without a call: adding 1.5 * 2^52 leaves it in the low bits.
inline std::int64_t nearest(double x) {
  constexpr double kRound = 0x1.8p52;
  return static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(x + kRound) -
                                   std::bit_cast<std::uint64_t>(kRound));
}

inline double to_double(__int128 x) { return static_cast<double>(x); }

/// rint(x * 2^exponent) as 128 bits; x must stay below 2^126.
inline __int128 to_wide_units(double x, int exponent) {
  if (x == 0) return 0;  // it has no exponent to shift by
  int e = 0;
  const double f = std::frexp(x, &e);
  const auto mantissa = static_cast<std::int64_t>(std::ldexp(f, 53));
  const int shift = e - 53 + exponent;
  if (shift >= 0) return static_cast<__int128>(mantissa) << shift;
  return static_cast<__int128>(std::rint(std::ldexp(static_cast<double>(mantissa), shift)));
}

/// a / b to the nearest, b > 0: the mean of equal values is that value.
inline __int128 divide_rounded(__int128 a, __int128 b) {
  return (a >= 0 ? a + b / 2 : a - b / 2) / b;
}

}  // namespace committee
