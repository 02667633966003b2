// Features of two bins, as indicators and words of texts are: each has one cut, so that the cuts of
// many are scored together. Of a text's features this is ten times as fast as one by one.
#include <algorithm>
#include <cmath>

#include "committee/search/node_rows.hpp"
#include "search/feature_search.hpp"
#include "search/newton_scan.hpp"

namespace committee {
namespace {

constexpr std::size_t kTogether = 512;  // cuts, whose words stay in the first cache

}  // namespace

std::vector<bool> SplitSearch::find_two_bins() const {
  std::vector<bool> two_bins(mapper_.n_features(), false);
  bool any = false;
  for (std::size_t f = 0; f < two_bins.size(); ++f) {
    two_bins[f] = free_[f] && mapper_.feature(f).n_bins == 2;
    any = any || two_bins[f];
  }
  return any ? two_bins : std::vector<bool>{};
}

/// A cut is refused here only for its rows: where hessian is too small the scores refuse it.
bool FeatureSearch::parts_rows(std::uint32_t feature) const {
  if (node.counts == nullptr) return true;
  const std::uint32_t* const rows = node.counts->of(feature);
  return std::min(rows[0], rows[1]) >= s.params_.min_rows_leaf;
}

/// Of features whose words go left, which stand at `place`s: those retire that gain nothing.
void FeatureSearch::retire_idle(std::span<const std::int64_t> left, const std::uint32_t* place,
                                std::span<const std::uint32_t> features, Found& found) const {
  double gain[kTogether];
  newton_gains(left.data(), left.size(), *newton, gain);
  for (std::size_t k = 0; k < left.size(); ++k) {
    if (!s.gains(gain[k], noise)) found.retired.push_back(features[place[k]]);
  }
}

bool FeatureSearch::take_two_bins(const ProfileSource& profiles,
                                  std::span<const std::uint32_t> features, std::size_t first,
                                  Scratch& scratch, Found& found) const {
  if (newton == nullptr || s.two_bins_.empty() || features.empty() ||
      profiles.cells(features[0]) == nullptr)
    return false;
  // Two rows are parted by the first feature that varies, whatever its kind (one_scan.cpp).
  if (node.rows == 2 && !s.params_.monotone.empty()) return false;
  scratch.rest.clear();
  std::int64_t left[kTogether];
  std::uint32_t place[kTogether];
  std::size_t n = 0, n_varying = 0;
  const bool retire = !node.retired.empty();
  const auto score = [&] {
    const NewtonCut cut = best_newton_word(left, n, *newton);
    if (retire) retire_idle({left, n}, place, features, found);
    n = 0;
    if (!std::isfinite(cut.gain)) return;
    Candidate candidate;
    candidate.feature = features[place[cut.bin]];
    candidate.turn = first + place[cut.bin];
    candidate.boundary = {cut.gain, cut.gain, 0, false, true};
    candidate.by_bin = true;
    candidate.quality = cut.gain;
    if (candidate.better_than(found.best)) found.best = candidate;
  };
  for (std::uint32_t i = 0; i < features.size(); ++i) {
    const std::uint32_t f = features[i];
    const std::int64_t* const cells = profiles.cells(f);
    if (!s.two_bins_[f] || cells[2] != 0) {  // missing rows may go to either side
      scratch.rest.push_back(i);
      continue;
    }
    // Without a branch, which nobody could foresee.
    const unsigned varies = unsigned{cells[0] != 0} & unsigned{cells[1] != 0};
    const unsigned admitted = varies & unsigned{parts_rows(f)};
    n_varying += varies;
    left[n] = cells[0];
    place[n] = i;
    n += admitted;
    if (retire && admitted == 0) found.retired.push_back(f);
    if (n == kTogether) score();
  }
  score();
  found.varying += n_varying;
  return true;
}

}  // namespace committee
