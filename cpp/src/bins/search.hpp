// The inner loop of binning: how many cuts lie below x, for many x at once and without a branch.
//
// A guide maps x by a monotone function to a bucket and the bucket to the number of cuts in the
// buckets before it; only the cuts inside the bucket are left to compare, by a binary search of a
// fixed number of steps (one or two for usual columns, at worst what a search without guide takes).
// The guide never decides a comparison: because the map is monotone even after rounding, a cut in
// an earlier bucket is smaller and one in a later bucket is not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace committee {

/// Ascending numbers, prepared for searching. `Real` float is exact for float32 values: each number
/// is rounded down, which leaves every comparison (number < x) as it was.
template <class Real>
class SearchTable {
 public:
  SearchTable() = default;
  /// n_searches: about how many values will be looked up, so that few do not pay for a large guide.
  SearchTable(std::span<const double> ascending, std::size_t n_searches);

  /// out[i] = how many numbers are < x[i]; anything up to all of them for NaN.
  void count_below(const Real* x, std::size_t n, std::uint16_t* out) const;

  const Real* padded() const { return padded_.data(); }  // +inf after the last number

 private:
  // Buckets lie evenly in x, or in its bit pattern: about evenly in log x, for columns of many
  // magnitudes.
  enum class Spacing : std::uint8_t { value, pattern };
  struct Guide {
    Spacing spacing = Spacing::value;
    Real low = 0, scale = 0, top = 0;  // bucket = clamp((x - low) * scale, 0, top)
    int n_steps = 0;                   // of the search inside a bucket
    std::vector<std::uint16_t> below;  // by bucket: numbers in earlier buckets
  };

  Guide make_guide(Spacing spacing, std::size_t n_buckets) const;
  void buckets(const Guide& guide, const Real* x, std::size_t n, std::int32_t* out) const;
  void search(const Real* x, const std::int32_t* bucket, std::size_t n, std::uint16_t* out) const;

  std::size_t size_ = 0;
  std::vector<Real> padded_;
  Guide guide_;
};

}  // namespace committee
