// Growing a forest: many trees on the same bins, each on its own bag, in one call.
//
// Members are independent, so whole trees are the tasks of the threads; those that would leave
// threads idle at the end are grown one after another with all threads inside the tree. A member
// is a function of (rows, parameters, seed, its number), whatever is grown beside it.
#pragma once

#include "committee/growth/bag.hpp"
#include "committee/growth/tree.hpp"

namespace committee {

/// What the trees are to explain. The spans are borrowed.
struct Target {
  SumKind kind = SumKind::classes;  // classes or regression
  std::size_t n_outputs = 1;
  std::span<const std::uint32_t> codes;  // classes: n_rows * n_outputs
  std::vector<std::uint32_t> n_classes;  // classes: per output
  std::span<const double> y;             // regression: n_rows * n_outputs
  bool centred = true;                   // regression: see Stats::regression
  std::span<const double> factor;        // of each row, times its weight in the bag; empty: 1
  bool balanced = false;                 // classes: weigh the classes of every bag alike
};

struct GrownForest {
  /// Of the facts about training only the weight. Inner nodes follow from the leaves: see roll_up.
  ForestArrays arrays;
  std::vector<double> importances;  // member by feature: shares of the score gained; or all zero
};

/// Members [begin, end). params.seed is mixed with a member's number; limits in units of weight
/// (min_weight_leaf, min_gain) are given for a total weight of one and hold for each bag in
/// proportion.
GrownForest grow_forest(const BinnedMatrix& matrix, const BinMapper& mapper, const Target& target,
                        const Bags& bags, const TreeParams& params, std::size_t begin,
                        std::size_t end, const Context& context);

}  // namespace committee
