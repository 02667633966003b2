// Rows led to their leaves by codes of one byte: a node keeps a bit for each code, so that numbers,
// categories and missing values go one way, without a branch that nobody could predict; and eight
// rows walk side by side, so that waiting for the code of one is not waiting for nothing.
#pragma once

#include <span>
#include <vector>

#include "committee/bins/matrix.hpp"
#include "committee/forest/forest.hpp"

namespace committee {

class CodeWalk {
 public:
  /// goes_left(node, code) -> bool, asked for every code that a feature has.
  template <class GoesLeft>
  CodeWalk(const ForestArrays& tree, const BinnedMatrix& matrix, GoesLeft goes_left)
      : matrix_(matrix), steps_(tree.nodes.size()) {
    for (std::uint32_t i = 0; i < steps_.size(); ++i) {
      const Node& node = tree.nodes[i];
      Step& step = steps_[i];
      step.left = node.left;
      if (node.left == i) {
        for (std::uint64_t& word : step.goes_left) word = ~std::uint64_t{0};
        continue;  // a leaf is its own left child
      }
      step.feature = node.feature & kFeatureMask;
      for (std::uint32_t code = 0; code <= matrix.n_bins[step.feature]; ++code) {
        const std::uint64_t left = goes_left(i, code) ? 1 : 0;
        step.goes_left[code / 64] |= left << (code % 64);
      }
    }
  }

  /// leaf_of[row] for each of the rows.
  void lead(std::span<const RowId> rows, std::uint32_t* leaf_of) const;

 private:
  struct Step {
    std::uint64_t goes_left[4] = {0, 0, 0, 0};
    std::uint32_t feature = 0, left = 0;
  };
  const BinnedMatrix& matrix_;
  std::vector<Step> steps_;
};

}  // namespace committee
