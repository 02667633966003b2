// Asking a tree in parts: a walk that takes both ways where a value is missing.
#include <optional>

#include "committee/growth/parts.hpp"
#include "forest/predict_walk.hpp"

namespace committee {
namespace {

constexpr std::size_t kBlockRows = 64;

/// One way through a tree, and how much of the row takes it.
struct Way {
  std::uint32_t node;
  double share;
};

/// Whether x goes left; none where it is missing.
std::optional<bool> goes_left(const ForestArrays& a, const Node& node, double x) {
  if ((node.feature & kCategorical) == 0) {
    return x != x ? std::nullopt : std::optional(x <= node.threshold);
  }
  const std::optional<std::uint64_t> code = level_of(a, node, x);
  return code ? std::optional(in_set(a, node, *code)) : std::nullopt;
}

/// Adds what one tree says of a row. Ways are taken from the left, so the order of sums is fixed.
void add_tree(const ForestArrays& a, std::size_t tree, const std::uint32_t* position,
              const double* row, std::vector<Way>& ways, double* out) {
  const std::size_t first = a.tree_begin[tree];
  ways.assign(1, {0, 1.0});
  while (!ways.empty()) {
    const Way way = ways.back();
    ways.pop_back();
    const std::size_t at = first + way.node;
    const Node& node = a.nodes[at];
    if (node.left == way.node) {
      for (std::size_t k = 0; k < a.n_outputs; ++k)
        out[k] += way.share * a.values[at * a.n_outputs + k];
      continue;
    }
    const std::size_t column = position == nullptr ? node.feature & kFeatureMask : position[at];
    if (const std::optional<bool> left = goes_left(a, node, row[column])) {
      ways.push_back({node.left + (*left ? 0 : 1), way.share});
      continue;
    }
    const double l = a.weight[first + node.left], r = a.weight[first + node.left + 1];
    ways.push_back({node.left + 1, way.share * (r / (l + r))});
    ways.push_back({node.left, way.share * (l / (l + r))});
  }
}

}  // namespace

void predict_in_parts(const Forest& forest, const Input& input, std::span<double> out,
                      const Context& context) {
  const ForestArrays& a = forest.arrays();
  if (a.weight.size() != a.nodes.size())
    throw std::invalid_argument("asking in parts needs the weights of all nodes");
  if (out.size() != input.n_rows * a.n_outputs)
    throw std::invalid_argument("out has " + std::to_string(out.size()) + " entries, must have " +
                                std::to_string(input.n_rows * a.n_outputs));
  const RowSource source(forest, input);
  const std::uint32_t* position = source.compact() ? forest.used_position().data() : nullptr;
  std::fill(out.begin(), out.end(), 0.0);
  parallel_for((input.n_rows + kBlockRows - 1) / kBlockRows, context, [&](std::size_t block, int) {
    const std::size_t begin = block * kBlockRows, end = std::min(begin + kBlockRows, input.n_rows);
    std::vector<double> rows((end - begin) * source.width());
    std::vector<Way> ways;
    source.load_rows(begin, end, rows.data());
    for (std::size_t r = begin; r < end; ++r) {
      for (std::size_t t = 0; t < forest.n_trees(); ++t) {
        add_tree(a, t, position, rows.data() + (r - begin) * source.width(), ways,
                 out.data() + r * a.n_outputs);
      }
    }
  });
}

}  // namespace committee
