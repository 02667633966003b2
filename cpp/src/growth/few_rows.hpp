// Profiles of nodes of few rows, from the rows themselves: of a block, or, where features of sparse
// rows have few bins and all are searched, for Newton's gain also drawn ones, of the sums of those
// that occur.
#pragma once

#include <optional>

#include "committee/growth/block.hpp"

namespace committee {

/// A histogram of few sparse rows. Only features that occur in a row are touched, when sums are
/// made, read and taken away again. Sums of one word only. Serves one thread.
class SparseSums final : public ProfileSource {
 public:
  SparseSums(const BinnedMatrix& matrix, const Stats& stats);

  /// Forgets the rows before. totals: of these rows, one word.
  void load(std::span<const RowId> rows, std::span<const std::int64_t> totals);
  void read(std::size_t feature, Profile& out) const override;
  const std::int64_t* cells(std::size_t feature) const override {
    return sums_.data() + matrix_.column_offset[feature];
  }
  const std::vector<std::uint32_t>* varying() const override { return &features_; }

 private:
  const BinnedMatrix& matrix_;
  const Stats& stats_;
  Histogram sums_;                       // of the features that occur; zeros elsewhere
  std::vector<std::uint64_t> occurs_;    // a bit for each feature; zeros between calls
  std::vector<std::uint32_t> features_;  // that occur, ascending
};

class FewRows {
 public:
  /// all_features: none is drawn node by node.
  FewRows(const BinnedMatrix& matrix, const Stats& stats, bool all_features, bool by_row);

  /// Valid until the next call.
  const ProfileSource& load(std::span<const RowId> rows, std::span<const std::int64_t> totals);
  /// Where it is better to grow a whole subtree inside of it.
  Block* block() { return sums_ ? nullptr : &block_; }

 private:
  Block block_;
  std::optional<SparseSums> sums_;
};

}  // namespace committee
