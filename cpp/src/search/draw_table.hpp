// Where a drawn threshold falls among a feature's bins. Every node draws several, so the largest
// values of the bins are laid out for two steps of sixteen comparisons each, without a branch.
#pragma once

#include "committee/bins/binning.hpp"

namespace committee {

class DrawTable {
 public:
  explicit DrawTable(const BinMapper& mapper);

  /// How many of the feature's gap_low do not exceed t.
  std::uint32_t count(std::size_t feature, double t) const;

 private:
  std::vector<std::size_t> begin_{0};  // of each feature in value_: whole steps, +inf behind
  std::vector<double> value_;
  std::vector<double> first_;  // a step for each feature: the first of each step but the first
};

}  // namespace committee
