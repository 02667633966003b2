#include "committee/boosting/gradient_draw.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/large_pages.hpp"
#include "boosting/row_draw.hpp"
#include "committee/base/clones.hpp"

namespace committee {
namespace {

constexpr std::size_t kChunkRows = 16384;
constexpr unsigned kLowBits = 16;
constexpr std::size_t kBuckets = std::size_t{1} << (31 - kLowBits);  // by the upper bits
constexpr std::uint32_t kLowMask = (1U << kLowBits) - 1;

template <class Body>
void over_chunks(std::size_t n, const Context& context, Body body) {
  parallel_for((n + kChunkRows - 1) / kChunkRows, context, [&](std::size_t k, int) {
    body(k, k * kChunkRows, std::min(kChunkRows, n - k * kChunkRows));
  });
}

COMMITTEE_CLONES
void add_squares(const float* g, const float* h, std::size_t n, double lambda, double* square) {
  for (std::size_t i = 0; i < n; ++i) {
    const double a = g[i], b = h == nullptr ? 1.0 : static_cast<double>(h[i]);
    square[i] += a * a + lambda * (b * b);
  }
}

/// A number that is none says that its row must be looked at: the statistics will refuse it.
COMMITTEE_CLONES
void write_scores(double* square, std::size_t n, float* score) {
  for (std::size_t i = 0; i < n; ++i) {
    const auto s = static_cast<float>(std::sqrt(square[i]));
    score[i] = s == s ? s : std::numeric_limits<float>::infinity();
    square[i] = 0;
  }
}

/// (sum |g| / sum h)^2. Chunks are summed one after the other, whoever sums within them.
double leaf_square(std::span<const float> gradient, std::span<const float> hessian,
                   const Context& context) {
  const std::size_t n = gradient.size();
  std::vector<double> g_sum((n + kChunkRows - 1) / kChunkRows), h_sum(g_sum.size());
  over_chunks(n, context, [&](std::size_t k, std::size_t first, std::size_t size) {
    double g = 0, h = hessian.empty() ? static_cast<double>(size) : 0;
    for (std::size_t r = first; r < first + size; ++r) g += std::abs(gradient[r]);
    if (!hessian.empty())
      for (std::size_t r = first; r < first + size; ++r) h += hessian[r];
    g_sum[k] = g;
    h_sum[k] = h;
  });
  double g = 0, h = 0;
  for (std::size_t k = 0; k < g_sum.size(); ++k) {
    g += g_sum[k];
    h += h_sum[k];
  }
  const double leaf = g / h;
  return std::isfinite(leaf) ? leaf * leaf : 0;
}

std::uint32_t bits_of(float score) { return std::bit_cast<std::uint32_t>(score); }
double value_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }

/// What a score differs by when its lowest bit does; the same in all of a bucket.
double unit_of(std::size_t bucket) {
  const int exponent = static_cast<int>(bucket >> (23 - kLowBits));
  return std::ldexp(1.0, std::max(exponent, 1) - 150);
}

/// Rows of a bucket, and the sum of the lower bits of their scores.
struct Bucket {
  std::uint64_t count = 0, low = 0;
};

/// Adds up what each thread counts in an array of its own; integers do not mind the order.
template <class T, class Count, class Add>
std::vector<T> counted(std::size_t n_cells, std::size_t n_rows, const Context& context, Count count,
                       Add add) {
  const std::size_t n_chunks = (n_rows + kChunkRows - 1) / kChunkRows;
  const auto n_parts = std::min(n_chunks, static_cast<std::size_t>(std::max(1, context.n_threads)));
  std::vector<std::vector<T>> parts(n_parts);
  parallel_for(n_parts, context, [&](std::size_t k, int) {
    parts[k].resize(n_cells);
    const std::size_t end = n_rows * (k + 1) / n_parts;
    for (std::size_t r = n_rows * k / n_parts; r < end; ++r) count(parts[k].data(), r);
  });
  for (std::size_t k = 1; k < n_parts; ++k) {
    for (std::size_t i = 0; i < n_cells; ++i) add(parts[0][i], parts[k][i]);
  }
  return std::move(parts[0]);
}

/// Scores so far from above: `above` rows with chance one, and the sum of the scores below.
struct Cut {
  std::uint64_t above;
  double below;
};

/// mu where it is known to lie in the bucket: value by value, from the largest.
double bound_within(std::span<const float> score, std::size_t bucket, const Bucket& all, Cut cut,
                    double wanted, const Context& context) {
  const auto base = static_cast<std::uint32_t>(bucket << kLowBits);
  const auto counts = counted<std::uint32_t>(
      kLowMask + 1, score.size(), context,
      [&](std::uint32_t* to, std::size_t r) {
        const std::uint32_t bits = bits_of(score[r]);
        if (bits >> kLowBits == bucket) ++to[bits & kLowMask];
      },
      [](std::uint32_t& to, std::uint32_t more) { to += more; });
  const double unit = unit_of(bucket);
  const auto first = static_cast<std::uint64_t>(std::llround(value_of(base) / unit));
  std::uint64_t inside = all.count * first + all.low;  // of the smaller ones, in units
  for (std::uint32_t low = kLowMask + 1; low-- > 0;) {
    const std::uint64_t here = counts[low];
    const double value = value_of(base | low);
    if (here == 0 || value == 0) continue;
    inside -= here * (first + low);
    const double smaller = cut.below + static_cast<double>(inside) * unit;
    const std::uint64_t larger = cut.above;
    cut.above += here;
    if (static_cast<double>(cut.above) + smaller / value >= wanted) {
      const double rest = smaller + static_cast<double>(here) * value;
      return rest / (wanted - static_cast<double>(larger));
    }
  }
  return cut.below / (wanted - static_cast<double>(cut.above));
}

}  // namespace

