// Newton's gain of free numeric features that miss no row, all in one scan: what is set up once,
// and a bar that only rises, serve them all. Where nodes are small, most of the time of a search by
// feature would be spent around its scan.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "search/feature_search.hpp"
#include "search/newton_scan.hpp"

namespace committee {
namespace {

constexpr std::size_t kTogether = 16;  // features, whose lines stay in the first cache

/// Whether at least two of the words have rows.
bool varies(const NewtonWords& words) {
  const auto occupied = [](std::int64_t word) { return word != 0; };
  const std::int64_t* const end = words.words + words.n;
  const std::int64_t* const first = std::find_if(words.words, end, occupied);
  return first != end && std::any_of(first + 1, end, occupied);
}

}  // namespace

std::vector<bool> SplitSearch::find_free() const {
  std::vector<bool> free(mapper_.n_features());
  for (std::size_t f = 0; f < free.size(); ++f) {
    const bool monotone = !params_.monotone.empty() && params_.monotone[f] != 0;
    free[f] = !mapper_.feature(f).categorical && !monotone;
  }
  return free;
}

/// Words of some free features, from their cells or lined up in `room`; none where a row is
/// missing.
void FeatureSearch::read_words(const ProfileSource& profiles,
                               std::span<const std::uint32_t> features, std::int64_t* room,
                               NewtonWords* words) const {
  if (features.empty()) return;
  if (profiles.cells(features[0]) != nullptr) {
    for (std::size_t k = 0; k < features.size(); ++k) {
      // The cell of missing rows, of which there are none, ends what may be a whole number of
      // vectors.
      const std::int64_t* const cells = profiles.cells(features[k]);
      const std::size_t n = s.mapper_.feature(features[k]).n_bins;
      words[k] = {cells, cells[n] != 0 ? 0 : n + 1};
    }
    return;
  }
  const std::uint64_t lined = profiles.line_up(features, room);
  const std::size_t n = profiles.n_in_line();
  for (std::size_t k = 0; k < features.size(); ++k)
    words[k] = {room + k * kLineRows, (lined >> k & 1) != 0 ? n : 0};
}

/// The halves at a feature's k-th word. Both sides have words, or there were no cut.
Halves FeatureSearch::halves_at(const ProfileSource& profiles, std::uint32_t feature,
                                std::size_t which, const NewtonWords& words, std::size_t k) const {
  const std::int64_t* const w = words.words;
  std::size_t above = k + 1;
  while (w[above] == 0) ++above;
  const bool lined = profiles.cells(feature) == nullptr;
  const auto bin = [&](std::size_t i) {
    return lined ? profiles.bin_in_line(feature, which, i) : static_cast<std::uint32_t>(i);
  };
  return {std::accumulate(w, w + above, std::int64_t{0}), bin(k), bin(above)};
}

/// Takes the best cut of features whose words were read, where it is better than the best before.
/// `place`: of each among those that are tried, of which the first has the turn `first`.
void FeatureSearch::take_best(const ProfileSource& profiles,
                              std::span<const std::uint32_t> features, std::size_t first,
                              std::span<const NewtonWords> words, const std::uint32_t* place,
                              Found& found) const {
  const NewtonChoice choice = best_in_scan(words, found.best);
  const auto [gain, bin] = choice.cut;
  const std::size_t which = choice.which;
  if (which == words.size()) {
    if (found.varying == 0)  // else it is known already that none need be drawn beside
      found.varying += static_cast<std::size_t>(std::count_if(words.begin(), words.end(), varies));
    return;
  }
  ++found.varying;  // at least
  const std::size_t turn = first + place[which];
  if (found.best.boundary.found && gain == found.best.quality && turn > found.best.turn) return;
  const std::uint32_t feature = features[place[which]];
  found.best = {.boundary = {gain, gain, 0, false, true},
                .quality = gain,
                .feature = feature,
                .turn = turn,
                .halves = halves_at(profiles, feature, which, words[which], bin)};
}

bool FeatureSearch::take_free(const ProfileSource& profiles,
                              std::span<const std::uint32_t> features, std::size_t first, bool some,
                              Scratch& scratch, Found& found) const {
  // Rows that are counted bound the cuts of a feature, and its own best tells whether it retires.
  if (newton == nullptr || node.counts != nullptr || !node.retired.empty()) return some;
  // Two rows are parted by the first feature that varies, whether it is free or not: gains of the
  // two kinds are equal but for rounding.
  if (node.rows == 2 && !s.params_.monotone.empty()) return some;
  const std::size_t n_left = some ? scratch.rest.size() : features.size();
  scratch.rest.resize(n_left);
  NewtonWords words[kTogether];
  std::uint32_t free[kTogether], place[kTogether];
  std::int64_t room[kTogether * kLineRows];
  std::size_t n_rest = 0;
  for (std::size_t next = 0; next < n_left;) {
    std::size_t n = 0;
    for (; next < n_left && n < kTogether; ++next) {
      const std::uint32_t at = some ? scratch.rest[next] : static_cast<std::uint32_t>(next);
      if (!s.free_[features[at]]) {
        scratch.rest[n_rest++] = at;
        continue;
      }
      place[n] = at;
      free[n++] = features[at];
    }
    read_words(profiles, {free, n}, room, words);
    for (std::size_t k = 0; k < n; ++k) {
      if (words[k].n == 0) scratch.rest[n_rest++] = place[k];
    }
    take_best(profiles, features, first, {words, n}, place, found);
  }
  scratch.rest.resize(n_rest);
  if (!std::is_sorted(scratch.rest.begin(), scratch.rest.end()))
    std::sort(scratch.rest.begin(), scratch.rest.end());
  return true;
}

/// The best cut of the features that gains as much as the best before them: a tie is broken by
/// their turns.
NewtonChoice FeatureSearch::best_in_scan(std::span<const NewtonWords> words,
                                         const Candidate& beside) const {
  const double below =
      beside.boundary.found ? std::nextafter(beside.quality, -infinity()) : -infinity();
  return best_newton_of(words, *newton, std::max(below, node.floor));
}

}  // namespace committee
