// All cuts of one feature at once, from the bins of a histogram: Newton's gain, two sums in one
// word. A third of the time of a tree on few rows goes here.
#pragma once

#include <span>

#include "committee/search/criterion.hpp"

namespace committee {

/// What the cuts of a node have in common. Sums are in units, which are powers of two, so that the
/// best cut is the same and its score is exact once they are put back.
class NewtonTerms {
 public:
  /// total: the node's word, gradients above `shift`, hessians below; both sums are under 2^52.
  /// least: hessian that each side has at least; above 0, so that no side is empty.
  NewtonTerms(std::int64_t total, unsigned shift, double unit_gradient, double unit_hessian,
              double l2, double least);
  /// Multiply a gain in units by this.
  double unit() const { return unit_; }

 private:
  friend struct NewtonScan;
  unsigned shift_;
  pair::NewtonSides sides_;
  double reach_;  // of hessians from the middle, within which both sides have enough
  double unit_;   // of gains
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
/// cut: the word of missing rows, or 0. Where none gains `floor`, any or none is returned.
NewtonCut best_newton_cut(const std::int64_t* cells, std::size_t n_bins, std::int64_t aside,
                          const NewtonTerms& terms, BinRange among = {},
                          double floor = -std::numeric_limits<double>::infinity());

/// A feature's words, in the order of its bins.
struct NewtonWords {
  const std::int64_t* words;
  std::size_t n;
};
struct NewtonChoice {
  NewtonCut cut;
  std::size_t which;  // of the features; their number where none gains more than the floor
};

/// The best cut of several features, of equal ones that of the first, then the lowest; that is
/// best_newton_cut of one after the other, each with the gain of the best before as floor.
NewtonChoice best_newton_of(std::span<const NewtonWords> features, const NewtonTerms& terms,
                            double floor);

/// Adds to gain[b] what the cut behind bin b gains, in units; nothing where a side would have too
/// little hessian.
void add_newton_gains(const std::int64_t* cells, std::size_t n_bins, std::int64_t aside,
                      const NewtonTerms& terms, double* gain);

/// The best of n cuts, of each of which all that goes left is known; the first of equal ones. Here
/// `bin` is its number.
NewtonCut best_newton_word(const std::int64_t* left, std::size_t n, const NewtonTerms& terms);

/// What each of n such cuts gains; minus infinity where a side would have too little hessian.
void newton_gains(const std::int64_t* left, std::size_t n, const NewtonTerms& terms, double* gain);

}  // namespace committee
