#include "growth/leaf_groups.hpp"

#include <algorithm>

namespace committee {
namespace {

constexpr std::size_t kLeastRows = 1 << 14;  // of a chunk: fewer are not worth a thread

}  // namespace

LeafRows group_by_leaf(std::span<const std::uint32_t> leaf, std::span<const RowId> rows,
                       std::size_t n_nodes, const Context& context) {
  const std::size_t n = rows.empty() ? leaf.size() : rows.size();
  const auto threads = static_cast<std::size_t>(std::max(context.n_threads, 1));
  const std::size_t n_chunks = std::clamp<std::size_t>(n / kLeastRows, 1, threads);
  const auto row_at = [&](std::size_t i) { return rows.empty() ? static_cast<RowId>(i) : rows[i]; };
  const auto chunk = [&](std::size_t c) { return n * c / n_chunks; };
  // A counting sort in chunks: how many rows of each leaf a chunk has says where it writes them.
  std::vector<std::uint64_t> at(n_chunks * n_nodes, 0);
  parallel_for(n_chunks, context, [&](std::size_t c, int) {
    std::uint64_t* count = at.data() + c * n_nodes;
    for (std::size_t i = chunk(c); i < chunk(c + 1); ++i) ++count[leaf[row_at(i)]];
  });
  LeafRows groups;
  std::uint64_t sum = 0;
  for (std::size_t node = 0; node < n_nodes; ++node) {
    const std::uint64_t begin = sum;
    for (std::size_t c = 0; c < n_chunks; ++c) {
      const std::uint64_t count = at[c * n_nodes + node];
      at[c * n_nodes + node] = sum;
      sum += count;
    }
    if (sum == begin) continue;
    groups.begin.push_back(begin);
    groups.node.push_back(static_cast<std::uint32_t>(node));
  }
  groups.begin.push_back(sum);
  groups.rows.resize(n);
  parallel_for(n_chunks, context, [&](std::size_t c, int) {
    std::uint64_t* to = at.data() + c * n_nodes;
    for (std::size_t i = chunk(c); i < chunk(c + 1); ++i) {
      const RowId row = row_at(i);
      groups.rows[to[leaf[row]]++] = row;
    }
  });
  return groups;
}

}  // namespace committee
