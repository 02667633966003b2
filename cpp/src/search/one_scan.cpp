// Newton's gain of free numeric features that miss no row, all in one scan: what is set up once,
// and a bar that only rises, serve them all. Where nodes are small, most of the time of a search by
// feature would be spent around its scan.
#include <algorithm>
#include <cmath>

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

/// A feature's words, from its cells or lined up in `room`; none where it is not for the one scan.
NewtonWords FeatureSearch::words_of(const ProfileSource& profiles, std::uint32_t feature,
                                    std::int64_t* room) const {
  if (!s.free_[feature]) return {};
  const std::int64_t* const cells = profiles.cells(feature);
  if (cells == nullptr) return {room, profiles.line_up(feature, room)};
  // The cell of missing rows, of which there are none, ends what may be a whole number of vectors.
  const std::size_t n = s.mapper_.feature(feature).n_bins;
  return {cells, cells[n] != 0 ? 0 : n + 1};
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
  std::uint32_t place[kTogether];
  std::int64_t room[kTogether * kLineRows];
  std::size_t n = 0, n_rest = 0;
  const auto score = [&] {
    Candidate best;
    if (best_in_scan(words, n, found.best, best)) {
      const std::size_t k = best.turn;
      best.feature = features[place[k]];
      best.turn = first + place[k];
      if (words[k].words == room + k * kLineRows)
        best.bin = profiles.bin_in_line(best.feature, best.bin);
      if (best.better_than(found.best)) found.best = best;
      found.varying += n;
    } else if (found.varying == 0) {  // else it is known already that none need be drawn beside
      found.varying += static_cast<std::size_t>(std::count_if(words, words + n, varies));
    }
    n = 0;
  };
  for (std::size_t k = 0; k < n_left; ++k) {
    place[n] = some ? scratch.rest[k] : static_cast<std::uint32_t>(k);
    words[n] = words_of(profiles, features[place[n]], room + n * kLineRows);
    if (words[n].n == 0) {
      scratch.rest[n_rest++] = place[n];
    } else if (++n == kTogether) {
      score();
    }
  }
  if (n > 0) score();
  scratch.rest.resize(n_rest);
  return true;
}

/// The best cut of n features that gains as much as the best before them: a tie is broken by their
/// turns. `out.turn` is the place among the n.
bool FeatureSearch::best_in_scan(const NewtonWords* words, std::size_t n, const Candidate& beside,
                                 Candidate& out) const {
  const double below =
      beside.boundary.found ? std::nextafter(beside.quality, -infinity()) : -infinity();
  const double floor = std::max(below, node.floor);
  const NewtonChoice choice = best_newton_of({words, n}, *newton, floor);
  if (choice.which == n) return false;
  out.turn = choice.which;
  out.boundary = {choice.cut.gain, choice.cut.gain, 0, false, true};
  out.quality = choice.cut.gain;
  out.halved = true;
  out.bin = choice.cut.bin;
  return true;
}

}  // namespace committee
