// All cuts of one feature at once, from the bins of a histogram: Newton's gain, two sums in one
// word. Two thirds of the time of a tree on few rows goes here.
#pragma once

#include "committee/types.hpp"

namespace committee {

/// What the cuts of a node have in common.
struct NewtonTerms {
  std::int64_t total;  // the node's word
  unsigned shift;      // gradients lie above, hessians below; both sums are under 2^52
  double unit_gradient, unit_hessian;
  double l2;
  double least;  // hessian that each side has at least; above 0, so that no side is empty
};

struct NewtonCut {
  double gain = -std::numeric_limits<double>::infinity();
  std::uint32_t bin = 0;  // an occupied one: codes up to it go left
};

/// Bins behind which a cut may lie.
struct BinRange {
  std::size_t begin = 0, end = std::numeric_limits<std::size_t>::max();
};

/// The best cut of n_bins bins; of equal ones the lowest. `aside` is what goes left whatever the
/// cut: the word of missing rows, or 0.
NewtonCut best_newton_cut(const std::int64_t* cells, std::size_t n_bins, std::int64_t aside,
                          const NewtonTerms& terms, BinRange among = {});

}  // namespace committee
