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

/// `codes` are padded with zeros. False where one is `missing`, which is above 0.
COMMITTEE_CLONES
bool place_codes(const std::uint8_t* codes, std::size_t n, std::uint8_t missing,
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

}  // namespace

bool Block::has_lines() const {
  return matrix_.layout == Layout::dense8 && !by_row_ && end_ - begin_ <= kLineRows &&
         stats_.form == RowForm::packed && stats_.width == 1;
}

/// The codes of the rows in focus.
void Block::copy_codes(std::size_t feature, std::uint8_t* codes) const {
  const std::uint8_t* const column = columns8_.data() + feature * rows_.size();
  if (!divided_) {
    std::memcpy(codes, column + begin_, end_ - begin_);
  } else {
    for (std::size_t i = begin_; i < end_; ++i) codes[i - begin_] = column[order_[i]];
  }
}

std::size_t Block::line_up(std::size_t feature, std::int64_t* words) const {
  const std::size_t n = end_ - begin_;
  if (!has_lines()) return 0;
  std::uint8_t codes[kLineRows] = {}, place[kLineRows];
  copy_codes(feature, codes);
  const auto missing = static_cast<std::uint8_t>(matrix_.n_bins[feature]);
  if (!place_codes(codes, n, missing, place)) return 0;
  const std::size_t n_padded = (n + kVector - 1) / kVector * kVector;
  std::fill_n(words, n_padded, 0);
  for (std::size_t i = 0; i < n; ++i) words[place[i]] += words_[begin_ + i];
  return n_padded;
}

/// False where there is no line, a row is missing, or the words of a bin next to the cut add up to
/// nothing: such a bin counts as empty, and the one behind it is next.
bool Block::halve_line(std::size_t feature, std::uint32_t bin, Profile& out) const {
  if (!has_lines()) return false;
  std::uint8_t codes[kLineRows];
  copy_codes(feature, codes);
  out.reserve(2, 1);
  std::int64_t sum = 0;
  std::uint32_t below = 0, above = matrix_.n_bins[feature], highest = 0;
  for (std::size_t i = 0; i < end_ - begin_; ++i) {  // masks: a branch could not be predicted
    const std::uint32_t code = codes[i], left = 0u - static_cast<std::uint32_t>(code <= bin);
    sum += words_[begin_ + i] & -static_cast<std::int64_t>(left & 1);
    below = std::max(below, code & left);
    above = std::min(above, code | left);
    highest = std::max(highest, code);
  }
  out.n = 2;
  out.raw[0] = sum;
  out.bin[0] = below;
  out.bin[1] = above;
  out.has_missing = false;
  const auto word_of = [&](std::uint32_t code) {
    std::int64_t word = 0;
    for (std::size_t i = 0; i < end_ - begin_; ++i)
      word += words_[begin_ + i] & -static_cast<std::int64_t>(codes[i] == code);
    return word;
  };
  return highest != matrix_.n_bins[feature] && word_of(below) != 0 && word_of(above) != 0;
}

/// Of a line that was made, so none is missing.
std::uint32_t Block::bin_in_line(std::size_t feature, std::size_t k) const {
  std::uint8_t codes[kLineRows] = {}, place[kLineRows];
  copy_codes(feature, codes);
  place_codes(codes, end_ - begin_, static_cast<std::uint8_t>(matrix_.n_bins[feature]), place);
  return codes[std::find(place, place + (end_ - begin_), k) - place];
}

}  // namespace committee
