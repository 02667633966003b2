// C4.5's choice among the best splits of all features.
#include <algorithm>

#include "search/feature_search.hpp"

namespace committee {

/// C4.5: the best gain ratio among the features whose gain is at least the average of all with a
/// positive gain, so that a tiny split entropy alone cannot win (Quinlan 1993, section 2.2).
Candidate SplitSearch::best_ratio(const NodeSums& node, const ProfileSource& profiles,
                                  double parent, std::vector<Candidate>& all,
                                  Scratch& scratch) const {
  double sum = 0;
  std::size_t n_positive = 0;
  for (Candidate& c : all) {
    c.charge = charge_of(node, profiles, c, scratch);
    if (c.boundary.gain <= c.charge) continue;
    sum += c.boundary.gain - c.charge;
    ++n_positive;
  }
  const double average = n_positive > 0 ? sum / static_cast<double>(n_positive) : -infinity();
  Candidate best;
  Split split;
  for (Candidate& c : all) {
    const double gain = c.boundary.gain - c.charge;
    if (gain < average * (1 - 1e-9) || (params_.charged_cuts && gain <= 0)) continue;
    if (c.multiway) {
      c.quality = c.split_entropy > 0 ? gain / c.split_entropy : 0.0;
      if (c.better_than(best)) best = c;
      continue;
    }
    materialise(node, profiles, c, scratch, split);
    std::vector<double> left(shape_.n_sums), right(shape_.n_sums);
    stats_.decode(split.left.data(), left.data());
    stats_.decode(split.right.data(), right.data());
    const double l = stats_.weight_of(left.data()), r = stats_.weight_of(right.data());
    if (params_.in_parts) {  // C4.5 counts the missing rows as a branch of their own
      const double all = node_weight(node), rest = std::max(0.0, all - l - r);
      const double entropy = x_log_x(all) - x_log_x(l) - x_log_x(r) - x_log_x(rest);
      c.quality = entropy > 0 ? gain / entropy : 0.0;
    } else {
      c.quality = normalised(Criterion::gain_ratio, gain, parent, l, r);
    }
    if (c.better_than(best)) best = c;
  }
  return best;
}

/// C4.5 Release 8: to name one of the k cuts of a numeric feature takes log k, which its gain must
/// pay, since the best of many cuts looks good by chance (Quinlan 1996, "Improved use of continuous
/// attributes in C4.5"). In the units of gains, a row weighs what rows of the node do on average.
double SplitSearch::charge_of(const NodeSums& node, const ProfileSource& profiles,
                              const Candidate& c, Scratch& scratch) const {
  if (!params_.charged_cuts || params_.rule == SplitRule::random) return 0;
  if (mapper_.feature(c.feature).categorical) return 0;
  profiles.read(c.feature, scratch.profile);
  if (scratch.profile.n < 3) return 0;
  const double cuts = static_cast<double>(scratch.profile.n - 1);
  const double rows = static_cast<double>(std::max<std::size_t>(1, node.rows));
  return x_log_x(cuts) / cuts * (node_weight(node) / rows);
}

}  // namespace committee
