// Symmetric (oblivious) trees: every level asks one question, of all its nodes (Kohavi and Li 1995,
// oblivious decision graphs; Prokhorenkova et al. 2018, CatBoost). A tree of depth d has 2^d
// leaves, whatever rows they hold, and is so simple that it hardly overfits.
//
// A level is split where the gains of its nodes add up to something; nodes with too little on
// either side of the cut gain nothing, but are split with the others. A leaf that ends up smaller
// than leaves may be, such as an empty one, has the value of the nearest node above that is large
// enough: with CatBoost's own 0, or with a value made of one row, a single unlucky row could cost
// more than the tree gains.
#pragma once

#include "growth/branch.hpp"
#include "growth/level_search.hpp"

namespace committee {

class Symmetric {
 public:
  Symmetric(const TreeData& data, const BinMapper& mapper, const SplitSearch& search,
            Grower grower);

  void grow(const Context& context);
  Grower& grower() { return grower_; }

  /// Gives nodes of a finished tree that are too small the value of the one above.
  static void lend_values(const TreeParams& params, const Stats& stats, ForestArrays& tree);

 private:
  bool summed(NodeId id) const {
    return grower_.node(id).open && grower_.node(id).rows > small_rows_;
  }
  double least(NodeId id, double weight) const;
  LevelNode seen(NodeId id) const;
  Histogram sum_rows(NodeId id, const Context& context);
  void split_level(const Split& split, const Context& context);
  std::size_t divide(NodeId id, const Split& split, const Context& context);
  void sum_sides(NodeId id, const Split& split, std::size_t n_left);
  void open_children(NodeId id, const Context& context);
  template <class F>
  void for_level(const Context& context, F f);

  const TreeData& data_;
  const BinMapper& mapper_;
  const SplitSearch& search_;
  Grower grower_;
  std::size_t small_rows_;             // of a node whose cells are summed when they are asked for
  std::vector<NodeId> level_;          // its nodes, from left to right
  std::vector<Histogram> histograms_;  // by node; empty where none is kept
};

/// Throws std::invalid_argument for what symmetric trees cannot be grown with.
void check_symmetric(const Stats& stats, const TreeParams& params);

inline constexpr std::size_t kMaxSymmetricDepth = 16;  // 65536 leaves, each of them kept

}  // namespace committee
