#include "growth/few_rows.hpp"

#include <bit>
#include <utility>

namespace committee {
namespace {

/// Of the feature of an entry, on average: sums visit all bins of a feature, blocks its entries.
constexpr double kFewBins = 16;

}  // namespace

SparseSums::SparseSums(const BinnedMatrix& matrix, const Stats& stats)
    : matrix_(matrix),
      stats_(stats),
      sums_(matrix.histogram_size(), 0),
      occurs_((matrix.n_features + 63) / 64, 0) {}

void SparseSums::load(std::span<const RowId> rows, std::span<const std::int64_t> totals) {
  const std::uint64_t* const offset = matrix_.column_offset.data();
  for (const std::uint32_t f : features_)
    std::fill(sums_.data() + offset[f], sums_.data() + offset[f + 1], 0);
  accumulate(matrix_, stats_, rows, sums_);
  for (const RowId row : rows) {
    for (std::size_t e = matrix_.row_begin[row]; e < matrix_.row_begin[row + 1]; ++e) {
      const std::uint32_t f = matrix_.entry_feature[e];
      occurs_[f / 64] |= std::uint64_t{1} << (f % 64);
    }
  }
  features_.clear();
  for (std::size_t k = 0; k < occurs_.size(); ++k) {
    for (std::uint64_t bits = std::exchange(occurs_[k], 0); bits != 0; bits &= bits - 1)
      features_.push_back(static_cast<std::uint32_t>(64 * k) +
                          static_cast<std::uint32_t>(std::countr_zero(bits)));
  }
  for (const std::uint32_t f : features_) fill_zero_bin(matrix_, totals, f, sums_);
}

void SparseSums::read(std::size_t feature, Profile& out) const {
  read_cells(cells(feature), matrix_.n_bins[feature], 1, out);
}

FewRows::FewRows(const BinnedMatrix& matrix, const Stats& stats, bool all_features, bool by_row)
    : block_(matrix, stats, by_row) {
  const bool few_bins = matrix.bins_per_entry > 0 && matrix.bins_per_entry <= kFewBins;
  const bool together = all_features || stats.kind == SumKind::newton;
  if (few_bins && stats.packed_histogram() && together) sums_.emplace(matrix, stats);
}

const ProfileSource& FewRows::load(std::span<const RowId> rows,
                                   std::span<const std::int64_t> totals) {
  if (sums_) {
    sums_->load(rows, totals);
    return *sums_;
  }
  block_.load(rows);
  return block_;
}

}  // namespace committee
