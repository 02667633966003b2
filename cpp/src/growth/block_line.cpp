// Few rows in the order of their bins, without a profile: each row's place is the number of those
// with a smaller code, found by comparing all with all, 32 at a time. Rows of equal code share a
// place, and the places behind it stay empty. In trees on few rows that takes a third of the time
// that sorting rows into cells took.
#include <algorithm>
#include <cstring>

#include "committee/base/clones.hpp"
#include "committee/growth/block.hpp"

namespace committee {
namespace {

constexpr std::size_t kLanes = 32;
using Codes = std::int8_t __attribute__((vector_size(kLanes)));  // less 128: these compare sooner

constexpr std::size_t kVector = 16;  // words that a scan takes at once, at most

static_assert(kLineRows % kLanes == 0 && kLineRows % kVector == 0);

/// Behind `codes` stand zeros, up to a whole number of vectors. False where one is `missing`, which
/// is above 0.
COMMITTEE_INLINE bool place_codes(const std::uint8_t* codes, std::size_t n, std::uint8_t missing,
                                  std::uint8_t* place) {
  std::int8_t code[kLineRows];
  Codes own[kLineRows / kLanes], any_missing{};
  const std::size_t n_vectors = (n + kLanes - 1) / kLanes;
  for (std::size_t v = 0; v < n_vectors; ++v) {
    std::memcpy(&own[v], codes + v * kLanes, kLanes);
    any_missing |= own[v] == static_cast<std::int8_t>(missing);
    own[v] ^= static_cast<std::int8_t>(-128);
    std::memcpy(code + v * kLanes, &own[v], kLanes);
  }
  for (std::size_t v = 0; v < n_vectors; ++v) {
    Codes below{};
#pragma GCC unroll 4
    for (std::size_t i = 0; i < n; ++i) below -= own[v] > code[i];  // true is -1
    std::memcpy(place + v * kLanes, &below, kLanes);
  }
  std::uint64_t missed[kLanes / 8];
  std::memcpy(missed, &any_missing, kLanes);
  return (missed[0] | missed[1] | missed[2] | missed[3]) == 0;
}

COMMITTEE_CLONES
bool line_of(const std::uint8_t* codes, const std::int64_t* row_words, std::size_t n,
             std::uint8_t missing, std::size_t n_words, std::int64_t* words) {
  std::uint8_t place[kLineRows];
  if (!place_codes(codes, n, missing, place)) return false;
  std::fill_n(words, n_words, 0);
  for (std::size_t i = 0; i < n; ++i) words[place[i]] += row_words[i];
  return true;
}

/// The code of the first row whose place is k.
COMMITTEE_CLONES
std::uint8_t code_at(const std::uint8_t* codes, std::size_t n, std::uint8_t missing,
                     std::size_t k) {
  std::uint8_t place[kLineRows];
  place_codes(codes, n, missing, place);
  return codes[std::find(place, place + n, k) - place];
}

/// Codes next to a cut, and the sums of the rows that have them.
struct Neighbours {
  std::uint8_t below = 0, above, highest = 0;
  std::int64_t sum = 0, at_below = 0, at_above = 0;  // sum: of all rows left of the cut
};

/// Masks, since a branch could not be predicted.
COMMITTEE_CLONES
Neighbours neighbours(const std::uint8_t* codes, const std::int64_t* words, std::size_t n,
                      std::uint8_t bin, std::uint8_t missing) {
  Neighbours found;
  found.above = missing;
  for (std::size_t i = 0; i < n; ++i) {
    const auto left = static_cast<std::uint8_t>(codes[i] <= bin ? 255 : 0);
    found.below = std::max<std::uint8_t>(found.below, codes[i] & left);
    found.above = std::min<std::uint8_t>(found.above, codes[i] | left);
    found.highest = std::max(found.highest, codes[i]);
  }
  for (std::size_t i = 0; i < n; ++i) {
    found.sum += words[i] & -static_cast<std::int64_t>(codes[i] <= bin);
    found.at_below += words[i] & -static_cast<std::int64_t>(codes[i] == found.below);
    found.at_above += words[i] & -static_cast<std::int64_t>(codes[i] == found.above);
  }
  return found;
}

}  // namespace

bool Block::has_lines() const {
  return matrix_.layout == Layout::dense8 && !by_row_ && end_ - begin_ <= kLineRows &&
         stats_.form == RowForm::packed && stats_.width == 1;
}

/// The codes of the rows in focus, and zeros; in `room`, which is zero, where they must be
/// gathered.
const std::uint8_t* Block::line_codes(std::size_t feature, std::uint8_t* room) const {
  const std::uint8_t* const column = columns8_.data() + feature * apart_;
  if (!divided_ && begin_ == 0 && end_ == rows_.size()) return column;
  for (std::size_t i = begin_; i < end_; ++i) room[i - begin_] = column[order_[i]];
  return room;
}

std::size_t Block::n_in_line() const { return (end_ - begin_ + kVector - 1) / kVector * kVector; }

std::uint64_t Block::line_up(std::span<const std::uint32_t> features, std::int64_t* words) const {
  if (!has_lines()) return 0;
  const std::size_t n = end_ - begin_, n_words = n_in_line();
  std::uint8_t room[kLineRows] = {};
  std::uint64_t lined = 0;
  for (std::size_t k = 0; k < features.size(); ++k) {
    const auto missing = static_cast<std::uint8_t>(matrix_.n_bins[features[k]]);
    const std::uint8_t* const codes = line_codes(features[k], room);
    const bool complete =
        line_of(codes, words_.data() + begin_, n, missing, n_words, words + k * kLineRows);
    lined |= std::uint64_t{complete} << k;
  }
  return lined;
}

/// False where there is no line, a row is missing, or the words of a bin next to the cut add up to
/// nothing: such a bin counts as empty, and the one behind it is next.
bool Block::halve_line(std::size_t feature, std::uint32_t bin, Profile& out) const {
  if (!has_lines()) return false;
  std::uint8_t room[kLineRows] = {};
  const auto missing = static_cast<std::uint8_t>(matrix_.n_bins[feature]);
  const Neighbours found = neighbours(line_codes(feature, room), words_.data() + begin_,
                                      end_ - begin_, static_cast<std::uint8_t>(bin), missing);
  out.reserve(2, 1);
  out.n = 2;
  out.raw[0] = found.sum;
  out.bin[0] = found.below;
  out.bin[1] = found.above;
  out.has_missing = false;
  return found.highest != missing && found.at_below != 0 && found.at_above != 0;
}

/// Of a line that was made, so none is missing.
std::uint32_t Block::bin_in_line(std::size_t feature, std::size_t k) const {
  std::uint8_t room[kLineRows] = {};
  return code_at(line_codes(feature, room), end_ - begin_,
                 static_cast<std::uint8_t>(matrix_.n_bins[feature]), k);
}

}  // namespace committee
