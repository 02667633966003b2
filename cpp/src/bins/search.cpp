// Buckets are computed by vector instructions; the short searches that remain are scalar, eight
// interleaved, each step a load, a comparison and an addition.
#include "bins/search.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "committee/base/clones.hpp"

namespace committee {
namespace {

constexpr std::size_t kChunk = 512;
constexpr std::size_t kLanes = 8;
constexpr std::size_t kMaxBuckets = 8192;
constexpr std::size_t kBucketsPerNumber = 8;
constexpr std::size_t kSearchesPerBucket = 4;
constexpr int kGoodSteps = 3;  // no second guide is tried

/// The upper 32 bits as a signed integer in the order of the numbers.
inline std::int32_t pattern(float x) {
  const auto bits = std::bit_cast<std::int32_t>(x);
  return bits ^ ((bits >> 31) & 0x7fffffff);
}
inline std::int32_t pattern(double x) {
  const auto bits = static_cast<std::int32_t>(std::bit_cast<std::int64_t>(x) >> 32);
  return bits ^ ((bits >> 31) & 0x7fffffff);
}

/// The largest float <= x, or x itself; never -0.0, whose pattern lies below that of 0.0.
void round_down(double x, double& out) { out = x + 0.0; }
void round_down(double x, float& out) {
  const auto nearest = static_cast<float>(x);
  const std::int32_t down = pattern(nearest) - (static_cast<double>(nearest) > x ? 1 : 0);
  out = std::bit_cast<float>(down ^ ((down >> 31) & 0x7fffffff)) + 0.0F;
}

template <class Real>
inline std::int32_t to_bucket(Real x, Real low, Real scale, Real top) {
  const Real at = (x - low) * scale;
  const Real floored = at > 0 ? at : 0;  // NaN becomes 0
  return static_cast<std::int32_t>(floored < top ? floored : top);
}

template <class Real>
COMMITTEE_CLONES void value_buckets(const Real* x, std::size_t n, Real low, Real scale, Real top,
                                    std::int32_t* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = to_bucket(x[i], low, scale, top);
}

template <class Real>
COMMITTEE_CLONES void pattern_buckets(const Real* x, std::size_t n, Real low, Real scale, Real top,
                                      std::int32_t* out) {
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = to_bucket(static_cast<Real>(pattern(x[i])), low, scale, top);
  }
}

/// Interleaved searches of kSteps steps, or of n_steps where kSteps is 0, that begin at
/// below[bucket].
template <int kSteps, class Real>
void search_lanes(const Real* table, const std::uint16_t* below, const std::int32_t* bucket,
                  const Real* x, int n_steps, std::uint16_t* out) {
  std::uint32_t at[kLanes];
#pragma GCC unroll 8
  for (std::size_t lane = 0; lane < kLanes; ++lane) at[lane] = below[bucket[lane]];
#pragma GCC unroll 8
  for (int step = (kSteps == 0 ? n_steps : kSteps) - 1; step >= 0; --step) {
    const Real* const middle = table + (std::size_t{1} << step) - 1;
#pragma GCC unroll 8
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      // A shifted comparison, because a conditional addition may be compiled into a branch.
      at[lane] += static_cast<std::uint32_t>(middle[at[lane]] < x[lane]) << step;
    }
  }
#pragma GCC unroll 8
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    out[lane] = static_cast<std::uint16_t>(at[lane]);
}

template <int kSteps, class Real>
void search_all(const Real* table, const std::uint16_t* below, const std::int32_t* bucket,
                const Real* x, std::size_t n, int n_steps, std::uint16_t* out) {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    search_lanes<kSteps>(table, below, bucket + i, x + i, n_steps, out + i);
  }
  for (; i < n; ++i) {
    std::uint32_t at = below[bucket[i]];
    for (int step = n_steps - 1; step >= 0; --step) {
      at += static_cast<std::uint32_t>(table[at + (std::size_t{1} << step) - 1] < x[i]) << step;
    }
    out[i] = static_cast<std::uint16_t>(at);
  }
}

}  // namespace

