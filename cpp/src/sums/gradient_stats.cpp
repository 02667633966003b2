// Statistics of Newton boosting, made anew for every tree: gradient and hessian share one word.
//
// Fields are sized by sums, not by the largest row: a unit of gradient is so small that the sum of
// all |gradients| just fits its field. With a million rows that leaves eleven bits to the typical
// row, and an outlier is merely a large number, so heavy tails need no other path. What rounding
// adds to a sum is far below what sampling the rows has put there; leaves get sums of their own
// (fine_sums.cpp).
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>

#include "base/large_pages.hpp"
#include "committee/base/clones.hpp"
#include "committee/bins/matrix.hpp"
#include "committee/sums/stats.hpp"
#include "sums/units.hpp"

namespace committee {
namespace {

constexpr std::size_t kChunkRows = 16384;
constexpr int kHessianBits = 32;
constexpr int kNarrowBits = 15;  // of the largest number, where the typical one keeps
constexpr int kTypical = 10;     // so many bits, and rows are kNarrowRows at least
constexpr int kMostBits = 50;    // float64 holds the sums exactly, and one row rounds as below
constexpr int kProbeBits = 30;   // of the largest number, to learn the sum

/// The largest |x|, as bits: those of sizes are ordered as sizes are, and above them NaN. The
/// largest integer takes a vector at a time, where the largest number would not: NaN has an order.
COMMITTEE_CLONES
std::uint32_t largest(const float* x, std::size_t n) {
  std::uint32_t most = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t size = std::bit_cast<std::uint32_t>(x[i]) & 0x7fffffffU;
    most = size > most ? size : most;
  }
  return most;
}

COMMITTEE_CLONES
std::int64_t sum_sizes(const float* x, std::size_t n, double scale) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += nearest(std::abs(static_cast<double>(x[i])) * scale);
  return sum;
}

/// From -1/2 to 1/2, another for each row: multiples of an irrational number are spread evenly.
/// Rounding after adding it errs by nothing on average, where rounding to the nearest would err
/// alike for all rows of a leaf, which have the same gradient.
inline double dither(std::uint32_t row, std::uint32_t step) {
  return static_cast<double>(static_cast<std::int32_t>(row * step)) * 0x1p-32;
}
constexpr std::uint32_t kGolden = 0x9e3779b9U, kSilver = 0x6a09e667U;

/// What words sum to, and how many of them add nothing.
struct Written {
  std::int64_t sum = 0;
  std::size_t n_idle = 0;
  Written& operator+=(const Written& other) {
    sum += other.sum;
    n_idle += other.n_idle;
    return *this;
  }
};

/// words[i] = gradient << shift | hessian. A positive hessian has one unit at least: a side of
/// nothing but flat rows would otherwise weigh nothing.
COMMITTEE_CLONES
Written write_words(const float* g, const float* h, std::uint32_t first, std::size_t n,
                    double g_scale, double h_scale, unsigned shift, std::int64_t* words) {
  std::int64_t sum = 0, n_idle = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t row = first + static_cast<std::uint32_t>(i);
    const auto a = static_cast<std::uint64_t>(
        nearest(static_cast<double>(g[i]) * g_scale + dither(row, kGolden)));
    const std::int64_t b = nearest(static_cast<double>(h[i]) * h_scale + dither(row, kSilver));
    const std::int64_t least = h[i] > 0 ? 1 : 0;
    words[i] = static_cast<std::int64_t>(a << shift) + (b > least ? b : least);
    sum += words[i];
    n_idle += words[i] == 0 ? 1 : 0;
  }
  return {sum, static_cast<std::size_t>(n_idle)};
}

/// The same where every hessian is one.
COMMITTEE_CLONES
Written write_ones(const float* g, std::uint32_t first, std::size_t n, double g_scale,
                   unsigned shift, std::int64_t* words) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t row = first + static_cast<std::uint32_t>(i);
    const auto a = static_cast<std::uint64_t>(
        nearest(static_cast<double>(g[i]) * g_scale + dither(row, kGolden)));
    words[i] = static_cast<std::int64_t>(a << shift) + 1;
    sum += words[i];
  }
  return {sum, 0};
}

