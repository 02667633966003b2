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
/// is above 0. All vectors are compared with a row at once: each would wait for its own sum.
template <std::size_t kVectors>
COMMITTEE_INLINE bool place_codes(const std::uint8_t* codes, std::size_t n, std::uint8_t missing,
                                  std::uint8_t* place) {
  std::int8_t code[kVectors * kLanes];
  Codes own[kVectors], below[kVectors] = {}, any_missing{};
  std::memcpy(own, codes, sizeof(own));
  for (std::size_t v = 0; v < kVectors; ++v) {
    any_missing |= own[v] == static_cast<std::int8_t>(missing);
    own[v] ^= static_cast<std::int8_t>(-128);
  }
  std::memcpy(code, own, sizeof(own));
#pragma GCC unroll 4
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t v = 0; v < kVectors; ++v) below[v] -= own[v] > code[i];  // true is -1
  }
  std::memcpy(place, below, sizeof(below));
  std::uint64_t missed[kLanes / 8];
  std::memcpy(missed, &any_missing, kLanes);
  return (missed[0] | missed[1] | missed[2] | missed[3]) == 0;
}

COMMITTEE_CLONES
bool line_of(const std::uint8_t* codes, const std::int64_t* row_words, std::size_t n,
             std::uint8_t missing, std::size_t n_words, std::uint8_t* place, std::int64_t* words) {
  static_assert(kLineRows == 2 * kLanes);
  const bool complete = n <= kLanes ? place_codes<1>(codes, n, missing, place)
                                    : place_codes<2>(codes, n, missing, place);
  if (!complete) return false;
  std::fill_n(words, n_words, 0);
  for (std::size_t i = 0; i < n; ++i) words[place[i]] += row_words[i];
  return true;
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
  if (line_place_.size() < features.size() * kLineRows)
    line_place_.resize(features.size() * kLineRows);
  for (std::size_t k = 0; k < features.size(); ++k) {
    const auto missing = static_cast<std::uint8_t>(matrix_.n_bins[features[k]]);
    const std::uint8_t* const codes = line_codes(features[k], room);
    const bool complete = line_of(codes, words_.data() + begin_, n, missing, n_words,
                                  line_place_.data() + k * kLineRows, words + k * kLineRows);
    lined |= std::uint64_t{complete} << k;
  }
  return lined;
}

std::uint32_t Block::bin_in_line(std::size_t feature, std::size_t which, std::size_t k) const {
  const std::uint8_t* const place = line_place_.data() + which * kLineRows;
  const auto* const found =
      static_cast<const std::uint8_t*>(std::memchr(place, static_cast<int>(k), end_ - begin_));
  return columns8_[feature * apart_ + order_[begin_ + static_cast<std::size_t>(found - place)]];
}

}  // namespace committee