template <class Real>
SearchTable<Real>::SearchTable(std::span<const double> ascending, std::size_t n_searches)
    : size_(ascending.size()) {
  padded_.resize(size_);
  for (std::size_t i = 0; i < size_; ++i) round_down(ascending[i], padded_[i]);
  const std::size_t n_buckets = std::min({kMaxBuckets, kBucketsPerNumber * std::bit_ceil(size_ + 1),
                                          std::bit_ceil(n_searches / kSearchesPerBucket + 1)});
  guide_ = make_guide(Spacing::value, n_buckets);
  if (guide_.n_steps > kGoodSteps) {
    Guide other = make_guide(Spacing::pattern, n_buckets);
    if (other.n_steps < guide_.n_steps) guide_ = std::move(other);
  }
  // A search may look so far past its bucket.
  padded_.resize(size_ + (std::size_t{1} << guide_.n_steps), std::numeric_limits<Real>::infinity());
}

template <class Real>
typename SearchTable<Real>::Guide SearchTable<Real>::make_guide(Spacing spacing,
                                                                std::size_t n_buckets) const {
  Guide guide;
  guide.spacing = spacing;
  guide.below.assign(n_buckets + 1, 0);
  if (size_ == 0) return guide;
  const auto place = [&](Real x) {
    return spacing == Spacing::value ? x : static_cast<Real>(pattern(x));
  };
  const Real low = place(padded_[0]);
  const Real scale = static_cast<Real>(n_buckets) / (place(padded_[size_ - 1]) - low);
  if (std::isfinite(low) && std::isfinite(scale)) {  // else one bucket holds all
    guide.low = low;
    guide.scale = scale;
    guide.top = static_cast<Real>(n_buckets - 1);
  }
  std::vector<std::int32_t> bucket(size_);
  buckets(guide, padded_.data(), size_, bucket.data());
  for (const std::int32_t b : bucket) ++guide.below[static_cast<std::size_t>(b) + 1];
  const std::uint16_t most = *std::max_element(guide.below.begin(), guide.below.end());
  guide.n_steps = std::bit_width(most);
  for (std::size_t b = 1; b <= n_buckets; ++b) {
    guide.below[b] = static_cast<std::uint16_t>(guide.below[b] + guide.below[b - 1]);
  }
  return guide;
}

template <class Real>
void SearchTable<Real>::buckets(const Guide& guide, const Real* x, std::size_t n,
                                std::int32_t* out) const {
  if (guide.spacing == Spacing::value) {
    value_buckets(x, n, guide.low, guide.scale, guide.top, out);
  } else {
    pattern_buckets(x, n, guide.low, guide.scale, guide.top, out);
  }
}

template <class Real>
void SearchTable<Real>::count_below(const Real* x, std::size_t n, std::uint16_t* out) const {
  std::int32_t bucket[kChunk];
  for (std::size_t i = 0; i < n; i += kChunk) {
    const std::size_t n_chunk = std::min(kChunk, n - i);
    buckets(guide_, x + i, n_chunk, bucket);
    search(x + i, bucket, n_chunk, out + i);
  }
}

template <class Real>
void SearchTable<Real>::search(const Real* x, const std::int32_t* bucket, std::size_t n,
                               std::uint16_t* out) const {
  const Real* const table = padded_.data();
  const std::uint16_t* const below = guide_.below.data();
  const int n_steps = guide_.n_steps;
  switch (n_steps) {
    case 0:
      std::fill_n(out, n, std::uint16_t{0});
      return;
    case 1:
      return search_all<1>(table, below, bucket, x, n, n_steps, out);
    case 2:
      return search_all<2>(table, below, bucket, x, n, n_steps, out);
    case 3:
      return search_all<3>(table, below, bucket, x, n, n_steps, out);
    case 4:
      return search_all<4>(table, below, bucket, x, n, n_steps, out);
    case 5:
      return search_all<5>(table, below, bucket, x, n, n_steps, out);
    case 6:
      return search_all<6>(table, below, bucket, x, n, n_steps, out);
    case 7:
      return search_all<7>(table, below, bucket, x, n, n_steps, out);
    case 8:
      return search_all<8>(table, below, bucket, x, n, n_steps, out);
    default:
      return search_all<0>(table, below, bucket, x, n, n_steps, out);
  }
}

template class SearchTable<double>;
template class SearchTable<float>;

}  // namespace committee
