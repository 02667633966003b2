// What the ranking losses share: checks, groups handed out to threads, and the documents of one
// group laid out for loops over pairs.
#pragma once

#include <vector>

#include "committee/base/det_math.hpp"
#include "committee/boosting/ranking.hpp"

namespace committee {

/// log(1 + x) for x >= 0, without loss where x is small (Kahan's correction of the rounding).
inline double det_log1p(double x) {
  const double u = 1.0 + x;
  const double near = det_log(u) * (x / det_detail::select(u == 1.0, 1.0, u - 1.0));
  return det_detail::select(u == 1.0, x, near);
}

/// 1 / log2(2 + position) for all positions of the largest group.
std::vector<double> discounts(std::span<const std::int64_t> begin);

double gain_of(double relevance, bool linear);

/// Throws std::invalid_argument unless lengths and offsets fit and all numbers are finite.
void check_queries(std::span<const double> score, const Queries& queries);

/// Throws std::invalid_argument where a relevance is negative or beyond what the gain allows, or k
/// is 0.
void check_relevance(std::span<const double> relevance, const Gains& gains);

/// Runs body(group, slot) for each group, several small ones in one task.
void for_groups(std::span<const std::int64_t> begin, const Context& context, TaskRef body);

/// A document's score and row, sorted by falling score; equal scores by row.
struct Placed {
  double score;
  std::uint32_t row;
  bool operator<(const Placed& other) const {
    return score > other.score || (score == other.score && row < other.row);
  }
};

/// Documents of a group, highest relevance first and by place within it: the documents that one is
/// to beat are all those behind its level, one loop without a branch.
struct Documents {
  std::vector<double> score, power, gain, discount;  // power = exp(sigmoid * (score - middle))
  std::vector<double> first, second;                 // sums: lambda and hessian, or the value
  std::vector<std::uint32_t> row, level;
  std::vector<std::uint32_t> level_end;  // by level: where the next, less relevant one begins

  std::size_t size() const { return row.size(); }
  void resize(std::size_t n);
};

/// Lays out one group after another; buffers are kept.
class GroupLayout {
 public:
  GroupLayout(const Gains& gains, double sigmoid, const std::vector<double>& discount)
      : gains_(gains), sigmoid_(sigmoid), discount_(&discount) {}

  /// Fills `all` and, where the group is larger than k, `top`: the documents placed before k.
  void arrange(std::span<const double> score, std::span<const double> relevance);

  Documents all, top;
  std::vector<double> pair_first, pair_second;  // of one document with those it is to beat

  /// Whether powers can stand for exponentials of differences: no overflow, no 0 / 0.
  bool narrow() const { return narrow_; }
  bool all_equal() const { return placed_.front().score == placed_.back().score; }
  bool truncated() const { return placed_.size() > gains_.k; }
  bool is_top(std::uint32_t row) const { return place_[row] < gains_.k; }
  double ideal_dcg() const;

 private:
  void find_levels(std::span<const double> relevance);
  void lay_out(std::size_t n_places, Documents& documents);
  void set_powers(Documents& documents) const;

  Gains gains_;
  double sigmoid_;
  const std::vector<double>* discount_;
  bool narrow_ = true;
  std::vector<Placed> placed_;
  std::vector<double> levels_;  // relevances that occur, highest first
  std::vector<double> level_gain_;
  std::vector<std::uint32_t> code_;  // of each row: its level
  std::vector<std::uint32_t> place_;
};

}  // namespace committee
