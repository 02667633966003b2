// Walking the nodes themselves: the way that serves every tree, every input and a single row.
//
// A walk waits for memory at each step, so eight walks go in step: eight rows through one tree in a
// batch, one row through eight trees when there are few rows. A walk that has arrived stays, since
// a leaf points to itself.
#pragma once

#include "predict_rows.hpp"

namespace committee {

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
