// The split search of trees that several outputs share: every boundary of a profile at once, one
// output after the other, so that the divisions of many boundaries go together.
#include <algorithm>
#include <cmath>

#include "committee/base/clones.hpp"
#include "search/feature_search.hpp"

namespace committee {
namespace {

/// One output's part of the score and of the weight of every boundary.
COMMITTEE_CLONES
void add_output(const double* a, const double* b, std::size_t n, double more_a, double more_b,
                double total_a, double total_b, double least, double l2, double* score,
                double* weight) {
  for (std::size_t i = 0; i < n; ++i) {
    const double g = a[i] + more_a, h = b[i] + more_b;
    const double g_rest = total_a - g, h_rest = total_b - h;
    const double left = (h > least ? h : least) + l2;
    const double right = (h_rest > least ? h_rest : least) + l2;
    score[i] += (left > 0 ? g * g / left : 0.0) + (right > 0 ? g_rest * g_rest / right : 0.0);
    weight[i] += h;
  }
}

}  // namespace

/// Gradient and hessian left of each boundary, one output after the other.
void FeatureSearch::add_up_vectors(Scratch& scratch, const std::uint32_t* order,
                                   std::size_t end) const {
  const Stats& stats = s.stats_;
  const std::size_t k = stats.n_outputs;
  scratch.vectors.a.resize(std::max(scratch.vectors.a.size(), k * end));
  scratch.vectors.b.resize(std::max(scratch.vectors.b.size(), k * end));
  const std::int64_t* raw = scratch.profile.raw.data();
  const std::int64_t mask = (std::int64_t{1} << stats.shift) - 1;
  for (std::size_t m = 0; m < k; ++m) {
    const double unit_a = stats.unit(2 * m), unit_b = stats.unit(2 * m + 1);
    double *a = scratch.vectors.a.data() + m * end, *b = scratch.vectors.b.data() + m * end;
    std::int64_t left = 0;
    for (std::size_t i = 0; i < end; ++i) {
      left += raw[(order ? order[i] : i) * k + m];
      a[i] = static_cast<double>(left >> stats.shift) * unit_a;
      b[i] = static_cast<double>(left & mask) * unit_b;
    }
  }
}

/// The best boundary, missing rows right, then left. Ties as in `best_of`.
void FeatureSearch::scan_vectors(Scratch& scratch, const std::uint32_t* order, std::size_t end,
                                 const Limits& limits, Boundary& best) const {
  const Stats& stats = s.stats_;
  const Profile& profile = scratch.profile;
  const std::size_t k = stats.n_outputs;
  add_up_vectors(scratch, order, end);
  std::vector<double>&total = scratch.left, &missing = scratch.right;
  total.resize(stats.n_sums);
  missing.assign(stats.n_sums, 0.0);
  stats.decode(node.raw.data(), total.data());
  const double all = stats.weight_of(total.data());
  const double least = std::max(limits.min_weight, stats.counts_rows() ? limits.min_rows : 0.0);
  for (int side = 0; side <= (profile.has_missing ? 1 : 0); ++side) {
    if (side == 1) stats.decode(profile.missing.data(), missing.data());
    std::size_t n =
        std::min(side == 0 ? end : std::min(end, profile.n - 1), limits.among[side].end);
    std::size_t begin = std::min(n, limits.among[side].begin);
    scratch.vectors.score.assign(end, 0.0);
    scratch.vectors.weight.assign(end, 0.0);
    for (std::size_t m = 0; m < k; ++m) {
      add_output(scratch.vectors.a.data() + m * end, scratch.vectors.b.data() + m * end, n,
                 missing[2 * m], missing[2 * m + 1], total[2 * m], total[2 * m + 1], s.shape_.least,
                 s.shape_.l2, scratch.vectors.score.data(), scratch.vectors.weight.data());
    }
    const auto weight = [&](std::size_t i) {
      return scratch.vectors.weight[i] / static_cast<double>(k);
    };
    while (begin < n && weight(begin) < least) ++begin;
    while (n > begin && all - weight(n - 1) < least) --n;
    const auto first = scratch.vectors.score.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto top = std::max_element(first, first + static_cast<std::ptrdiff_t>(n - begin));
    if (begin == n || !std::isfinite(*top)) continue;
    const auto at = static_cast<std::size_t>(top - scratch.vectors.score.begin());
    const double gain = *top - parent;
    if (best.found && (gain < best.score || (gain == best.score && at >= best.index))) continue;
    best = {gain, gain, at, side == 1, true};
  }
}

}  // namespace committee
