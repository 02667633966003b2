// Profiles of the few features drawn at a node, summed from its rows: where a forest looks at a
// small part of the features, whole histograms (and their subtraction) would mostly be thrown away
// (BinnedMatrix::few_drawn).
#pragma once

#include "committee/sums/profile.hpp"

namespace committee {

class DrawnProfiles final : public ProfileSource {
 public:
  DrawnProfiles(const BinnedMatrix& matrix, const Stats& stats);

  /// Profiles are of these rows from now on.
  void focus(std::span<const RowId> rows, const Context& context);
  void expect(std::span<const std::uint32_t> features) const override;
  void read(std::size_t feature, Profile& out) const override;
  const std::int64_t* cells(std::size_t feature) const override;

 private:
  void sum(std::span<const std::uint32_t> features) const;
  void add(std::span<const RowId> rows, std::span<const std::uint32_t> features,
           std::int64_t* cells) const;

  const BinnedMatrix& matrix_;
  const Stats& stats_;
  std::size_t column_;  // words of a feature
  std::span<const RowId> rows_;
  Context context_;
  // Threads may read what is expected at once; one alone asks for more.
  mutable std::vector<std::uint32_t> features_;
  mutable std::vector<std::uint32_t> place_;  // by feature: among those summed, if it is
  mutable std::vector<std::int64_t> cells_;
};

}  // namespace committee
