// Rows in parts: C4.5's way with missing values (Quinlan 1993, chapter 3). A split is judged by the
// rows that know their value; a row that does not goes down both sides, to each with the share of
// the known rows that go there. A tree that was grown so is asked the same way: the answer is the
// mean of the leaves that a row reaches, by the shares with which it reaches them.
//
// Shares are whole numbers of units, and what a row loses on one side the other side gains, so sums
// stay exact and the tree does not depend on the order of rows.
#pragma once

#include "committee/bins/input.hpp"
#include "committee/bins/matrix.hpp"
#include "committee/forest/forest.hpp"
#include "committee/search/split.hpp"

namespace committee {

/// A tree for classes. params.in_parts must be set and stats made by Stats::divisible; the checks
/// of check_growth come first. A side of a split holds at least min_rows_leaf rows that know their
/// value, parts counted as parts, and so a tree has no more two-way leaves than rows. A node's
/// count is that of its parts together, rounded down.
ForestArrays grow_tree_in_parts(const BinnedMatrix& matrix, const BinMapper& mapper,
                                const Stats& stats, const TreeParams& params,
                                const Context& context);

/// out[row, output] = the sum over trees of the mean value of the leaves that the row reaches in
/// parts, which at each split are those of the weights of its children: the forest must have kept
/// the weights of all nodes. A row that misses nothing gets the value of its leaf.
void predict_in_parts(const Forest& forest, const Input& input, std::span<double> out,
                      const Context& context);

}  // namespace committee
