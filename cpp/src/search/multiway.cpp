// One branch for each level of a categorical feature, as C4.5 splits.
#include <algorithm>
#include <cmath>

#include "search/feature_search.hpp"

namespace committee {

/// C4.5's split of a categorical feature: one branch a level, of which at least two must meet the
/// limits. Missing rows join the heaviest level. The boundary names the level that is taken off
/// first: the lowest.
void FeatureSearch::try_multiway(Scratch& scratch, Candidate& out) const {
  const Profile& profile = scratch.profile;
  const Stats& stats = s.stats_;
  const Limits limit = limits(out.feature);
  std::vector<double> sums(s.shape_.n_sums);
  double score = 0, split_entropy = 0, total = 0;
  std::size_t enough = 0;
  const std::size_t heaviest = heaviest_level(profile);
  std::vector<std::int64_t> cell(stats.width);
  for (std::size_t i = 0; i < profile.n; ++i) {
    std::copy_n(profile.raw.data() + i * stats.width, stats.width, cell.data());
    for (std::size_t j = 0; profile.has_missing && i == heaviest && j < stats.width; ++j)
      cell[j] += profile.missing[j];
    stats.decode(cell.data(), sums.data());
    const double weight = stats.weight_of(sums.data());
    const double rows = limit.min_rows > 0 ? stats.decode_count(cell.data()) : 0;
    enough += weight >= limit.min_weight && rows >= limit.min_rows;
    for (std::size_t m = 0; stats.kind == SumKind::regression && m + 1 < sums.size(); ++m)
      sums[m] -= mean[m] * weight;
    score += node_score(s.params_.criterion, s.shape_, sums.data());
    split_entropy -= x_log_x(weight);
    total += weight;
  }
  split_entropy += x_log_x(total);
  if (!node.chained && (enough < 2 || !std::isfinite(score))) return;
  const double gain = score - parent;
  out.quality = gain;
  if (s.params_.criterion == Criterion::normalized_gain)
    out.quality = 2 * gain / (split_entropy - parent);
  out.split_entropy = split_entropy;
  out.boundary = {out.quality, gain, 0, profile.has_missing && heaviest == 0, true};
  out.multiway = true;
}

std::size_t FeatureSearch::heaviest_level(const Profile& profile) const {
  std::vector<double> sums(s.shape_.n_sums);
  std::size_t heaviest = 0;
  double most = -infinity();
  for (std::size_t i = 0; i < profile.n; ++i) {
    s.stats_.decode(profile.raw.data() + i * s.stats_.width, sums.data());
    const double weight = s.stats_.weight_of(sums.data());
    if (weight > most) heaviest = i;
    most = std::max(most, weight);
  }
  return heaviest;
}

}  // namespace committee
