// Natural logarithm and exponential with the same bits on every machine: only IEEE + - * / and
// integer operations.
//
// The C library's log differs by an ulp between platforms, which is enough to turn a tie between
// two splits around. Here: x = 2^k * m and a short polynomial for the rest, after the well-known
// reductions behind fdlibm (P. Tang 1989, K.C. Ng 1993; the minimax coefficients are theirs, the
// code is not). Special values are selects and not branches, so loops over these functions
// vectorise. Needs -ffp-contract=off: a fused multiply-add would change last bits.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace committee {

namespace det_detail {
// ln 2 in two pieces. The high one ends in 32 zero bits, so k * kLn2High is exact for every
// exponent k.
inline constexpr double kLn2High = 6.93147180369123816490e-01;
inline constexpr double kLn2Low = 1.90821492927058770002e-10;
inline constexpr double kBias = 0x1p52 + 1023;
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// condition ? yes : no by masks: gcc makes a branch of the operator, and a loop with branches does
// not vectorise.
inline double select(bool condition, double yes, double no) {
  const std::uint64_t mask = -static_cast<std::uint64_t>(condition);
  return std::bit_cast<double>((std::bit_cast<std::uint64_t>(yes) & mask) |
                               (std::bit_cast<std::uint64_t>(no) & ~mask));
}

// log(x) + (1023 + 2^52 - bias) ln 2 for normal x > 0; some finite number for every other x.
inline double log_normal(double x, double bias) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  // m in [sqrt(1/2), sqrt(2)): moving the cut away from 1 keeps log(x) near x = 1 free of
  // cancellation.
  constexpr std::uint64_t kRootHalf = 0x3fe6a09e00000000u;
  const std::uint64_t moved = bits + (0x3ff0000000000000u - kRootHalf);
  // The exponent becomes a double as low bits of 2^52: SSE2 and AVX2 convert no 64-bit integers.
  const double k = std::bit_cast<double>((moved >> 52) | 0x4330000000000000u) - bias;
  const double f = std::bit_cast<double>((moved & 0x000fffffffffffffu) + kRootHalf) - 1.0;

  // log(1 + f) = 2 atanh(s) = f - f^2/2 + s * (f^2/2 + R(s^2)); f is exact, so only small terms are
  // rounded.
  const double s = f / (2.0 + f);
  const double z = s * s;
  const double w = z * z;
  const double even = w * (3.999999999940941908e-01 +
                           w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
  const double odd4 = 1.818357216161805012e-01 + w * 1.479819860511658591e-01;
  const double odd = z * (6.666666666666735130e-01 + w * (2.857142874366239149e-01 + w * odd4));
  const double half = 0.5 * f * f;
  const double rest = half - (s * (half + (even + odd)) + k * kLn2Low);
  return k * kLn2High - (rest - f);
}
}  // namespace det_detail

/// log(x) within 1 ulp for every x > 0, denormal numbers too. 0 -> -infinity, infinity -> infinity,
/// else NaN.
inline double det_log(double x) {
  using namespace det_detail;
  const bool denormal = x < std::numeric_limits<double>::min();
  const double scale = select(denormal, 0x1p54, 1.0);
  const double bias = select(denormal, kBias + 54, kBias);
  const double finite = select(x < kInfinity, log_normal(x * scale, bias), x);
  return select(x > 0.0, finite, select(x == 0.0, -kInfinity, kNan));
}

/// x * log(x) for finite x >= 0, continued by 0 at x = 0: the summand of an entropy. Below 1e-307
/// only a number as small: what a denormal's logarithm would cost is not worth its place in a sum.
inline double x_log_x(double x) {
  // At 0 the logarithm is some finite number, so the product is a zero; + 0.0 makes -0 a plain 0.
  return x * det_detail::log_normal(x, det_detail::kBias) + 0.0;
}

/// exp(x) within 1 ulp, gradual underflow included. NaN -> NaN.
inline double det_exp(double x) {
  using namespace det_detail;
  // Beyond these bounds the result is infinity or 0 anyway; NaN passes both comparisons.
  const double above = select(x < -746.0, -746.0, x);
  const double bounded = select(above > 710.0, 710.0, above);

  // Adding 1.5 * 2^52 rounds to the nearest integer and leaves it in the low bits.
  constexpr double kShift = 0x1.8p52;
  const double shifted = bounded * 1.44269504088896338700e+00 + kShift;
  const double k = shifted - kShift;
  const double high = bounded - k * kLn2High;
  const double low = k * kLn2Low;
  const double r = high - low;

  // exp(r) = 1 + r + r c / (2 - c) with c = r - r^2 P(r^2), after r coth(r / 2).
  const double t = r * r;
  const double p4 = -1.65339022054652515390e-06 + t * 4.13813679705723846039e-08;
  const double p2 = -2.77777777770155933842e-03 + t * (6.61375632143793436117e-05 + t * p4);
  const double c = r - t * (1.66666666666666019037e-01 + t * p2);
  const double y = 1.0 - ((low - (r * c) / (2.0 - c)) - high);

  // 2^k as two factors: k runs from -1076 to 1024, one factor could not hold it.
  const std::uint64_t biased =
      std::bit_cast<std::uint64_t>(shifted) - std::bit_cast<std::uint64_t>(kShift) + 2048;
  const std::uint64_t first = biased >> 1;
  const std::uint64_t second = biased - first;
  return y * std::bit_cast<double>((first - 1) << 52) * std::bit_cast<double>((second - 1) << 52);
}

}  // namespace committee
