// The form of a forest for large batches: small integers instead of thresholds, and trees without
// walking.
//
// All thresholds of a feature are sorted once; a value becomes its rank among them, one byte, found
// once per row and used by every tree. All that trees can ask is then known in advance: for each
// threshold a plane of bits, one a row, set where the rank is above. A tree of at most 256 leaves
// is a circuit of such planes (circuit.hpp), which touches every node, yet costs less than walking,
// since nothing branches and 512 rows go at once. A symmetric tree, whose nodes of a level all ask
// the same, is one comparison of ranks a level: its answers are the bits of the leaf's number.
// Larger trees are walked, in nodes of half the size, many rows through one tree before the next
// tree takes its place in the cache.
#pragma once

#include "bins/search.hpp"
#include "forest/circuit.hpp"
#include "forest/predict_rows.hpp"

namespace committee {

/// Rows of a block of ranks.
inline constexpr std::size_t kRankRows = 512;

struct RankedForest {
  static constexpr std::size_t kMaxLeaves = 256;    // of a tree
  static constexpr std::size_t kMaxBits = 12;       // of numbers of leaves, each with its values
  static constexpr std::size_t kMaxPlanes = 60000;  // of conditions; others are left for results
  static constexpr std::size_t kCuts = 255;         // thresholds of a feature

  /// A column of ranks: those of one feature, with its missing values in one of the two directions.
  struct Column {
    std::uint32_t position;  // in used_features()
    std::uint32_t n_cuts;
    bool missing_left;
    std::uint32_t first_plane;  // where rank 0 has its plane, that of cut c follows at c + 1
  };
  /// One level of a symmetric tree: a bit that is set where rank > code.
  struct Question {
    std::uint32_t column;  // into the block of ranks, in bytes
    std::uint8_t code;
  };
  struct Tree {
    std::size_t first_gate, first_bit, first_question, first_leaf;
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

  // By used feature: its thresholds. Those of floats answer numbers that are float32.
  std::vector<SearchTable<float>> floats;
  std::vector<SearchTable<double>> doubles;
  std::vector<Column> columns;  // missing left comes first of a pair
  std::vector<Tree> trees;      // n_trees + 1
  std::vector<Gate> gates;
  std::vector<PlaneId> bits;             // planes of the numbers of leaves
  std::vector<Question> questions;       // of symmetric trees, which have no gates
  std::vector<std::uint32_t> leaf_node;  // by leaf number: its node in the tree
  std::vector<double> leaf_value;        // by leaf number, where there is one output
  std::size_t n_planes = 0;              // conditions and results; 0 where all trees are symmetric
  std::vector<WalkNode> nodes;           // as in the forest, where trees are walked; else empty
  std::vector<std::size_t> kind_begin;   // n_trees + 1, into kind_value
  std::vector<double> kind_value;        // by kind: its n_outputs values
};

/// Null where a tree has a category, or a feature too many thresholds. Where one tree has too many
/// leaves or bits, or all together too many thresholds, all are walked.
std::unique_ptr<const RankedForest> make_ranked(const Forest& forest);

/// A thread's own buffers, and the ranks of the block it works on.
class RankedBlock {
 public:
  /// Row r has bit r / kLanes of lane r % kLanes: so bits of 16 planes are turned into numbers of
  /// rows that stand side by side.
  static constexpr std::size_t kLanes = kRankRows / 16;
  struct alignas(64) Plane {
    std::uint16_t lane[kLanes];
  };

  explicit RankedBlock(const RankedForest& ranked);
  /// At most kRankRows rows.
  void load(const RowSource& source, std::size_t begin, std::size_t end);
  /// The numbers of the leaves that the block's rows reach in a tree, into kRankRows.
  void find_leaves(std::size_t tree, std::uint16_t* numbers);
  /// The ranks of a column.
  const std::uint8_t* column(std::size_t c) const { return ranks_.data() + c * kRankRows; }

 private:
  /// column(position): the numbers of a used feature.
  template <class Real, class Column>
  void rank_columns(const std::vector<SearchTable<Real>>& tables, const Column& column);

  const RankedForest& ranked_;
  std::size_t n_rows_ = 0;
  std::vector<double> numbers_;  // of sparse rows
  std::vector<std::uint8_t> ranks_;
  std::unique_ptr<Plane[]> planes_;  // null where no tree has gates
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
