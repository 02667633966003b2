// Cuts of a sparse input: the absent zeros take part with the mass the stored entries leave over,
// so a sparse input gets the bins of the dense one without being spelled out.
#include <algorithm>

#include "bins/columns.hpp"
#include "bins/fit_cuts.hpp"

namespace committee {
namespace {
constexpr std::size_t kEntriesPerRange = std::size_t{1} << 20;
constexpr std::size_t kRangesPerThread = 4;
}  // namespace

void CutFit::run_sparse() {
  const auto n_threads = static_cast<std::size_t>(std::max(1, context_.n_threads));
  const std::vector<std::uint64_t> count = entries_per_feature(input_);
  std::size_t n_entries = 0;
  for (const std::uint64_t n : count) n_entries += n;
  const std::size_t n_ranges = std::clamp<std::size_t>(
      std::max(n_threads, n_entries / kEntriesPerRange), 1, n_threads * kRangesPerThread);
  const std::vector<std::size_t> bounds = balanced_ranges(count, n_ranges);
  std::vector<SparseColumns> columns(n_threads);
  std::vector<FitWorkspace> work(n_threads);
  parallel_for(bounds.size() - 1, context_, [&](std::size_t task, int slot) {
    const auto s = static_cast<std::size_t>(slot);
    columns[s].load(input_, count, bounds[task], bounds[task + 1]);
    for (std::size_t f = bounds[task]; f < bounds[task + 1]; ++f) {
      if (!numeric(f)) continue;
      const SparseColumn column = columns[s].column(f);
      fit_sparse_column(f, column.value, column.row, work[s]);
    }
  });
}

void CutFit::fit_sparse_column(std::size_t feature, std::span<const double> value,
                               std::span<const RowId> row, FitWorkspace& work) {
  work.value.clear();
  work.mass.clear();
  std::uint64_t stored_mass = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (!sample_.contains(row[i])) continue;
    const std::uint64_t mass = sampled_mass(sample_.position(row[i]));
    stored_mass += mass;
    if (mass == 0 || value[i] != value[i]) continue;
    work.value.push_back(value[i]);
    if (!sample_mass_.empty()) work.mass.push_back(mass);
  }
  work.cuts.load(work.value, work.mass);
  Distinct distinct = work.cuts.distinct();
  if (total_mass_ > stored_mass) add_mass(distinct, 0.0, total_mass_ - stored_mass);
  if (sample_.every_content() || distinct.value.size() > params_.max_bins) {
    features_[feature] = equal_mass_bins(distinct, params_.max_bins, sample_.every_content());
  } else {
    settle_sparse({feature, std::move(distinct)}, value, row);
  }
}

void CutFit::settle_sparse(const Open& open, std::span<const double> value,
                           std::span<const RowId> row) {
  ExactValues values(open.sampled.value, params_.max_bins);
  std::uint64_t n_stored = value.size();
  if (weight_.empty()) {
    values.add(value.data(), value.size());
  } else {
    n_stored = 0;
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (weight_[row[i]] == 0.0) continue;
      ++n_stored;
      values.add(&value[i], 1);
    }
  }
  const double zero = 0.0;
  if (n_stored < scale_.n_counting()) values.add(&zero, 1);
  settle(open, values.take());
}

}  // namespace committee