double chance_bound(std::span<const float> score, double wanted, const Context& context) {
  const auto buckets = counted<Bucket>(
      kBuckets, score.size(), context,
      [&](Bucket* to, std::size_t r) {
        const std::uint32_t bits = bits_of(score[r]);
        ++to[bits >> kLowBits].count;
        to[bits >> kLowBits].low += bits & kLowMask;
      },
      [](Bucket& to, const Bucket& more) {
        to.count += more.count;
        to.low += more.low;
      });
  std::vector<double> below(kBuckets);
  double sum = 0;
  for (std::size_t b = 0; b < kBuckets; ++b) {
    below[b] = sum;
    if (buckets[b].count == 0) continue;
    const double edge = value_of(static_cast<std::uint32_t>(b << kLowBits));
    sum += static_cast<double>(buckets[b].count) * edge +
           static_cast<double>(buckets[b].low) * unit_of(b);
  }
  std::uint64_t above = 0;
  for (std::size_t b = kBuckets; b-- > 0;) {
    const double edge = value_of(static_cast<std::uint32_t>(b << kLowBits));
    const std::uint64_t count = buckets[b].count;
    if (b > 0 &&
        (!std::isfinite(edge) || static_cast<double>(above + count) + below[b] / edge < wanted)) {
      above += count;
      continue;
    }
    return bound_within(score, b, buckets[b], {above, below[b]}, wanted, context);
  }
  return 0;
}

GradientDraw::GradientDraw(std::size_t n_rows) : n_rows_(n_rows) {
  resize_on_large_pages(square_, n_rows);
  resize_on_large_pages(score_, n_rows);
}

void GradientDraw::add(std::span<const float> gradient, std::span<const float> hessian,
                       const Context& context) {
  const double lambda = leaf_square(gradient, hessian, context);
  over_chunks(n_rows_, context, [&](std::size_t, std::size_t first, std::size_t n) {
    const float* h = hessian.empty() ? nullptr : hessian.data() + first;
    add_squares(gradient.data() + first, h, n, lambda, square_.data() + first);
  });
}

void GradientDraw::settle(double share, const Context& context) {
  over_chunks(n_rows_, context, [&](std::size_t, std::size_t first, std::size_t n) {
    write_scores(square_.data() + first, n, score_.data() + first);
  });
  mu_ = chance_bound(score_, share * static_cast<double>(n_rows_), context);
}

std::vector<RowId> GradientDraw::rows(std::uint64_t seed, std::size_t number,
                                      std::span<const std::uint64_t> row_key,
                                      const Context& context) const {
  const auto chance_of = [&](std::size_t row) { return chance(row); };
  return draw_rows(draw_key(seed, number), row_key, chance_of, context);
}

void GradientDraw::weigh(std::span<const RowId> rows, std::span<const float> gradient,
                         std::span<const float> hessian, std::span<float> to_gradient,
                         std::span<float> to_hessian, const Context& context) const {
  over_chunks(n_rows_, context, [&](std::size_t, std::size_t first, std::size_t n) {
    std::fill_n(to_gradient.data() + first, n, 0.0F);
    std::fill_n(to_hessian.data() + first, n, 0.0F);
    auto row = std::lower_bound(rows.begin(), rows.end(), static_cast<RowId>(first));
    for (; row != rows.end() && *row < first + n; ++row) {
      const double p = chance(*row);
      const double times = p > 0 ? 1 / p : 1;  // none but the one row of an empty draw
      to_gradient[*row] = static_cast<float>(gradient[*row] * times);
      const double h = hessian.empty() ? 1.0 : static_cast<double>(hessian[*row]);
      to_hessian[*row] = static_cast<float>(h * times);
    }
  });
}

}  // namespace committee