/// Gradient and hessian of narrow words, 16 bits each, behind the bins of their rows; a few words
/// are made at a time.
template <class Write>
Written write_beside(std::size_t first, std::size_t n, unsigned shift, const StatRoom& room,
                     Write write) {
  std::array<std::int64_t, 1024> words;
  const std::int64_t mask = (std::int64_t{1} << shift) - 1;
  std::uint8_t* to = room.first + first * room.stride;
  Written all;
  for (std::size_t begin = 0; begin < n; begin += words.size()) {
    const std::size_t some = std::min(words.size(), n - begin);
    all += write(first + begin, some, words.data());
    for (std::size_t i = 0; i < some; ++i, to += room.stride) {
      const auto g = static_cast<std::uint32_t>(words[i] >> shift) << 16;
      const std::uint32_t both = g | static_cast<std::uint32_t>(words[i] & mask);
      std::memcpy(to, &both, sizeof(both));
    }
  }
  return all;
}

/// Chunks of all rows on all threads; body(first row, rows) -> a number of each chunk.
template <class T, class Body>
std::vector<T> over_chunks(std::size_t n, const Context& context, Body body) {
  std::vector<T> parts((n + kChunkRows - 1) / kChunkRows);
  parallel_for(parts.size(), context, [&](std::size_t k, int) {
    parts[k] = body(k * kChunkRows, std::min(kChunkRows, n - k * kChunkRows));
  });
  return parts;
}

[[noreturn]] void refuse(std::span<const float> x, const char* what) {
  for (std::size_t r = 0; r < x.size(); ++r) {
    if (std::isfinite(x[r])) continue;
    throw std::invalid_argument(std::string(what) + " must be finite, got " + std::to_string(x[r]) +
                                " at row " + std::to_string(r));
  }
  throw std::invalid_argument(std::string(what) + " must be finite");
}

float largest_of(std::span<const float> x, const char* what, const Context& context) {
  std::uint32_t most = 0;
  for (const std::uint32_t part : over_chunks<std::uint32_t>(
           x.size(), context,
           [&](std::size_t first, auto n) { return largest(x.data() + first, n); })) {
    most = std::max(most, part);
  }
  const auto size = std::bit_cast<float>(most);
  if (!std::isfinite(size)) refuse(x, what);
  return size;
}

/// e such that the sum of all |x| 2^e stays below 2^(bits - 1): rounding, and the one unit that
/// hessians have at least, may then add one for each row.
int exponent_for(std::span<const float> x, float most, int bits, const Context& context) {
  if (most == 0) return 0;
  const int probe = kProbeBits - exponent_of(most);
  unsigned __int128 sum = x.size();
  for (const std::int64_t part :
       over_chunks<std::int64_t>(x.size(), context, [&](std::size_t first, auto n) {
         return sum_sizes(x.data() + first, n, std::ldexp(1.0, probe));
       })) {
    sum += static_cast<std::uint64_t>(part);
  }
  const int fits = probe + bits - 1 - bits_of(sum);
  const int each = kMostBits - exponent_of(most), narrow = kNarrowBits - exponent_of(most);
  const int typical = bits_of(sum / x.size()) - probe + narrow;  // bits of the mean, if narrow
  return std::min(fits, typical >= kTypical && x.size() >= kNarrowRows ? narrow : each);
}

}  // namespace

