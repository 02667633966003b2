#include "committee/sums/stats.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "committee/base/det_math.hpp"
#include "sums/median_of.hpp"
#include "sums/units.hpp"

namespace committee {

constexpr int kTotalBits = 61;  // of the weights of all rows, in units: sums of classes

/// Chooses the unit of weight: the largest power of two at which no weight loses a bit, if the
/// total then stays below 2^limit_bits; otherwise the one that brings the total there (weights are
/// rounded, none to zero).
void Stats::use_weights(std::span<const double> weight, std::size_t n, int limit_bits) {
  n_rows = n;
  rows_.reserve(n);
  int highest = std::numeric_limits<int>::min(), lowest = std::numeric_limits<int>::max();
  unit_weight_ = true;
  for (std::size_t r = 0; r < n; ++r) {
    const double w = weight.empty() ? 1.0 : weight[r];
    if (w == 0) continue;
    rows_.push_back(static_cast<RowId>(r));
    if (w == 1.0) continue;
    unit_weight_ = false;
    highest = std::max(highest, exponent_of(w));
    lowest = std::min(lowest, lowest_bit_of(w));
  }
  if (rows_.empty()) throw std::invalid_argument("no row has a positive weight");
  if (unit_weight_) return;
  for (const RowId r : rows_) {
    if (weight[r] != 1.0) continue;
    highest = std::max(highest, 1);
    lowest = std::min(lowest, 0);
    break;
  }
  const int extreme =
      highest > 64 || highest < -64 ? highest - 1 : 0;  // keeps squares of sums finite
  unsigned __int128 total = 0;  // in units of 2^(highest - 62): no weight exceeds 2^62 of them
  for (const RowId r : rows_)
    total += static_cast<std::uint64_t>(to_units(weight[r], 62 - highest));
  const int total_bits = bits_of(total) + highest - 62;
  const bool exact = total_bits - lowest < limit_bits;
  const int unit = exact ? lowest : total_bits - limit_bits;
  if (!exact) {
    weight_ = weight;
    fine_weight_exponent_ = 126 - kRoundBits - bits_of(rows_.size()) - highest;
  }
  weight_unit_ = std::ldexp(1.0, unit - extreme);
  weight_scale_ = std::ldexp(1.0, extreme);
  weight_units_.assign(n, 0);
  for (const RowId r : rows_) {
    weight_units_[r] = std::max<std::int64_t>(1, to_units(weight[r], -unit));
  }
}

void Stats::release_rows() {
  if (rows_.size() == n_rows) rows_ = std::vector<RowId>();
}

std::vector<RowId> Stats::counted_rows() const {
  if (!rows_.empty()) return rows_;
  std::vector<RowId> all(n_rows);
  std::iota(all.begin(), all.end(), RowId{0});
  return all;
}

bool Stats::counts(RowId r) const {
  return rows_.empty() || std::binary_search(rows_.begin(), rows_.end(), r);
}

template <class A, class B>
void Stats::pack(A a, B b) {
  std::uint64_t a_max = 0, b_max = 0;
  unsigned __int128 a_sum = 0, b_sum = 0;
  for (const RowId r : rows_) {
    const auto a_abs = static_cast<std::uint64_t>(std::abs(a(r)));
    const auto b_own = static_cast<std::uint64_t>(b(r));
    a_max = std::max(a_max, a_abs);
    b_max = std::max(b_max, b_own);
    a_sum += a_abs;
    b_sum += b_own;
  }
  n_sums = 2;
  const bool whole = bits_of(a_sum) + bits_of(b_sum) + 1 <= 64;
  const int block_bits = (63 - bits_of(a_max) - bits_of(b_max)) / 2;
  const bool wide = !whole && (block_bits < 0 || (std::size_t{1} << block_bits) < kMinBlock);
  form = wide ? RowForm::wide : RowForm::packed;
  width = whole ? 1 : 2;
  words.assign(n_rows * (wide ? 2 : 1), 0);
  if (wide) {
    for (const RowId r : rows_) {
      words[std::size_t{r} * 2] = a(r);
      words[std::size_t{r} * 2 + 1] = b(r);
    }
    return;
  }
  small_sums_ = bits_of(a_sum) <= 52 && bits_of(b_sum) <= 52;
  shift = static_cast<unsigned>(whole ? bits_of(b_sum) : bits_of(b_max) + block_bits);
  block_rows = whole ? n_rows : std::size_t{1} << block_bits;
  for (const RowId r : rows_) {
    words[r] = static_cast<std::int64_t>(static_cast<std::uint64_t>(a(r)) << shift) + b(r);
  }
}

Stats Stats::classes(std::span<const std::uint32_t> codes, std::span<const std::uint32_t> n_classes,
                     std::span<const double> weight, bool counted) {
  Stats s;
  s.kind = SumKind::classes;
  s.n_outputs = n_classes.size();
  s.n_classes.assign(n_classes.begin(), n_classes.end());
  const std::size_t n = codes.size() / s.n_outputs;
  s.use_weights(weight, n, kTotalBits);
  s.n_sums = 0;
  for (const std::uint32_t k : n_classes) s.n_sums += k;
  s.unit_.assign(s.n_sums, s.weight_unit_);
  counted = counted && !s.unit_weight_;
  if (s.n_outputs == 1 && n_classes[0] == 2 && !counted) {
    s.pack([&](RowId r) { return codes[r] == 0 ? s.weight_units(r) : 0; },
           [&](RowId r) { return codes[r] == 0 ? 0 : s.weight_units(r); });
    s.release_rows();
    return s;
  }
  s.store_one_hot(codes, counted);
  return s;
}

void Stats::store_one_hot(std::span<const std::uint32_t> codes, bool counted) {
  form = RowForm::one_hot;
  width = n_sums + (counted ? 1 : 0);
  count_word_ = counted ? static_cast<int>(n_sums) : -1;
  words.resize(n_rows);
  slots.resize(n_rows * n_outputs);
  for (const RowId r : rows_) {
    words[r] = weight_units(r);
    std::uint32_t first = 0;
    for (std::size_t m = 0; m < n_outputs; ++m) {
      slots[r * n_outputs + m] = first + codes[r * n_outputs + m];
      first += n_classes[m];
    }
  }
  release_rows();
}

Stats Stats::divisible(std::span<const std::uint32_t> codes,
                       std::span<const std::uint32_t> n_classes, std::span<const double> weight) {
  Stats s;
  s.kind = SumKind::classes;
  s.n_outputs = n_classes.size();
  s.n_classes.assign(n_classes.begin(), n_classes.end());
  s.use_weights(weight, codes.size() / s.n_outputs, kTotalBits);
  s.refine_weights();
  s.n_sums = std::accumulate(n_classes.begin(), n_classes.end(), std::size_t{0});
  s.unit_.assign(s.n_sums, s.weight_unit_);
  s.store_one_hot(codes, !s.unit_weight_);
  s.divides_ = true;
  return s;
}

/// The finest unit at which the total still fits.
void Stats::refine_weights() {
  if (weight_units_.empty()) {
    weight_units_.assign(n_rows, 0);
    for (const RowId r : rows_) weight_units_[r] = 1;
  }
  unsigned __int128 total = 0;
  for (const RowId r : rows_) total += static_cast<std::uint64_t>(weight_units_[r]);
  const int spare = kTotalBits - bits_of(total);
  if (spare <= 0) return;
  for (const RowId r : rows_) weight_units_[r] <<= spare;
  weight_unit_ = std::ldexp(weight_unit_, -spare);
}

/// One exponent for all outputs, so that their errors keep their proportion; a centre for each.
void Stats::scale_targets(bool centred) {
  centre_.assign(n_outputs, 0.0);
  centred_ = centred;
  double reach = 0, largest = 0;
  for (std::size_t m = 0; m < n_outputs; ++m) {
    if (centred) {
      centre_[m] = weighted_median(
          rows_, [&](RowId r) { return y[r * n_outputs + m]; },
          [&](RowId r) { return weight_units(r); });
    }
    for (const RowId r : rows_) {
      const double v = y[r * n_outputs + m];
      reach = std::max(reach, std::abs(v / 2 - centre_[m] / 2));
      largest = std::max(largest, std::abs(v));
    }
  }
  const int exponent =
      exponent_of(reach) + 1;  // |y - centre| < 2^exponent; halves, since y may be near overflow
  y_exponent_ = kYBits - exponent;
  y_scale_ = std::ldexp(1.0, std::min(exponent, 1023));
  fine_exponent_[0] = (weight_.empty() ? kFineBits : kRoundBits) - exponent_of(largest);
  fine_exponent_[1] = kRoundBits - exponent_of(x_log_x(std::max(largest, 3.0)));
}

std::int64_t Stats::y_units(RowId r, std::size_t output, std::size_t limbs) const {
  const int exponent = y_exponent_ + kYBits * (static_cast<int>(limbs) - 1);
  // Doubled after halving: the difference of two numbers near the largest would overflow.
  return to_units(y[r * n_outputs + output] / 2 - centre_[output] / 2, exponent + 1);
}

/// Whether the typical distance from the centre, zeros aside, would keep too few bits in one limb.
bool Stats::heavy_tailed() const {
  for (std::size_t m = 0; m < n_outputs; ++m) {
    std::vector<RowId> away;
    for (const RowId r : rows_) {
      if (y[r * n_outputs + m] != centre_[m]) away.push_back(r);
    }
    if (away.empty()) continue;
    const double typical = weighted_median(
        away, [&](RowId r) { return std::abs(static_cast<double>(y_units(r, m, 2))); },
        [&](RowId r) { return weight_units(r); });
    if (typical < std::ldexp(1.0, kTypicalBits + kYBits)) return true;
  }
  return false;
}

std::int64_t Stats::fine_weight(RowId r) const {
  if (weight_.empty()) return weight_units(r);
  return std::max<std::int64_t>(1, to_units(weight_[r], fine_weight_exponent_));
}

Stats Stats::regression(std::span<const double> y, std::size_t n_outputs,
                        std::span<const double> weight, bool centred, bool counted) {
  Stats s;
  s.kind = SumKind::regression;
  s.n_outputs = n_outputs;
  s.n_sums = n_outputs + 1;
  s.y = y;
  const std::size_t n = y.size() / n_outputs;
  s.use_weights(weight, n, 31);  // 30 bits of y times 2^32 units of weight fit int64
  s.scale_targets(centred);
  counted = counted && !s.unit_weight_;
  s.limbs_ = s.heavy_tailed() ? 2 : 1;
  s.unit_.assign(n_outputs, std::ldexp(s.weight_unit_, -kYBits * static_cast<int>(s.limbs_)));
  s.unit_.push_back(s.weight_unit_);

  if (n_outputs == 1 && s.limbs_ == 1 && !counted) {
    s.pack([&](RowId r) { return s.weight_units(r) * s.y_units(r, 0); },
           [&](RowId r) { return s.weight_units(r); });
    s.release_rows();
    return s;
  }
  std::vector<std::vector<std::int64_t>> columns(n_outputs * s.limbs_ + 1 + (counted ? 1 : 0),
                                                 std::vector<std::int64_t>(n));
  for (const RowId r : s.rows_) {
    const std::int64_t w = s.weight_units(r);
    for (std::size_t m = 0; m < n_outputs; ++m) {
      if (s.limbs_ == 1) {
        columns[m][r] = w * s.y_units(r, m);
      } else {
        const std::int64_t q = s.y_units(r, m, 2);
        columns[2 * m][r] = w * (q >> kYBits);
        columns[2 * m + 1][r] = w * (q & ((std::int64_t{1} << kYBits) - 1));
      }
    }
    columns[n_outputs * s.limbs_][r] = w;
    if (counted) columns.back()[r] = 1;
  }
  s.store_wide(columns);
  if (counted) s.count_word_ = static_cast<int>(s.width) - 1;
  s.release_rows();
  return s;
}

Stats Stats::newton(std::span<const double> gradient, std::span<const double> hessian,
                    unsigned bits, bool counted) {
  Stats s;
  s.kind = SumKind::newton;
  s.gradient = gradient;
  s.hessian = hessian;
  s.n_rows = gradient.size();
  s.unit_weight_ = false;
  double g_max = 0, h_max = 0;
  for (std::size_t r = 0; r < s.n_rows; ++r) {
    if (!std::isfinite(gradient[r]) || !std::isfinite(hessian[r]) || hessian[r] < 0) {
      throw std::invalid_argument("gradients must be finite and hessians finite and >= 0, got " +
                                  std::to_string(gradient[r]) + " and " +
                                  std::to_string(hessian[r]) + " at row " + std::to_string(r));
    }
    s.rows_.push_back(static_cast<RowId>(r));
    g_max = std::max(g_max, std::abs(gradient[r]));
    h_max = std::max(h_max, hessian[r]);
  }
  s.fine_exponent_[0] = kSquareBits - exponent_of(g_max);
  s.fine_exponent_[1] = kSquareBits - exponent_of(h_max);
  unsigned __int128 typical = 0;
  for (const double g : gradient) {
    typical += static_cast<std::uint64_t>(
        std::abs(to_units(g, static_cast<int>(bits) - exponent_of(g_max))));
  }
  // A gradient that keeps fewer than bits / 2 bits on average is heavy-tailed: 30 bits then, in two
  // words.
  if (typical != 0 && typical / s.n_rows < (1u << (bits / 2))) bits = kYBits;
  const int g_exponent = static_cast<int>(bits) - 1 - exponent_of(g_max);
  const int h_exponent = static_cast<int>(bits) - exponent_of(h_max);
  s.unit_ = {std::ldexp(1.0, -g_exponent), std::ldexp(1.0, -h_exponent)};
  std::vector<std::vector<std::int64_t>> columns(2, std::vector<std::int64_t>(s.n_rows));
  for (std::size_t r = 0; r < s.n_rows; ++r) {
    columns[0][r] = to_units(gradient[r], g_exponent);
    columns[1][r] =
        hessian[r] > 0 ? std::max<std::int64_t>(1, to_units(hessian[r], h_exponent)) : 0;
  }
  if (counted) {
    columns.emplace_back(s.n_rows, 1);
    s.store_wide(columns);
    s.count_word_ = 2;
  } else {
    s.pack([&](RowId r) { return columns[0][r]; }, [&](RowId r) { return columns[1][r]; });
  }
  s.release_rows();
  return s;
}

void Stats::store_wide(std::span<const std::vector<std::int64_t>> columns) {
  form = RowForm::wide;
  width = columns.size();
  words.resize(n_rows * width);
  for (std::size_t j = 0; j < width; ++j) {
    for (std::size_t r = 0; r < n_rows; ++r) words[r * width + j] = columns[j][r];
  }
}

void Stats::add_row(RowId r, std::int64_t* raw) const {
  if (form == RowForm::packed) {
    if (width == 1) {
      with_words([&](auto word) { raw[0] += word(r); });
    } else {
      raw[0] += words[r] >> shift;
      raw[1] += words[r] & ((std::int64_t{1} << shift) - 1);
    }
  } else if (form == RowForm::wide) {
    for (std::size_t j = 0; j < width; ++j) raw[j] += words[r * width + j];
  } else {
    for (std::size_t m = 0; m < n_outputs; ++m) raw[slots[r * n_outputs + m]] += words[r];
    if (count_word_ >= 0) raw[count_word_] += divides_ ? kCountUnits : 1;
  }
}

void Stats::total(std::int64_t* raw) const {
  std::fill_n(raw, width, 0);
  if (total_) {
    raw[0] = *total_;
  } else if (packed_histogram()) {  // rows that do not count hold 0
    raw[0] = std::accumulate(words.begin(), words.end(), std::int64_t{0});
  } else if (rows_.empty()) {
    for (std::size_t r = 0; r < n_rows; ++r) add_row(static_cast<RowId>(r), raw);
  } else {
    for (const RowId r : rows_) add_row(r, raw);
  }
}

void Stats::decode_wide(const std::int64_t* raw, double* sums) const {
  if (kind == SumKind::newton && n_outputs > 1) {  // each word is a pair
    const std::int64_t mask = (std::int64_t{1} << shift) - 1;
    for (std::size_t m = 0; m < n_outputs; ++m) {
      sums[2 * m] = static_cast<double>(raw[m] >> shift) * unit_[2 * m];
      sums[2 * m + 1] = static_cast<double>(raw[m] & mask) * unit_[2 * m + 1];
    }
  } else if (limbs_ == 1) {
    for (std::size_t j = 0; j < n_sums; ++j) sums[j] = static_cast<double>(raw[j]) * unit_[j];
  } else {
    for (std::size_t m = 0; m < n_outputs; ++m) {
      const __int128 both = (static_cast<__int128>(raw[2 * m]) << kYBits) + raw[2 * m + 1];
      sums[m] = to_double(both) * unit_[m];
    }
    sums[n_outputs] = static_cast<double>(raw[2 * n_outputs]) * unit_[n_outputs];
  }
}

double Stats::weight_of(const double* sums) const {
  double total = 0;
  if (kind == SumKind::newton && n_outputs > 1) {
    for (std::size_t m = 0; m < n_outputs; ++m) total += sums[2 * m + 1];
    return total / static_cast<double>(n_outputs);
  }
  if (kind != SumKind::classes) return sums[n_sums - 1];
  for (std::size_t k = 0; k < n_classes[0]; ++k) total += sums[k];
  return total;
}

double Stats::decode_count(const std::int64_t* raw) const {
  if (count_word_ >= 0)
    return static_cast<double>(raw[count_word_]) /
           static_cast<double>(divides_ ? kCountUnits : std::int64_t{1});
  std::vector<double> sums(n_sums);
  decode(raw, sums.data());
  return weight_of(sums.data());
}

}  // namespace committee
