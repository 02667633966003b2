#include "growth/leaves.hpp"

#include <algorithm>
#include <optional>

#include "forest/code_walk.hpp"

namespace committee {
namespace {

constexpr std::size_t kChunkRows = 8192;  // of one task

/// Rows [begin, begin + n) of the partition: their leaf, or what to add to the one they have.
struct Piece {
  std::size_t begin, n;
  std::uint32_t index;
  bool shift;
};

/// Calls visit(node, its index in the finished tree, the index of its left child) level by level.
template <class Visit>
void for_levels(const Grower& grower, Visit visit) {
  std::vector<NodeId> level;
  level.reserve(grower.size());
  level.push_back(0);
  for (std::size_t i = 0; i < level.size(); ++i) {
    const GrownNode& node = grower.node(level[i]);
    visit(node, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(level.size()));
    if (node.left == 0) continue;
    level.push_back(node.left);
    level.push_back(node.left + 1);
  }
}

std::vector<Piece> pieces_of(const Grower& grower) {
  std::vector<Piece> pieces;
  pieces.reserve(grower.size() / 2 + 1);  // a leaf is one, where it has not many rows
  for_levels(grower, [&](const GrownNode& node, std::uint32_t index, std::uint32_t left) {
    const bool leaf = node.left == 0;
    if (leaf ? node.marked : !grower.node(node.left).marked || left == node.left) return;
    for (std::size_t k = 0; k < node.rows; k += kChunkRows) {
      pieces.push_back({node.begin + k, std::min<std::size_t>(kChunkRows, node.rows - k),
                        leaf ? index : left - node.left, !leaf});
    }
  });
  return pieces;
}

/// First pieces of the tasks, so that each has rows enough, and an end.
std::vector<std::size_t> tasks_of(std::span<const Piece> pieces) {
  std::vector<std::size_t> begin{0};
  std::size_t rows = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    rows += pieces[i].n;
    if (rows < kChunkRows && i + 1 < pieces.size()) continue;
    begin.push_back(i + 1);
    rows = 0;
  }
  return begin;
}

/// A split as codes see it: the first n_left of them go left.
std::vector<std::uint32_t> codes_left(const ForestArrays& tree, const BinMapper& mapper) {
  std::vector<std::uint32_t> n_left(tree.nodes.size(), 0);
  for (std::size_t i = 0; i < n_left.size(); ++i) {
    const Node& node = tree.nodes[i];
    if (node.left == i || (node.feature & kCategorical) != 0) continue;
    const FeatureBins& bins = mapper.feature(node.feature & kFeatureMask);
    const auto above = std::upper_bound(bins.cuts.begin(), bins.cuts.end(), node.threshold);
    n_left[i] = static_cast<std::uint32_t>(above - bins.cuts.begin());
    if (node.threshold == std::numeric_limits<double>::max()) n_left[i] = bins.n_bins;
  }
  return n_left;
}

bool goes_left(const ForestArrays& tree, const Node& node, std::uint32_t code, std::uint32_t n_bins,
               std::uint32_t n_left) {
  if (code == n_bins) return (node.feature & kMissingLeft) != 0;
  if ((node.feature & kCategorical) == 0) return code < n_left;
  const auto set = static_cast<std::size_t>(node.threshold);
  return (tree.set_words[tree.set_begin[set] + code / 64] >> (code % 64) & 1) != 0;
}

/// The rows of one chunk that do not count.
std::vector<RowId> uncounted(const Stats& stats, std::size_t begin) {
  const std::size_t end = std::min(stats.n_rows, begin + kChunkRows);
  const std::span<const RowId> counted = stats.some_rows();
  auto next = std::lower_bound(counted.begin(), counted.end(), begin);
  std::vector<RowId> rows;
  rows.reserve(end - begin);
  for (std::size_t row = begin; row < end; ++row) {
    if (next != counted.end() && *next == row) {
      ++next;
    } else {
      rows.push_back(static_cast<RowId>(row));
    }
  }
  return rows;
}

}  // namespace

LeafRows rows_of_leaves(const Grower& grower, const Partition& partition) {
  LeafRows out;
  out.begin.push_back(0);
  for_levels(grower, [&](const GrownNode& node, std::uint32_t index, std::uint32_t) {
    if (node.left != 0) return;
    const auto rows = partition.rows(node.begin, node.rows);
    out.rows.insert(out.rows.end(), rows.begin(), rows.end());
    out.begin.push_back(out.rows.size());
    out.node.push_back(index);
  });
  return out;
}

void name_leaves(const Grower& grower, const Partition& partition, const Context& context,
                 std::uint32_t* leaf_of) {
  const std::vector<Piece> pieces = pieces_of(grower);
  const std::vector<std::size_t> tasks = tasks_of(pieces);
  parallel_for(tasks.size() - 1, context, [&](std::size_t k, int) {
    for (std::size_t i = tasks[k]; i < tasks[k + 1]; ++i) {
      const Piece& piece = pieces[i];
      for (const RowId row : partition.rows(piece.begin, piece.n)) {
        leaf_of[row] = piece.shift ? leaf_of[row] + piece.index : piece.index;
      }
    }
  });
}

void lead_uncounted(const ForestArrays& tree, const BinnedMatrix& matrix, const BinMapper& mapper,
                    const Stats& stats, const Context& context, std::uint32_t* leaf_of) {
  if (stats.counts_all()) return;
  const std::vector<std::uint32_t> n_left = codes_left(tree, mapper);
  const auto left_of = [&](std::uint32_t at, std::uint32_t code) {
    const Node& node = tree.nodes[at];
    return goes_left(tree, node, code, matrix.n_bins[node.feature & kFeatureMask], n_left[at]);
  };
  std::optional<CodeWalk> walk;
  if (matrix.layout == Layout::dense8) walk.emplace(tree, matrix, left_of);
  const std::size_t n_chunks = (matrix.n_rows + kChunkRows - 1) / kChunkRows;
  parallel_for(n_chunks, context, [&](std::size_t k, int) {
    const std::vector<RowId> rows = uncounted(stats, k * kChunkRows);
    if (walk) return walk->lead(rows, leaf_of);
    for (const RowId row : rows) {
      std::uint32_t at = 0;
      while (tree.nodes[at].left != at) {
        const Node& node = tree.nodes[at];
        const bool left = left_of(at, matrix.code(row, node.feature & kFeatureMask));
        at = node.left + (left ? 0 : 1);
      }
      leaf_of[row] = at;
    }
  });
}

}  // namespace committee
