// Rows leaf by leaf, from the leaf of each row: what refits leaves begins with this.
#pragma once

#include "committee/growth/tree.hpp"

namespace committee {

/// The rows of each leaf that has any, leaf after leaf, each leaf's in ascending order. rows: those
/// that count, ascending; empty: all. The result does not depend on the number of threads.
LeafRows group_by_leaf(std::span<const std::uint32_t> leaf, std::span<const RowId> rows,
                       std::size_t n_nodes, const Context& context);

}  // namespace committee
