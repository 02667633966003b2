// Blocks of sparse rows: entries sorted by feature, so that a profile reads the entries of its
// feature alone; all other rows are in the zero bin, which has what they leave of the sums.
#include <algorithm>

#include "committee/growth/block.hpp"

namespace committee {

void Block::load_sparse() {
  entries_.clear();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    for (std::size_t e = matrix_.row_begin[rows_[i]]; e < matrix_.row_begin[rows_[i] + 1]; ++e) {
      entries_.push_back(
          {matrix_.entry_feature[e], matrix_.entry_code[e], static_cast<std::uint16_t>(i)});
    }
  }
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.feature < b.feature; });
  present_.clear();
  present_begin_.clear();
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    if (!present_.empty() && present_.back() == entries_[e].feature) continue;
    present_.push_back(entries_[e].feature);
    present_begin_.push_back(static_cast<std::uint32_t>(e));
  }
  present_begin_.push_back(static_cast<std::uint32_t>(entries_.size()));
}

const std::vector<std::uint32_t>* Block::varying() const {
  return matrix_.layout == Layout::sparse ? &present_ : nullptr;
}

std::uint32_t Block::sparse_code(std::size_t feature, std::size_t local) const {
  const auto at = std::lower_bound(present_.begin(), present_.end(), feature);
  if (at == present_.end() || *at != feature) return matrix_.zero_bin[feature];
  const auto k = static_cast<std::size_t>(at - present_.begin());
  const auto first = entries_.begin() + present_begin_[k],
             last = entries_.begin() + present_begin_[k + 1];
  const auto entry = std::lower_bound(first, last, local,
                                      [](const Entry& e, std::size_t x) { return e.local < x; });
  return entry != last && entry->local == local ? entry->code : matrix_.zero_bin[feature];
}

/// Notes where rows stand: an entry knows its row, and the focus is a range of places.
void Block::place_rows(std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) place_[order_[i]] = static_cast<std::uint16_t>(i);
}

void Block::add_to_cell(std::size_t position, std::int64_t* cell) const {
  if (stats_.form == RowForm::packed) {
    cell[0] += words_[position];
  } else {
    stats_.add_row(rows_[order_[position]], cell);
  }
}

/// What all features of the focus share, so that a zero bin is found without its rows.
void Block::sum_focus() {
  const std::size_t width = stats_.form == RowForm::packed ? 1 : stats_.width;
  focus_sums_.assign(width, 0);
  for (std::size_t i = begin_; i < end_; ++i) add_to_cell(i, focus_sums_.data());
}

/// An entry that lies in the zero bin itself is added and taken off there, and so counts once.
void Block::read_sparse(std::size_t feature, Profile& out) const {
  const std::size_t n_bins = matrix_.n_bins[feature], zero = matrix_.zero_bin[feature];
  const bool packed = stats_.form == RowForm::packed;
  const std::size_t width = packed ? 1 : stats_.width;
  const auto at = std::lower_bound(present_.begin(), present_.end(), feature);
  const auto k = static_cast<std::size_t>(at - present_.begin());
  const bool present = at != present_.end() && *at == feature;
  const std::size_t first = present ? present_begin_[k] : 0;
  const std::size_t last = present ? present_begin_[k + 1] : 0;
  const std::size_t n_words = make_room(n_bins, last - first + 1, out);
  auto* seen = reinterpret_cast<std::uint8_t*>(seen_.data());
  std::int64_t* const rest = cells_.data() + zero * width;
  for (std::size_t j = 0; j < width; ++j) rest[j] = focus_sums_[j];
  seen[zero] = 1;
  scratch_.resize(width);
  for (std::size_t e = first; e < last; ++e) {
    const std::size_t position = place_[entries_[e].local];
    if (position < begin_ || position >= end_) continue;
    std::int64_t* const cell = cells_.data() + entries_[e].code * width;
    std::fill(scratch_.begin(), scratch_.end(), 0);
    add_to_cell(position, scratch_.data());
    for (std::size_t j = 0; j < width; ++j) {
      cell[j] += scratch_[j];
      rest[j] -= scratch_[j];
    }
    seen[entries_[e].code] = 1;
  }
  if (packed) {
    take_packed(n_words, out);
  } else {
    take_wide(n_words, out);
  }
  part_missing(n_bins, out);
}

}  // namespace committee
