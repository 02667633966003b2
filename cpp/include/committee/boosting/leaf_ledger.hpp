// Which leaf each row has in each tree, kept in as few bytes as the nodes of a tree need: one for
// trees of up to 128 leaves. Where weights of earlier trees change (DART), scores are summed anew
// from here, which is much cheaper than leading every row down every tree once more.
#pragma once

#include <span>
#include <variant>
#include <vector>

#include "committee/base/parallel.hpp"
#include "committee/base/types.hpp"

namespace committee {

class LeafLedger {
 public:
  explicit LeafLedger(std::size_t n_rows) : n_rows_(n_rows) {}

  std::size_t n_rows() const { return n_rows_; }
  std::size_t n_trees() const { return trees_.size(); }

  /// One more tree: the leaf of each row, and the values of the nodes.
  void add(std::span<const std::uint32_t> leaf, std::span<const double> value);

  /// raw[row] += weight[tree] * value of the row's leaf, in the order of the trees; those of weight
  /// 0 are passed over.
  void sum(std::span<const double> weight, std::span<double> raw, const Context& context) const;

 private:
  struct Tree {
    std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>, std::vector<std::uint32_t>>
        leaf;
    std::vector<double> value;
  };
  std::size_t n_rows_;
  std::vector<Tree> trees_;
};

}  // namespace committee
