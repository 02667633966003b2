// The walkers. Without missing values a numeric tree needs one comparison a step; all else takes
// the careful step.
#include "forest/predict_walk.hpp"

#include <algorithm>

namespace committee {
namespace {

struct TreeView {
  const Node* nodes;
  const std::uint32_t* position;
  const ForestArrays* arrays;
};

template <bool kPosition>
std::size_t column_of(const TreeView& tree, std::uint32_t at) {
  if constexpr (kPosition) return tree.position[at];
  return tree.nodes[at].feature & kFeatureMask;
}

/// No value is missing and the tree is numeric.
template <bool kPosition>
struct PlainStep {
  template <class T>
  static std::uint32_t next(const TreeView& tree, const T* row, std::uint32_t at) {
    const Node& node = tree.nodes[at];
    const double x = static_cast<double>(row[column_of<kPosition>(tree, at)]);
    return node.left + static_cast<std::uint32_t>(x > node.threshold);
  }
};

bool goes_left_by_set(const ForestArrays& a, const Node& node, double x) {
  const std::optional<std::uint64_t> code = level_of(a, node, x);
  if (!code) return (node.feature & kMissingLeft) != 0;
  return in_set(a, node, *code);
}

template <bool kPosition>
struct CarefulStep {
  template <class T>
  static std::uint32_t next(const TreeView& tree, const T* row, std::uint32_t at) {
    const Node& node = tree.nodes[at];
    const double x = static_cast<double>(row[column_of<kPosition>(tree, at)]);
    if ((node.feature & kCategorical) != 0) {
      return node.left + static_cast<std::uint32_t>(!goes_left_by_set(*tree.arrays, node, x));
    }
    const auto missing = static_cast<std::uint32_t>(x != x);
    const std::uint32_t missing_left = (node.feature / kMissingLeft) & 1u;
    const std::uint32_t right =
        static_cast<std::uint32_t>(!(x <= node.threshold)) ^ (missing & missing_left);
    // A leaf keeps its row even if the feature that it pretends to look at is missing.
    return node.left + (right & static_cast<std::uint32_t>(node.left != at));
  }
};

/// kInFlight walks, the k-th through tree_of(k) with row_of(k), until all have arrived.
template <class Step, class TreeOf, class RowOf>
inline void walk(const TreeOf& tree_of, const RowOf& row_of, std::size_t depth,
                 std::uint32_t* leaf) {
  std::uint32_t at[kInFlight] = {};
  for (std::size_t d = 0; d < depth; d += 2) {
    for (std::size_t k = 0; k < kInFlight; ++k) at[k] = Step::next(tree_of(k), row_of(k), at[k]);
    std::uint32_t moved = 0;
    for (std::size_t k = 0; k < kInFlight; ++k) {
      const std::uint32_t next = Step::next(tree_of(k), row_of(k), at[k]);
      moved |= next ^ at[k];
      at[k] = next;
    }
    if (moved == 0) break;
  }
  std::copy(at, at + kInFlight, leaf);
}

template <class Step, class T>
void walk_rows_with(const TreeView& tree, std::size_t depth, RowView<T> rows, std::size_t n,
                    std::uint32_t* leaf) {
  for (std::size_t begin = 0; begin < n; begin += kInFlight) {
    // The last group overlaps the one before: walking a row twice is cheaper than a loop of its
    // own.
    const std::size_t first = std::min(begin, n - kInFlight);
    const T* row = rows.row(first);
    walk<Step>([&](std::size_t) -> const TreeView& { return tree; },
               [&](std::size_t k) { return row + k * rows.stride; }, depth, leaf + first);
  }
}

TreeView view_of(const Forest& forest, std::size_t tree, const std::uint32_t* position) {
  const ForestArrays& a = forest.arrays();
  const std::size_t begin = a.tree_begin[tree];
  return {a.nodes.data() + begin, position == nullptr ? nullptr : position + begin, &a};
}

}  // namespace

template <class T>
void walk_rows(const Forest& forest, std::size_t tree, RowView<T> rows, std::size_t n,
               const std::uint32_t* position, bool missing, std::uint32_t* leaf) {
  const TreeView view = view_of(forest, tree, position);
  const std::size_t depth = forest.max_depth(tree);
  const bool careful = missing || forest.has_categorical(tree);
  if (position == nullptr) {
    if (careful) return walk_rows_with<CarefulStep<false>>(view, depth, rows, n, leaf);
    return walk_rows_with<PlainStep<false>>(view, depth, rows, n, leaf);
  }
  if (careful) return walk_rows_with<CarefulStep<true>>(view, depth, rows, n, leaf);
  return walk_rows_with<PlainStep<true>>(view, depth, rows, n, leaf);
}

template <class T>
void walk_trees(const Forest& forest, std::size_t tree, std::size_t n, const T* row,
                const std::uint32_t* position, bool missing, std::uint32_t* leaf) {
  TreeView views[kInFlight];
  std::uint32_t all[kInFlight];
  std::size_t depth = 0;
  bool careful = missing;
  for (std::size_t k = 0; k < kInFlight; ++k) {
    const std::size_t t = tree + std::min(k, n - 1);
    views[k] = view_of(forest, t, position);
    depth = std::max(depth, forest.max_depth(t));
    careful = careful || forest.has_categorical(t);
  }
  const auto tree_of = [&](std::size_t k) -> const TreeView& { return views[k]; };
  const auto row_of = [&](std::size_t) { return row; };
  if (position == nullptr) {
    careful ? walk<CarefulStep<false>>(tree_of, row_of, depth, all)
            : walk<PlainStep<false>>(tree_of, row_of, depth, all);
  } else {
    careful ? walk<CarefulStep<true>>(tree_of, row_of, depth, all)
            : walk<PlainStep<true>>(tree_of, row_of, depth, all);
  }
  std::copy(all, all + n, leaf);
}

template void walk_rows<float>(const Forest&, std::size_t, RowView<float>, std::size_t,
                               const std::uint32_t*, bool, std::uint32_t*);
template void walk_rows<double>(const Forest&, std::size_t, RowView<double>, std::size_t,
                                const std::uint32_t*, bool, std::uint32_t*);
template void walk_trees<float>(const Forest&, std::size_t, std::size_t, const float*,
                                const std::uint32_t*, bool, std::uint32_t*);
template void walk_trees<double>(const Forest&, std::size_t, std::size_t, const double*,
                                 const std::uint32_t*, bool, std::uint32_t*);

}  // namespace committee
