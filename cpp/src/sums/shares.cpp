// Statistics of a distribution over the rows that is another one at every call, as in boosting: two
// passes that vectorise, one for the sum of the weights and one for the words.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "committee/base/clones.hpp"
#include "committee/sums/stats.hpp"
#include "sums/units.hpp"

namespace committee {
namespace {

constexpr int kShareBits = 30;  // of the total: at least one unit a row may as much as double it
constexpr std::size_t kMostRows = std::size_t{1} << kShareBits;
constexpr unsigned kFieldBits = 32;  // of a class in a packed word; the total is below 2^31 units
constexpr std::size_t kChunkRows = 16384;  // fixed: the order of additions must not vary
constexpr int kFarBits = 900;              // sums beyond 2^+-kFarBits are scaled before anything
constexpr double kInteger = 0x1p52;  // x + kInteger has round(x) in its low bits, ties to even

constexpr std::size_t kLanes = 8, kHalves = 2;  // no larger vectors than most machines have
using Reals = double __attribute__((vector_size(32)));
using Bits = std::int64_t __attribute__((vector_size(32)));

/// A part of the rows, as the first pass sees it.
struct Part {
  double sum = 0;
  std::int64_t least = 0, most = 0;  // of the weights' bit patterns, and 0
  std::uint32_t code = 0;            // the largest
};

/// Eight sums side by side, added up at the end: the same additions in any instruction set.
COMMITTEE_CLONES
void sum_weights(const double* weight, std::size_t n, double scale, Part& part) {
  Reals sum[kHalves] = {}, x[kHalves];
  Bits least[kHalves] = {}, most[kHalves] = {};
  for (std::size_t i = 0; i < n; i += kLanes) {
    if (n - i < kLanes) std::fill_n(x, kHalves, Reals{});
    std::memcpy(x, weight + i, std::min(n - i, kLanes) * sizeof(double));
    for (std::size_t h = 0; h < kHalves; ++h) {
      const auto bits = reinterpret_cast<Bits>(x[h]);
      sum[h] += x[h] * scale;
      least[h] = bits < least[h] ? bits : least[h];
      most[h] = bits > most[h] ? bits : most[h];
    }
  }
  for (std::size_t k = 0; k < kLanes; ++k) {
    const std::size_t h = k / (kLanes / kHalves), lane = k % (kLanes / kHalves);
    part.sum += sum[h][lane];
    part.least = std::min(part.least, least[h][lane]);
    part.most = std::max(part.most, most[h][lane]);
  }
}

COMMITTEE_CLONES
std::uint32_t largest_code(const std::uint32_t* codes, std::size_t n) {
  std::uint32_t most = 0;
  for (std::size_t i = 0; i < n; ++i) most = std::max(most, codes[i]);
  return most;
}

/// A weight as whole units, at least one. Powers of two: both products are exact, or below a unit.
inline std::int64_t units_of(double weight, double scale, double per_unit) {
  const double shifted = weight * scale * per_unit + kInteger;
  const std::int64_t units =
      std::bit_cast<std::int64_t>(shifted) - std::bit_cast<std::int64_t>(kInteger);
  return std::max<std::int64_t>(units, 1);
}

/// Returns the sum of the words.
COMMITTEE_CLONES
std::int64_t write_pairs(const double* weight, const std::uint32_t* codes, std::size_t n,
                         double scale, double per_unit, std::int64_t* words) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t units = units_of(weight[i], scale, per_unit);
    words[i] = codes[i] == 0 ? units << kFieldBits : units;
    sum += words[i];
  }
  return sum;
}

COMMITTEE_CLONES
void write_units(const double* weight, std::size_t n, double scale, double per_unit,
                 std::int64_t* words) {
  for (std::size_t i = 0; i < n; ++i) words[i] = units_of(weight[i], scale, per_unit);
}

[[noreturn]] void refuse_weight(std::span<const double> weight, std::size_t row) {
  throw std::invalid_argument("weights must be finite and >= 0, got " +
                              std::to_string(weight[row]) + " at row " + std::to_string(row));
}

/// Calls f(first row, rows, chunk) for all chunks.
template <class F>
void for_chunks(std::size_t n, const Context& context, F f) {
  parallel_for((n + kChunkRows - 1) / kChunkRows, context, [&](std::size_t k, int) {
    f(k * kChunkRows, std::min(kChunkRows, n - k * kChunkRows), k);
  });
}

