// Cuts of a dense input. Features are fitted in groups small enough to keep all threads busy and
// large enough that a cache line of a C-order row is read once for several features; the result
// does not depend on the grouping.
#include "bins/fit_cuts.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "bins/dtype.hpp"

namespace committee {
namespace {

constexpr std::size_t kGroup = 3;  // a thread holds that many sampled columns at once
constexpr std::size_t kRowBlock = 512;

std::string feature_name(std::size_t f) { return "feature " + std::to_string(f); }

void check_params(const Input& input, std::span<const double> weight, const BinningParams& params) {
  if (params.max_bins < 2 || params.max_bins > kMaxBins16) {
    throw std::invalid_argument("max_bins must be in [2, 65535], got " +
                                std::to_string(params.max_bins));
  }
  if (!weight.empty() && weight.size() != input.n_rows) {
    throw std::invalid_argument(
        "weight must hold one value per row: " + std::to_string(weight.size()) + " values for " +
        std::to_string(input.n_rows) + " rows");
  }
  if (!params.n_levels.empty() && params.n_levels.size() != input.n_features) {
    throw std::invalid_argument("n_levels must hold one number per feature");
  }
  for (std::size_t f = 0; f < params.n_levels.size(); ++f) {
    if (params.n_levels[f] > kMaxBins16) {
      throw std::invalid_argument(feature_name(f) + " has " + std::to_string(params.n_levels[f]) +
                                  " levels; a categorical feature has at most 65535");
    }
  }
}

FeatureBins categorical_bins(std::uint32_t n_levels) {
  FeatureBins bins;
  bins.n_bins = n_levels;
  bins.categorical = true;
  return bins;
}

const Input& checked(const Input& input, std::span<const double> weight,
                     const BinningParams& params) {
  check_input(input);
  check_params(input, weight, params);
  return input;
}

}  // namespace

CutFit::CutFit(const Input& input, std::span<const double> weight, const BinningParams& params,
               const Context& context)
    : input_(checked(input, weight, params)),
      weight_(weight),
      params_(params),
      context_(context),
      scale_(weight, input.n_rows),
      sample_(input, weight, scale_, kCutSample, params.seed, context),
      sample_mass_(sample_.mass().begin(), sample_.mass().end()),
      features_(input.n_features) {
  if (scale_.uniform()) weight_ = {};
  if (sample_.every_row() && !weight_.empty()) {
    sample_mass_.resize(weight_.size());
    std::transform(weight_.begin(), weight_.end(), sample_mass_.begin(), scale_);
  }
  total_mass_ = sample_mass_.empty()
                    ? sample_.size()
                    : std::accumulate(sample_mass_.begin(), sample_mass_.end(), std::uint64_t{0});
}

std::vector<FeatureBins> CutFit::run() {
  for (std::size_t f = 0; f < features_.size(); ++f) {
    if (!numeric(f)) features_[f] = categorical_bins(params_.n_levels[f]);
  }
  if (input_.sparse) {
    run_sparse();
  } else {
    run_dense();
  }
  return std::move(features_);
}

void CutFit::run_dense() {
  const auto n_threads = static_cast<std::size_t>(std::max(1, context_.n_threads));
  const std::size_t group = std::clamp<std::size_t>(features_.size() / n_threads, 1, kGroup);
  const std::size_t n_groups = (features_.size() + group - 1) / group;
  std::vector<FitWorkspace> work(n_threads);
  std::vector<std::vector<Open>> open(n_groups);
  parallel_for(n_groups, context_, [&](std::size_t task, int slot) {
    const auto s = static_cast<std::size_t>(slot);
    const std::size_t end = std::min(features_.size(), (task + 1) * group);
    fit_dense_group(task * group, end, work[s], open[task]);
  });
  parallel_for(n_groups, context_, [&](std::size_t task, int) { settle_dense(open[task]); });
}

void CutFit::fit_dense_group(std::size_t begin, std::size_t end, FitWorkspace& work,
                             std::vector<Open>& open) {
  const std::size_t n = sample_.size();
  const std::size_t stride = n + 24;  // columns a power of two apart would share cache sets
  work.block.resize(stride * (end - begin));
  if (sample_.every_row()) {
    for (std::size_t row = 0; row < n; row += kRowBlock) {
      load_block(input_, row, std::min(kRowBlock, n - row), begin, end - begin,
                 work.block.data() + row, stride);
    }
  } else {
    load_rows(input_, sample_.rows(), begin, end - begin, work.block.data(), stride);
  }
  for (std::size_t f = begin; f < end; ++f) {
    if (!numeric(f)) continue;
    gather(work.block.data() + (f - begin) * stride, work);
    work.cuts.load(work.value, work.mass);
    const bool all_seen = sample_.every_content();
    if (all_seen || work.cuts.more_distinct_than(params_.max_bins)) {
      features_[f] = work.cuts.equal_mass_bins(params_.max_bins, all_seen);
    } else {
      open.push_back({f, work.cuts.distinct()});
    }
  }
}

void CutFit::gather(const double* column, FitWorkspace& work) const {
  const std::size_t n = sample_.size();
  work.value.resize(n);
  work.mass.resize(sample_mass_.size());
  std::size_t kept = 0;
  if (sample_mass_.empty()) {
    for (std::size_t i = 0; i < n; ++i) {
      work.value[kept] = column[i];
      kept += column[i] == column[i] ? 1 : 0;
    }
    work.value.resize(kept);
    return;
  }
  for (std::size_t i = 0; i < n; ++i) {
    work.value[kept] = column[i];
    work.mass[kept] = sample_mass_[i];
    kept += column[i] == column[i] && sample_mass_[i] > 0 ? 1 : 0;
  }
  work.value.resize(kept);
  work.mass.resize(kept);
}

void CutFit::settle(const Open& open, std::vector<double> exact) {
  if (exact.empty()) {
    features_[open.feature] = equal_mass_bins(open.sampled, params_.max_bins, false);
    return;
  }
  const std::vector<std::uint64_t> mass(exact.size(), 1);
  features_[open.feature] = equal_mass_bins({std::move(exact), mass}, params_.max_bins, true);
}

void CutFit::settle_dense(std::span<const Open> open) {
  if (open.empty()) return;
  std::vector<ExactValues> values;
  for (const Open& o : open) values.emplace_back(o.sampled.value, params_.max_bins);
  double x[kRowBlock];
  for (std::size_t row = 0; row < input_.n_rows; row += kRowBlock) {
    const std::size_t end = std::min(input_.n_rows, row + kRowBlock);
    for (std::size_t i = 0; i < open.size(); ++i) {
      load_column(input_, open[i].feature, row, end, x);
      for (std::size_t r = row; r < end && !weight_.empty(); ++r) {
        if (weight_[r] == 0.0) x[r - row] = std::numeric_limits<double>::quiet_NaN();
      }
      values[i].add(x, end - row);
    }
  }
  for (std::size_t i = 0; i < open.size(); ++i) settle(open[i], values[i].take());
}

}  // namespace committee
