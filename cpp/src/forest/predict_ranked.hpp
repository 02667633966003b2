// The form of a forest for large batches: small integers instead of thresholds, and trees without
// walking.
//
// All thresholds of a feature are sorted once; a value becomes its rank among them, one byte, found
// once per row and used by every tree. A tree of at most 256 leaves is then evaluated from the
// leaves up for 64 rows at a time: out = rank <= code ? left : right, where left and right are leaf
// numbers or the results of the nodes below. That touches every node, yet costs less than walking,
// since nothing waits and nothing branches. A symmetric tree, whose nodes of a level all ask the
// same, is one comparison a level: its answers are the bits of the leaf's number. Larger trees are
// walked, in nodes of half the size, many rows through one tree before the next tree takes its
// place in the cache.
#pragma once

#include "forest/predict_rows.hpp"

namespace committee {

/// Rows of a block of ranks, and rows that one operation of the kernel treats.
inline constexpr std::size_t kRankRows = 512;
inline constexpr std::size_t kLaneRows = 64;

struct RankedForest {
  static constexpr std::size_t kMaxLeaves = 256;  // of a tree
  static constexpr std::size_t kCuts = 255;       // thresholds of a feature

  /// One node. Offsets are in bytes; a leaf's operand is a constant, which does not move along the
  /// rows.
  struct Step {
    std::uint32_t column;            // into the block of ranks
    std::uint32_t left, right, out;  // into the arena
    std::uint8_t code;               // goes left when rank <= code
    std::uint8_t left_moves,
        right_moves;  // per kLaneRows rows: kLaneRows, or 0 for a leaf's constant
  };
  /// A column of ranks: those of one feature, with its missing values in one of the two directions.
  struct Column {
    std::uint32_t position;  // in used_features()
    bool missing_left;
  };
  /// One level of a symmetric tree: a bit that is set where rank > code.
  struct Question {
    std::uint32_t column;  // as a step's
    std::uint8_t code;
  };
  struct Tree {
    std::size_t first_step, first_question, first_leaf;
  };
  /// A node of a tree that is walked: the row goes to left, or behind it when its rank in the
  /// column exceeds the code. No rank exceeds a leaf's code, so a leaf points to itself.
  static constexpr std::uint8_t kLeafCode = 255;
  struct WalkNode {
    std::uint32_t left;
    std::uint16_t column;
    std::uint8_t code;
    std::uint8_t kind;  // of a leaf, in a tree that has kinds
  };
  /// Leaves with equal values are of one kind: two kinds in an unpruned tree of two classes.
  /// Reading a few kinds leaves the cache to the nodes. A tree with more than kMaxKinds has none.
  static constexpr std::size_t kMaxKinds = 256;

  std::vector<double> cuts;     // kCuts per used feature, ascending, padded with +infinity
  std::vector<Column> columns;  // missing left comes first of a pair
  std::vector<Tree> trees;      // n_trees + 1
  std::vector<Step> steps;
  std::vector<Question> questions;       // of symmetric trees, which have no steps
  std::vector<std::uint32_t> leaf_node;  // by leaf number: its node in the tree
  std::vector<double> leaf_value;        // by leaf number: its n_outputs values
  std::size_t n_slots = 0;               // results kept at a time, over all trees
  std::vector<WalkNode> nodes;           // as in the forest, where trees are walked; else empty
  std::vector<std::size_t> kind_begin;   // n_trees + 1, into kind_value
  std::vector<double> kind_value;        // by kind: its n_outputs values
};

/// Null where a tree has a category, or a feature too many thresholds. Where one tree has too many
/// leaves all are walked.
std::unique_ptr<const RankedForest> make_ranked(const Forest& forest);

/// A thread's own buffers, and the ranks of the block it works on.
class RankedBlock {
 public:
  explicit RankedBlock(const RankedForest& ranked);
  /// At most kRankRows rows.
  void load(const RowSource& source, std::size_t begin, std::size_t end);
  /// The numbers of the leaves that the block's rows reach in a tree; valid until the next call.
  const std::uint8_t* leaf_numbers(std::size_t tree);
  /// The ranks of a column.
  const std::uint8_t* column(std::size_t c) const { return ranks_[0].bytes + c * kRankRows; }

 private:
  struct alignas(kLaneRows) Lane {
    std::uint8_t bytes[kLaneRows];
  };

  const RankedForest& ranked_;
  std::size_t n_rows_ = 0;
  std::vector<double> numbers_;
  std::vector<Lane> ranks_, arena_;
  std::uint8_t lone_leaf_[kRankRows] = {};
};

/// Ranks row by row, for trees that are walked: each step asks for another column of the same row.
class RankedRows {
 public:
  explicit RankedRows(const RankedForest& ranked);
  /// Rows that stay near while a tree is walked.
  static std::size_t most_rows(const RankedForest& ranked);
  void load(const RowSource& source, std::size_t begin, std::size_t end);
  /// Finds the nodes that the rows end in; `nodes` are the tree's own.
  void walk(const RankedForest::WalkNode* nodes);
  const std::uint32_t* leaf_nodes() const { return leaf_.data(); }
  const std::uint8_t* leaf_kinds() const { return kind_.data(); }

 private:
  const RankedForest& ranked_;
  RankedBlock block_;
  std::size_t n_rows_ = 0;
  std::size_t stride_;  // bytes from row to row
  std::vector<std::uint8_t> ranks_;
  std::vector<std::uint32_t> row_, at_;  // of walks that have not arrived
  std::vector<std::uint32_t> leaf_;
  std::vector<std::uint8_t> kind_;
};

}  // namespace committee