Part look_at(std::span<const std::uint32_t> codes, std::span<const double> weight, double scale,
             const Context& context) {
  std::vector<Part> parts((weight.size() + kChunkRows - 1) / kChunkRows);
  for_chunks(weight.size(), context, [&](std::size_t first, std::size_t n, std::size_t k) {
    sum_weights(weight.data() + first, n, scale, parts[k]);
    parts[k].code = largest_code(codes.data() + first, n);
  });
  Part all;
  for (const Part& part : parts) {
    all.sum += part.sum;
    all.least = std::min(all.least, part.least);
    all.most = std::max(all.most, part.most);
    all.code = std::max(all.code, part.code);
  }
  return all;
}

void check(std::span<const double> weight, const Part& all, std::uint32_t n_classes) {
  if (all.code >= n_classes && !weight.empty())
    throw std::invalid_argument("a class code is out of range");
  const auto infinite = std::bit_cast<std::int64_t>(std::numeric_limits<double>::infinity());
  if (all.least == 0 && all.most < infinite) return;
  for (std::size_t r = 0; r < weight.size(); ++r) {  // -0.0 looks negative and passes
    if (!(weight[r] >= 0) || std::isinf(weight[r])) refuse_weight(weight, r);
  }
}

}  // namespace

Stats Stats::shares(std::span<const std::uint32_t> codes, std::span<const std::uint32_t> n_classes,
                    std::span<const double> weight, const Context& context) {
  if (n_classes.size() != 1) throw std::invalid_argument("shares take one output");
  if (weight.size() != codes.size()) throw std::invalid_argument("weight has the wrong length");
  if (weight.size() > kMostRows) throw std::invalid_argument("shares take at most 2^30 rows");
  Part all = look_at(codes, weight, 1.0, context);
  check(weight, all, n_classes[0]);
  int far = 0;  // sums that overflow, or weights whose factor would, are moved near 1 first
  if (!(all.sum < std::ldexp(1.0, kFarBits))) far = -128;
  if (all.sum < std::ldexp(1.0, -kFarBits)) far = 256;
  const double scale = std::ldexp(1.0, far);
  if (far != 0) all.sum = look_at(codes, weight, scale, context).sum;
  if (all.sum == 0) throw std::invalid_argument("no row has a positive weight");
  const int near_exponent = exponent_of(all.sum), exponent = near_exponent - far;
  Stats s;
  // Decoded, the total is always in [1/2, 1): a factor of two in all weights is nowhere seen.
  const int outside = std::clamp(exponent, -1022, 1023);
  s.weight_scale_ = std::ldexp(1.0, outside);
  s.weight_unit_ = std::ldexp(1.0, exponent - outside - kShareBits);
  s.set_shares(codes, n_classes[0], weight, scale, kShareBits - near_exponent, context);
  return s;
}

void Stats::set_shares(std::span<const std::uint32_t> codes, std::uint32_t n_classes_of,
                       std::span<const double> weight, double scale, int exponent,
                       const Context& context) {
  const double per_unit = std::ldexp(1.0, exponent);
  kind = SumKind::classes;
  n_rows = weight.size();
  n_classes = {n_classes_of};
  n_sums = n_classes_of;
  unit_weight_ = false;
  unit_.assign(n_sums, weight_unit_);
  words.resize(n_rows);
  if (n_classes_of != 2) {
    form = RowForm::one_hot;
    width = n_sums;
    slots.assign(codes.begin(), codes.end());
    for_chunks(n_rows, context, [&](std::size_t first, std::size_t n, std::size_t) {
      write_units(weight.data() + first, n, scale, per_unit, words.data() + first);
    });
    return;
  }
  form = RowForm::packed;
  shift = kFieldBits;
  block_rows = n_rows;
  small_sums_ = true;
  std::vector<std::int64_t> sums((n_rows + kChunkRows - 1) / kChunkRows);
  for_chunks(n_rows, context, [&](std::size_t first, std::size_t n, std::size_t k) {
    sums[k] = write_pairs(weight.data() + first, codes.data() + first, n, scale, per_unit,
                          words.data() + first);
  });
  total_ = std::accumulate(sums.begin(), sums.end(), std::int64_t{0});
}

}  // namespace committee
