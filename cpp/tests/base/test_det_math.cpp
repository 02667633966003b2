// det_log and det_exp against long double, in ulps, and against one recorded checksum of bits: the
// checksum must be the same for every compiler, instruction set and machine.
#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "check.hpp"
#include "committee/base/det_math.hpp"

using namespace committee;

namespace {

// splitmix64: the standard library's distributions differ between implementations.
struct Points {
  std::uint64_t state = 1;
  std::uint64_t bits() {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  double near_zero(int spread) {
    return (uniform() - 0.5) *
           std::ldexp(1.0, -static_cast<int>(bits() % static_cast<unsigned>(spread)));
  }
};

double ulps(double got, long double want) {
  if (want == 0.0L) return got == 0.0 ? 0.0 : 1e9;
  int exponent = 0;
  std::frexp(static_cast<double>(want), &exponent);
  const long double unit = std::ldexp(1.0L, std::max(exponent - 53, -1074));
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) / unit);
}

double log_error(double x) { return ulps(det_log(x), std::log(static_cast<long double>(x))); }
double exp_error(double x) { return ulps(det_exp(x), std::exp(static_cast<long double>(x))); }

constexpr int kPoints = 500000;
constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

TEST(det_log_is_within_one_ulp) {
  Points points;
  double worst = 0.0;
  for (int i = 0; i < kPoints; ++i) {
    const double any = std::bit_cast<double>(points.bits() % 0x7feffffffffffffeu + 1);
    const double denormal = std::bit_cast<double>(points.bits() % 0x000fffffffffffffu + 1);
    worst = std::max({worst, log_error(any), log_error(denormal)});
    worst =
        std::max({worst, log_error(1.0 + points.near_zero(50)), log_error(0.5 + points.uniform())});
    worst = std::max(worst, log_error(1e4 * points.uniform() + 1e-9));
  }
  CHECK(worst < 1.0);
}

TEST(det_exp_is_within_one_ulp) {
  Points points;
  double worst = 0.0;
  for (int i = 0; i < kPoints; ++i) {
    worst = std::max(worst, exp_error(1400.0 * (points.uniform() - 0.5)));
    worst = std::max(
        {worst, exp_error(points.near_zero(50)), exp_error(-700.0 - 46.0 * points.uniform())});
  }
  CHECK(worst < 1.0);
}

TEST(det_math_special_values) {
  CHECK(det_log(0.0) == -kInf && det_log(-0.0) == -kInf && det_log(kInf) == kInf);
  CHECK(std::isnan(det_log(-1.0)) && std::isnan(det_log(-kInf)) &&
        std::isnan(det_log(std::nan(""))));
  CHECK(det_log(1.0) == 0.0 && !std::signbit(det_log(1.0)));
  CHECK(det_exp(0.0) == 1.0 && det_exp(-kInf) == 0.0 && det_exp(kInf) == kInf);
  CHECK(det_exp(-1e300) == 0.0 && det_exp(1e300) == kInf && std::isnan(det_exp(std::nan(""))));
  CHECK(std::isfinite(det_exp(709.78)) && det_exp(709.79) == kInf);
  CHECK(det_exp(-745.1) == std::numeric_limits<double>::denorm_min() && det_exp(-745.2) == 0.0);
  CHECK(x_log_x(0.0) == 0.0 && !std::signbit(x_log_x(0.0)) && x_log_x(1.0) == 0.0);
  CHECK(x_log_x(3.0) == 3.0 * det_log(3.0) && x_log_x(0.25) == 0.25 * det_log(0.25));
  CHECK(std::fabs(x_log_x(1e-310)) < 1e-306);
}

TEST(det_math_bits_are_the_same_everywhere) {
  Points points;
  std::uint64_t checksum = 0;
  for (int i = 0; i < 100000; ++i) {
    const double x = std::bit_cast<double>(points.bits() % 0x7feffffffffffffeu + 1);
    const double y = 1500.0 * (points.uniform() - 0.5);
    for (const double result : {det_log(x), det_exp(y), x_log_x(points.uniform())}) {
      checksum = std::rotl(checksum, 5) ^ std::bit_cast<std::uint64_t>(result);
    }
  }
  CHECK(checksum == 0xc2583bb7929bec5fu);
}
