// The bin mapper: fitting is in fit_cuts.cpp, turning values into codes in transform.cpp.
#include "committee/bins/binning.hpp"

#include <algorithm>
#include <cmath>

#include "bins/fit_cuts.hpp"

namespace committee {
namespace {

void check_bins(const FeatureBins& bins, std::size_t f) {
  const std::string name = "feature " + std::to_string(f);
  if (bins.n_bins > kMaxBins16 || bins.n_bins == 0) {
    throw std::invalid_argument(name + " must have 1 to 65535 bins, got " +
                                std::to_string(bins.n_bins));
  }
  const std::size_t n_cuts = bins.categorical ? 0 : bins.n_bins - 1;
  if (bins.cuts.size() != n_cuts || bins.gap_low.size() != n_cuts ||
      bins.gap_high.size() != n_cuts) {
    throw std::invalid_argument(name + " must have " + std::to_string(n_cuts) + " cuts and gaps");
  }
  for (std::size_t i = 0; i < n_cuts; ++i) {
    if (std::isnan(bins.cuts[i]) || (i > 0 && bins.cuts[i] <= bins.cuts[i - 1])) {
      throw std::invalid_argument(name + " has cuts that do not ascend");
    }
  }
  const std::uint32_t zero_bin = bins.categorical ? 0 : bin_of(bins, 0.0);
  if (bins.zero_bin != zero_bin) throw std::invalid_argument(name + " has a wrong zero bin");
}

}  // namespace

BinMapper::BinMapper(std::vector<FeatureBins> features) : features_(std::move(features)) {
  for (std::size_t f = 0; f < features_.size(); ++f) check_bins(features_[f], f);
}

BinMapper BinMapper::fit(const Input& input, std::span<const double> weight,
                         const BinningParams& params, const Context& context) {
  return BinMapper(CutFit(input, weight, params, context).run());
}

std::uint32_t bin_of(const FeatureBins& feature, double x) {
  if (std::isnan(x)) return feature.n_bins;
  if (feature.categorical) {
    const bool is_level = x >= 0.0 && x < feature.n_bins && x == std::floor(x);
    return is_level ? static_cast<std::uint32_t>(x) : feature.n_bins;
  }
  const auto at = std::lower_bound(feature.cuts.begin(), feature.cuts.end(), x);
  return static_cast<std::uint32_t>(at - feature.cuts.begin());
}

}  // namespace committee
