// Absolute error: the one criterion that is no function of sums. A side's error is its weighted sum
// of distances to its median, so the search goes through the node's rows in the order of each
// feature and keeps two Fenwick trees (Fenwick 1994) over the ranks of y: O(n log n) a feature. All
// in integers: y in 30-bit units, weights in units.
#pragma once

#include "committee/growth/grower.hpp"
#include "committee/growth/partition.hpp"

namespace committee {

/// Grows the whole tree below the grower's root and sets each node's value (the weighted median)
/// and impurity. Needs all rows in one place.
void grow_by_medians(const BinnedMatrix& matrix, const BinMapper& mapper, const Stats& stats,
                     const TreeParams& params, Grower& grower, Partition& partition,
                     const Context& context);

}  // namespace committee
