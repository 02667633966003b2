// From one column's values to its cuts. Pure functions of the weighted multiset of values: masses
// are integers, so their sums do not depend on the order of rows.
#pragma once

#include "bins/buckets.hpp"
#include "committee/bins/binning.hpp"

namespace committee {

/// Chooses at most max_bins bins of nearly equal mass: one per distinct value where these are few
/// enough. A bin ends where its mass is nearest to (mass left) / (bins left), so a heavy value gets
/// a bin of its own. `all_seen`: the values are all there are, so the gaps around the cuts are
/// known.
FeatureBins equal_mass_bins(const Distinct& distinct, std::size_t max_bins, bool all_seen);

/// Adds mass to a value, which may be new.
void add_mass(Distinct& distinct, double value, std::uint64_t mass);

/// One column after the other: load, then ask. Keeps its memory.
class ColumnCuts {
 public:
  /// value: no NaN, any order, -0.0 counts as 0.0 (and is changed to it); mass: one per value, or
  /// empty for one each.
  void load(std::span<double> value, std::span<const std::uint64_t> mass);

  Distinct distinct();
  bool more_distinct_than(std::size_t n);
  /// Equals equal_mass_bins(distinct(), ...), but sorts only near the cuts.
  FeatureBins equal_mass_bins(std::size_t max_bins, bool all_seen);

 private:
  template <class F>
  auto with_buckets(const F& use);

  enum class Kind : std::uint8_t { narrow, wide, weighted } kind_ = Kind::wide;
  std::vector<float> narrow_;
  std::vector<WeightedValue> weighted_;
  Buckets<float> narrow_buckets_;
  Buckets<double> wide_buckets_;
  Buckets<WeightedValue> weighted_buckets_;
};

/// Integer masses for weights: w times a power of two, so that weight k equals k rows of weight one
/// exactly and all of them add up within 62 bits. Positive weights count one unit at least.
class MassScale {
 public:
  /// weight: one for each row, or empty. Throws std::invalid_argument for a negative, infinite or
  /// NaN weight.
  MassScale(std::span<const double> weight, std::size_t n_rows);

  /// All weights are equal and positive: masses are not needed.
  bool uniform() const { return uniform_; }
  /// Rows of positive weight.
  std::size_t n_counting() const { return n_counting_; }
  std::uint64_t operator()(double weight) const;

 private:
  std::size_t n_counting_;
  int exponent_ = 0;
  bool uniform_ = true;
};

}  // namespace committee
