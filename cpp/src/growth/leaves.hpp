// Which rows ended in which leaf of a grown tree.
#pragma once

#include "committee/growth/partition.hpp"
#include "committee/growth/tree.hpp"

namespace committee {

LeafRows rows_of_leaves(const Grower& grower, const Partition& partition);

/// leaf_of[row] = the index of the row's leaf in the finished tree, for the rows of the partition.
/// Where a leaf is marked, leaf_of holds its number in the grower so far.
void name_leaves(const Grower& grower, const Partition& partition, const Context& context,
                 std::uint32_t* leaf_of);

/// The same for the rows that the statistics do not count, by their bins.
void lead_uncounted(const ForestArrays& tree, const BinnedMatrix& matrix, const BinMapper& mapper,
                    const Stats& stats, const Context& context, std::uint32_t* leaf_of);

}  // namespace committee