Stats Stats::gradients(std::span<const float> gradient, std::span<const float> hessian,
                       const Context& context, std::vector<std::int64_t> words, StatRoom room) {
  Stats s;
  s.words = std::move(words);
  s.kind = SumKind::newton;
  s.n_rows = gradient.size();
  s.gradient32 = gradient;
  s.hessian32 = hessian;
  s.form = RowForm::packed;  // one word for two sums
  s.block_rows = s.n_rows;
  s.small_sums_ = true;
  const bool ones = hessian.empty();
  s.unit_weight_ = ones;  // hessians count the rows
  if (!ones && hessian.size() != gradient.size())
    throw std::invalid_argument("gradient and hessian differ in length");
  s.shift = static_cast<unsigned>(ones ? bits_of(s.n_rows) : kHessianBits);
  const float g_most = largest_of(gradient, "gradients", context);
  const float h_most = ones ? 1.0F : largest_of(hessian, "hessians", context);
  const int g_bits = std::min(63 - static_cast<int>(s.shift), kMostBits);
  const int g_exponent = exponent_for(gradient, g_most, g_bits, context);
  const int h_exponent = ones ? 0 : exponent_for(hessian, h_most, kHessianBits, context);
  s.unit_ = {std::ldexp(1.0, -g_exponent), std::ldexp(1.0, -h_exponent)};
  s.fine_exponent_[0] = kSquareBits - exponent_of(g_most);
  s.fine_exponent_[1] = kSquareBits - exponent_of(h_most);
  s.most_hessian_ = h_most + s.unit_[1];
  s.square_unit_ = s.unit_[0] * s.unit_[0];
  s.square_most_ = std::pow(static_cast<double>(g_most), 2);
  const bool narrow = g_exponent <= kNarrowBits - exponent_of(g_most) &&
                      h_exponent <= kNarrowBits + 1 - exponent_of(h_most);
  if (narrow) s.beside = room;
  if (!s.beside_bins()) resize_on_large_pages(s.words, s.n_rows);
  const double g_scale = std::ldexp(1.0, g_exponent), h_scale = std::ldexp(1.0, h_exponent);
  const auto write = [&](std::size_t first, std::size_t n, std::int64_t* words) {
    const auto row = static_cast<std::uint32_t>(first);
    const float *g = gradient.data() + first, *h = ones ? nullptr : hessian.data() + first;
    return ones ? write_ones(g, row, n, g_scale, s.shift, words)
                : write_words(g, h, row, n, g_scale, h_scale, s.shift, words);
  };
  Written all;
  for (const Written& part : over_chunks<Written>(s.n_rows, context, [&](auto first, auto n) {
         return s.beside_bins() ? write_beside(first, n, s.shift, s.beside, write)
                                : write(first, n, s.words.data() + first);
       })) {
    all += part;
  }
  s.total_ = all.sum;
  if (all.n_idle > 0) s.leave_out_idle();
  return s;
}

void Stats::leave_out_idle() {
  const auto keep_if = [&](auto adds) {
    rows_.resize(n_rows);
    std::size_t n = 0;
    for (std::size_t r = 0; r < n_rows; ++r) {
      rows_[n] = static_cast<RowId>(r);
      n += adds(r) ? 1 : 0;
    }
    rows_.resize(n);  // none, where all are idle: then all count
    release_rows();
  };
  if (form == RowForm::packed)
    return with_words([&](auto word) { keep_if([&](std::size_t r) { return word(r) != 0; }); });
  keep_if([&](std::size_t r) {
    const auto* const first = words.data() + r * width;
    return std::any_of(first, first + width, [](std::int64_t word) { return word != 0; });
  });
}

double Stats::gain_noise(double rows, double weight) const {
  // A sum of n roundings has the square n / 12, so that the best of thousands of cuts stays below
  // n squares of the unit; one more factor keeps away from it.
  constexpr double kFactor = 16, kLastBit = 0x1p-104;
  const double random = rows * square_unit_, alike = rows * rows * square_most_ * kLastBit;
  return weight > 0 ? kFactor * (random + alike) / weight : 0.0;
}

void Stats::restrict_to(std::vector<RowId> rows) {
  if (rows.size() == n_rows) return;
  if (rows.empty()) throw std::invalid_argument("no row is left");
  if (!rows_.empty()) {
    std::vector<RowId> both;
    std::set_intersection(rows.begin(), rows.end(), rows_.begin(), rows_.end(),
                          std::back_inserter(both));
    if (!both.empty()) rows = std::move(both);
  }
  if (form == RowForm::wide) {
    rows_ = std::move(rows);
    return;
  }
  std::int64_t total = 0;
  with_words([&](auto word) {
    for (const RowId r : rows) total += word(r);
  });
  rows_ = std::move(rows);
  total_ = total;
}

}  // namespace committee
