// Walking the nodes themselves: the way that serves every tree, every input and a single row.
//
// A walk waits for memory at each step, so eight walks go in step: eight rows through one tree in a
// batch, one row through eight trees when there are few rows. A walk that has arrived stays, since
// a leaf points to itself.
#pragma once

#include <optional>

#include "forest/predict_rows.hpp"

namespace committee {

/// The level that x names at a categorical split; none where x is missing: NaN, or no bit of its
/// set.
inline std::optional<std::uint64_t> level_of(const ForestArrays& a, const Node& node, double x) {
  const auto set = static_cast<std::size_t>(node.threshold);
  const double n_codes = 64.0 * static_cast<double>(a.set_begin[set + 1] - a.set_begin[set]);
  if (!(x >= 0.0 && x < n_codes)) return std::nullopt;
  const auto code = static_cast<std::uint64_t>(x);
  if (static_cast<double>(code) != x) return std::nullopt;
  return code;
}

/// Whether a level goes left.
inline bool in_set(const ForestArrays& a, const Node& node, std::uint64_t code) {
  const std::uint64_t begin = a.set_begin[static_cast<std::size_t>(node.threshold)];
  return ((a.set_words[begin + code / 64] >> (code % 64)) & 1u) != 0;
}

inline constexpr std::size_t kInFlight = 8;

/// Leaves of `n` >= kInFlight rows in one tree. `position` is null where rows hold all features,
/// else Forest::used_position(). `missing` says whether a row may hold NaN.
template <class T>
void walk_rows(const Forest& forest, std::size_t tree, RowView<T> rows, std::size_t n,
               const std::uint32_t* position, bool missing, std::uint32_t* leaf);

/// Leaves of one row in `n` <= kInFlight trees from `tree` on.
template <class T>
void walk_trees(const Forest& forest, std::size_t tree, std::size_t n, const T* row,
                const std::uint32_t* position, bool missing, std::uint32_t* leaf);

}  // namespace committee
