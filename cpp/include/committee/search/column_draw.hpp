// The features that a tree may use, and of these each level of it: two draws, keyed by the tree's
// seed and the depth, so that neither threads nor the order of growth change them (random
// subspaces, Ho 1998; by tree and by level as in XGBoost).
#pragma once

#include <span>
#include <vector>

#include "committee/search/split.hpp"

namespace committee {

class ColumnDraw {
 public:
  ColumnDraw(const TreeParams& params, std::size_t n_features);

  /// Of the tree, ascending.
  std::span<const std::uint32_t> of_tree() const { return tree_; }
  /// Of a level that was reached, ascending.
  std::span<const std::uint32_t> of_level(std::size_t depth) const {
    return n_level_ == 0 ? tree_ : levels_[depth];
  }
  /// Draws for the levels down to `depth`. What is there already stays where it is.
  void reach(std::size_t depth);

 private:
  std::uint64_t seed_;
  std::size_t n_level_;  // 0: all of the tree's
  std::vector<std::uint32_t> tree_;
  std::vector<std::vector<std::uint32_t>> levels_;  // by depth
};

}  // namespace committee
