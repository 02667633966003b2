// Known cuts, most of them drawn, in a block by row: what lies below each. Where the rows have two
// words only, as two classes of one weight each have, a cut of every feature is compared and
// counted at once.
#include <algorithm>
#include <cstring>
#include <utility>

#include "committee/base/clones.hpp"
#include "committee/growth/block.hpp"
#include "growth/block_lanes.hpp"

namespace committee {
namespace {

constexpr std::size_t kTogether = 6;    // cuts summed in one pass over the rows
constexpr std::size_t kLaneRows = 255;  // that a byte can count

/// Counts rows at or below the cut of each lane, and those of the second word among them; follows
/// the largest code below and the smallest above.
COMMITTEE_CLONES
void compare(const std::uint8_t* rows, std::size_t stride, const std::uint16_t* order,
             const std::uint8_t* second, std::size_t n, const std::uint8_t* cuts, Lanes& n_below,
             Lanes& n_second_below, Lanes& below, Lanes& above) {
  Lanes cut, x, count = {}, second_count = {}, most = below, least = above;
  std::memcpy(&cut, cuts, kLanes);
  for (std::size_t i = 0; i < n; ++i) {
    std::memcpy(&x, rows + order[i] * stride, kLanes);
    const auto left = reinterpret_cast<Lanes>(x <= cut);  // all ones or zero
    const Lanes low = x & left, high = x | left;
    count -= left;
    second_count -= left & second[i];
    most = low > most ? low : most;
    least = high < least ? high : least;
  }
  n_below = count;
  n_second_below = second_count;
  below = most;
  above = least;
}

}  // namespace

/// By row, packed, and known to miss nothing here: sums need no cells.
bool Block::complete(std::size_t feature) const {
  return bounded_ && stats_.form == RowForm::packed && high_[feature] != matrix_.n_bins[feature];
}

/// The sums in a packed word, as a histogram holds them.
void Block::spread(std::int64_t word, std::size_t width, std::int64_t* raw) const {
  raw[0] = width == 1 ? word : word >> stats_.shift;
  if (width == 2) raw[1] = word & ((std::int64_t{1} << stats_.shift) - 1);
}

/// kN cuts in one pass over the rows.
template <std::size_t kN>
void Block::add_below(const DrawnCut* cuts, std::int64_t* sums) const {
  const std::uint16_t* order = order_.data();
  const std::int64_t* words = words_.data();
  std::int64_t left[kN] = {};
  std::uint32_t feature[kN], bin[kN];
  for (std::size_t k = 0; k < kN; ++k) {
    feature[k] = cuts[k].feature;
    bin[k] = cuts[k].bin;
  }
  for (std::size_t i = begin_, end = end_; i < end; ++i) {
    const std::uint8_t* codes = rows8_.data() + order[i] * stride_;
    const std::int64_t word = words[i];
    for (std::size_t k = 0; k < kN; ++k)
      left[k] += -static_cast<std::int64_t>(codes[feature[k]] <= bin[k]) & word;
  }
  std::copy_n(left, kN, sums);
}

/// Rows of the focus below each cut, and what lies next to it.
void Block::count_below(std::span<const DrawnCut> cuts) const {
  cut_features_.clear();
  for (const DrawnCut& cut : cuts) {
    cut_features_.push_back(cut.feature);
    cut_[cut.feature] = static_cast<std::uint8_t>(cut.bin);
    n_below_[cut.feature] = n_second_below_[cut.feature] = 0;
  }
  const std::uint16_t* order = order_.data() + begin_;
  for (std::size_t first = 0; first < stride_; first += kLanes) {
    const auto here = [&](std::uint32_t f) { return f - first < kLanes; };
    if (std::none_of(cut_features_.begin(), cut_features_.end(), here)) continue;
    Lanes n_below, n_second_below, below = {}, above = ~Lanes{};
    for (std::size_t i = 0; i < end_ - begin_; i += kLaneRows) {
      compare(rows8_.data() + first, stride_, order + i, second_.data() + begin_ + i,
              std::min(kLaneRows, end_ - begin_ - i), cut_.data() + first, n_below, n_second_below,
              below, above);
      for (const std::uint32_t f : cut_features_) {
        if (!here(f)) continue;
        n_below_[f] += n_below[f - first];
        n_second_below_[f] += n_second_below[f - first];
      }
    }
    std::memcpy(below_.data() + first, &below, kLanes);
    std::memcpy(above_.data() + first, &above, kLanes);
  }
}

bool Block::counted(std::size_t feature, std::uint32_t bin) const {
  const auto end = cut_features_.end();
  return std::find(cut_features_.begin(), end, feature) != end && cut_[feature] == bin;
}

std::int64_t Block::word_below(std::size_t feature) const {
  const std::int64_t second = n_second_below_[feature];
  return (n_below_[feature] - second) * two_words_[0] + second * two_words_[1];
}

bool Block::sums_below(std::span<const DrawnCut> cuts, std::size_t width,
                       std::int64_t* sums) const {
  for (const DrawnCut& cut : cuts) {
    if (!complete(cut.feature)) return false;
  }
  if (two_worded_) {
    count_below(cuts);
    for (std::size_t k = 0; k < cuts.size(); ++k)
      spread(word_below(cuts[k].feature), width, sums + k * width);
    return true;
  }
  std::int64_t left[kTogether];
  for (std::size_t first = 0; first < cuts.size(); first += kTogether) {
    const std::size_t n = std::min(cuts.size() - first, kTogether);
    const DrawnCut* some = cuts.data() + first;
    [&]<std::size_t... kN>(std::index_sequence<kN...>) {
      static_cast<void>(((n == kN + 1 && (add_below<kN + 1>(some, left), true)) || ...));
    }(std::make_index_sequence<kTogether>());
    for (std::size_t k = 0; k < n; ++k) spread(left[k], width, sums + (first + k) * width);
  }
  return true;
}

void Block::sum_below(std::size_t feature, std::uint32_t bin, std::size_t width,
                      Profile& out) const {
  if (!complete(feature)) return ProfileSource::halves(feature, bin, width, out);
  const DrawnCut cut{0, static_cast<std::uint32_t>(feature), bin, 0};
  std::int64_t left;
  if (two_worded_) {
    if (!counted(feature, bin)) count_below({&cut, 1});
    left = word_below(feature);
  } else {
    add_below<1>(&cut, &left);
  }
  out.reserve(2, width);
  out.n = 2;
  out.has_missing = false;
  spread(left, width, out.raw.data());
}

void Block::halves(std::size_t feature, std::uint32_t bin, std::size_t width, Profile& out) const {
  if (!complete(feature)) return ProfileSource::halves(feature, bin, width, out);
  sum_below(feature, bin, width, out);
  if (two_worded_) {
    out.bin[0] = below_[feature];
    out.bin[1] = above_[feature];
    return;
  }
  const std::uint8_t* codes = rows8_.data() + feature;
  std::uint32_t below = 0, above = matrix_.n_bins[feature];
  for (std::size_t i = begin_; i < end_; ++i) {  // masks: a branch could not be predicted
    const std::uint32_t code = codes[order_[i] * stride_];
    const std::uint32_t left = 0u - static_cast<std::uint32_t>(code <= bin);
    below = std::max(below, code & left);
    above = std::min(above, code | left);
  }
  out.bin[0] = below;
  out.bin[1] = above;
}

}  // namespace committee
