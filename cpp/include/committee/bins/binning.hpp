// Binning: each feature's values become small integers, so that everything after works on bytes.
//
// Numeric features are cut at quantiles of a bottom-k hashed row sample (order-free: the k contents
// of rows with the smallest hash of (seed, content)), or between all distinct values where these
// are few enough. Bin b holds the values x with cut[b-1] < x <= cut[b]; the last
// bin has no upper cut. A categorical feature's bin is its level code. Code n_bins(f) means
// missing.
#pragma once

#include <memory>

#include "committee/base/parallel.hpp"
#include "committee/base/types.hpp"
#include "committee/bins/input.hpp"
#include "committee/bins/matrix.hpp"

namespace committee {

inline constexpr std::size_t kCutSample =
    262144;  // rank error of a cut: sigma <= 0.1 %, a bin is 0.39 %

/// One feature's bins.
struct FeatureBins {
  std::vector<double> cuts;  // ascending, n_bins - 1 of them; empty for categorical features
  // The gap a cut lies in: gap_low[b] is the largest value seen in bin b, gap_high[b] the smallest
  // in bin b + 1, so gap_low[b] <= cuts[b] < gap_high[b]. Where the sample did not see every row
  // both equal cuts[b].
  std::vector<double> gap_low, gap_high;
  std::uint32_t n_bins = 1;  // without the missing code
  bool categorical = false;
  std::uint32_t zero_bin = 0;  // the bin of 0.0: sparse matrices leave it out
};

struct BinningParams {
  std::size_t max_bins = 255;  // in [2, 65535]
  std::uint64_t seed = 0;
  std::vector<std::uint32_t>
      n_levels;  // per feature: levels of a categorical feature, 0 for numeric
};

class BinMapper {
 public:
  explicit BinMapper(std::vector<FeatureBins> features);

  /// weight: empty (all one) or n_rows values >= 0; rows of weight zero do not count. All features
  /// at once, in parallel over features. Cost: a sort of the sample per feature (long columns only
  /// near their cuts), one pass more for a feature whose sample has at most max_bins distinct
  /// values while rows lie outside the sample, and a hash of every value beyond kCutSample rows.
  static BinMapper fit(const Input& input, std::span<const double> weight,
                       const BinningParams& params, const Context& context);

  /// Bins every row; the result is dense for dense input and sparse for sparse input, 8-bit where
  /// every feature has at most 255 bins. Values of a categorical feature that are no level code
  /// become missing.
  BinnedMatrix transform(const Input& input, const Context& context) const;

  std::size_t n_features() const { return features_.size(); }
  const FeatureBins& feature(std::size_t f) const { return features_[f]; }

 private:
  std::vector<FeatureBins> features_;
};

/// The bin of one value (the plain definition; the vectorised kernels equal it).
std::uint32_t bin_of(const FeatureBins& feature, double x);

/// A cut between a < b that keeps them apart: a/2 + b/2, or a where that would round up to b.
double cut_between(double a, double b);

}  // namespace committee
