// The questions asked of a forest, over one plan: blocks of rows in parallel, inside a block
// tree after tree.
//
// Whatever finds the leaves (a walk through the nodes, or the ranked form for large batches), it
// hands them to an `Answer` block by block in tree order, so each row's sum is always taken in the
// same order.
#include "committee/forest/predict.hpp"

#include <algorithm>
#include <optional>

#include "forest/predict_answers.hpp"
#include "forest/predict_walk.hpp"

namespace committee {
namespace {

/// Rows of a block: enough to use a tree's nodes often while they are near, few enough to stay near
/// themselves.
constexpr std::size_t kBlockRows = 512;
/// Trees that leave the nearest caches anyway are used for more rows before the next one comes.
constexpr std::size_t kLargeBlockRows = 2048;
constexpr std::size_t kLargeTree = 4096;
constexpr std::size_t kMinBlockRows = 64;
constexpr std::size_t kBlockNumbers = 1 << 16;
/// Row times tree below which waking other threads costs more than it brings.
constexpr std::size_t kSmallWork = 4096;

/// What one thread needs while it works on a block; for few rows and features it lives on the stack
/// alone.
struct Scratch {
  static constexpr std::size_t kSmall = 256;
  double small[kSmall] = {};
  std::vector<double> rows;
  std::uint32_t leaf[kLargeBlockRows];

  double* rows_of(std::size_t size) {
    if (size <= kSmall) return small;
    if (rows.size() < size) rows.resize(size);
    return rows.data();
  }
};

template <class T, class Answer>
void walk_block(const Forest& forest, RowView<T> rows, const std::uint32_t* position, bool missing,
                std::size_t begin, std::size_t end, std::uint32_t* leaf, const Answer& answer) {
  const ForestArrays& a = forest.arrays();
  const auto table = [&](std::size_t t) {
    return LeafTable{a.values.data() + a.tree_begin[t] * a.n_outputs, nullptr};
  };
  const std::size_t n = end - begin;
  if (n >= kInFlight) {
    for (std::size_t t = 0; t < forest.n_trees(); ++t) {
      walk_rows(forest, t, rows, n, position, missing, leaf);
      answer.add(t, begin, n, leaf, table(t));
    }
    return;
  }
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t t = 0; t < forest.n_trees(); t += kInFlight) {
      const std::size_t n_trees = std::min(kInFlight, forest.n_trees() - t);
      walk_trees(forest, t, n_trees, rows.row(r), position, missing, leaf);
      for (std::size_t k = 0; k < n_trees; ++k)
        answer.add(t + k, begin + r, 1, leaf + k, table(t + k));
    }
  }
}

template <class Answer>
void answer_block(const Forest& forest, const RowSource& source, std::size_t begin, std::size_t end,
                  Scratch& scratch, const Answer& answer) {
  const double* buffer = nullptr;
  if (source.form() == RowSource::Form::buffer) {
    double* rows = scratch.rows_of((end - begin) * source.width());
    source.load_rows(begin, end, rows);
    buffer = rows;
  }
  const bool missing = source.has_missing(begin, end, buffer);
  const std::uint32_t* position = source.compact() ? forest.used_position().data() : nullptr;
  const auto walk = [&]<class T>(RowView<T> rows) {
    walk_block(forest, rows, position, missing, begin, end, scratch.leaf, answer);
  };
  answer.begin(begin, end - begin);
  switch (source.form()) {
    case RowSource::Form::float_rows:
      return walk(source.view<float>(begin));
    case RowSource::Form::double_rows:
      return walk(source.view<double>(begin));
    case RowSource::Form::buffer:
      return walk(RowView<double>{buffer, source.width()});
  }
}

std::size_t block_rows(std::size_t n_rows, std::size_t width, std::size_t most, int n_threads) {
  const std::size_t near = std::max(kMinBlockRows / 4, kBlockNumbers / width);
  const std::size_t tasks = n_threads <= 1 ? 1 : 4 * static_cast<std::size_t>(n_threads);
  const std::size_t fair = std::max(kMinBlockRows, n_rows / tasks);
  return std::min({most, near, fair});
}

/// Blocks of rows on all threads, each thread with a Block of its own. add(block, begin, n) adds
/// what all trees say of the loaded rows.
template <class Block, class Answer, class Add>
void ask_blocks(const RankedForest& ranked, const RowSource& source, std::size_t n_rows,
                std::size_t rows, const Context& context, const Answer& answer, const Add& add) {
  std::vector<std::optional<Block>> blocks(
      static_cast<std::size_t>(std::max(1, context.n_threads)));
  parallel_for((n_rows + rows - 1) / rows, context, [&](std::size_t task, int slot) {
    auto& block = blocks[static_cast<std::size_t>(slot)];
    if (!block) block.emplace(ranked);
    const std::size_t begin = task * rows, end = std::min(begin + rows, n_rows);
    block->load(source, begin, end);
    answer.begin(begin, end - begin);
    add(*block, begin, end - begin);
  });
}

/// Trees of few leaves, as circuits or questions.
template <class Answer>
void compute_trees(const Forest& forest, const RankedForest& ranked, RankedBlock& block,
                   std::size_t begin, std::size_t n, const Answer& answer) {
  const ForestArrays& a = forest.arrays();
  const std::size_t k = a.n_outputs, n_trees = forest.n_trees();
  std::uint16_t leaf[kTogether * kRankRows];
  std::size_t t = 0;
  if constexpr (requires { answer.add_together(t, begin, n, leaf, nullptr); }) {
    for (; k == 1 && t + kTogether <= n_trees; t += kTogether) {
      const double* values[kTogether];
      for (std::size_t i = 0; i < kTogether; ++i) {
        block.find_leaves(t + i, leaf + i * kRankRows);
        values[i] = ranked.leaf_value.data() + ranked.trees[t + i].first_leaf;
      }
      answer.add_together(t, begin, n, leaf, values);
    }
  }
  for (; t < n_trees; ++t) {
    block.find_leaves(t, leaf);
    const std::size_t first = ranked.trees[t].first_leaf;
    const std::uint32_t* const node = ranked.leaf_node.data() + first;
    if (k == 1) {
      answer.add(t, begin, n, leaf, LeafTable{ranked.leaf_value.data() + first, node});
      continue;
    }
    for (std::size_t r = 0; r < n; ++r) leaf[r] = static_cast<std::uint16_t>(node[leaf[r]]);
    answer.add(t, begin, n, leaf, LeafTable{a.values.data() + a.tree_begin[t] * k, nullptr});
  }
}

/// Trees of many leaves.
template <class Answer>
void walk_trees(const Forest& forest, const RankedForest& ranked, RankedRows& block,
                std::size_t begin, std::size_t n, const Answer& answer) {
  const ForestArrays& a = forest.arrays();
  for (std::size_t t = 0; t < forest.n_trees(); ++t) {
    const std::uint64_t first = a.tree_begin[t];
    block.walk(ranked.nodes.data() + first);
    if (const std::size_t kind = ranked.kind_begin[t];
        Answer::kOfValues && kind < ranked.kind_begin[t + 1]) {
      const LeafTable kinds{ranked.kind_value.data() + kind, nullptr};
      answer.add(t, begin, n, block.leaf_kinds(), kinds);
    } else {
      const LeafTable nodes{a.values.data() + first * a.n_outputs, nullptr};
      answer.add(t, begin, n, block.leaf_nodes(), nodes);
    }
  }
}

template <class Answer>
void ask_ranked(const Forest& forest, const RankedForest& ranked, const RowSource& source,
                std::size_t n_rows, const Context& context, const Answer& answer) {
  if (ranked.nodes.empty()) {
    const auto compute = [&](RankedBlock& block, std::size_t begin, std::size_t n) {
      compute_trees(forest, ranked, block, begin, n, answer);
    };
    ask_blocks<RankedBlock>(ranked, source, n_rows, kRankRows, context, answer, compute);
  } else {
    const auto walk = [&](RankedRows& block, std::size_t begin, std::size_t n) {
      walk_trees(forest, ranked, block, begin, n, answer);
    };
    const std::size_t most = RankedRows::most_rows(ranked);
    const std::size_t rows = block_rows(n_rows, 1, most, context.n_threads);
    ask_blocks<RankedRows>(ranked, source, n_rows, rows, context, answer, walk);
  }
}

template <class Answer>
void ask(const Forest& forest, const Input& input, const Context& context, const Answer& answer) {
  const RowSource source(forest, input);
  const std::size_t n_rows = input.n_rows;
  if (const RankedForest* ranked = forest.ranked(n_rows)) {
    return ask_ranked(forest, *ranked, source, n_rows, context, answer);
  }
  const bool small = n_rows * std::max<std::size_t>(1, forest.n_trees()) <= kSmallWork;
  const bool large = forest.n_nodes() / std::max<std::size_t>(1, forest.n_trees()) >= kLargeTree;
  const std::size_t most = large ? kLargeBlockRows : kBlockRows;
  const std::size_t rows = block_rows(n_rows, source.width(), most, small ? 1 : context.n_threads);
  const std::size_t n_blocks = (n_rows + rows - 1) / rows;
  if (n_blocks <= 1) {
    if (n_rows == 0) return;
    Scratch scratch;
    return answer_block(forest, source, 0, n_rows, scratch, answer);
  }
  Context threads = context;
  threads.n_threads = small ? 1 : std::max(1, context.n_threads);
  std::vector<Scratch> scratch(static_cast<std::size_t>(threads.n_threads));
  parallel_for(n_blocks, threads, [&](std::size_t block, int slot) {
    const std::size_t begin = block * rows, end = std::min(begin + rows, n_rows);
    answer_block(forest, source, begin, end, scratch[static_cast<std::size_t>(slot)], answer);
  });
}

void check_length(const char* what, std::size_t size, std::size_t expected, bool optional) {
  if (size == expected || (optional && size == 0)) return;
  throw std::invalid_argument(std::string(what) + " has " + std::to_string(size) +
                              " entries, must have " + std::to_string(expected) +
                              (optional ? " or none" : ""));
}

}  // namespace

void predict(const Forest& forest, const Input& input, std::span<const double> weight,
             std::span<const double> intercept, std::span<double> out, const Context& context) {
  const std::size_t k = forest.arrays().n_outputs;
  check_length("weight", weight.size(), forest.n_trees(), true);
  check_length("intercept", intercept.size(), k, true);
  check_length("out", out.size(), input.n_rows * k, false);
  ask(forest, input, context, Sums{k, weight, intercept, out});
}

void predict_members(const Forest& forest, const Input& input, std::span<double> out,
                     const Context& context) {
  const std::size_t k = forest.arrays().n_outputs;
  check_length("out", out.size(), forest.n_trees() * input.n_rows * k, false);
  ask(forest, input, context, Members{k, input.n_rows, out});
}

void predict(const LinearForest& forest, const Input& input, std::span<const double> weight,
             std::span<const double> intercept, std::span<double> out, const Context& context) {
  check_length("weight", weight.size(), forest.trees().n_trees(), true);
  check_length("intercept", intercept.size(), 1, true);
  check_length("out", out.size(), input.n_rows, false);
  ask(forest.trees(), input, context, LinearSums{{forest, input}, weight, intercept, out});
}

void predict_members(const LinearForest& forest, const Input& input, std::span<double> out,
                     const Context& context) {
  check_length("out", out.size(), forest.trees().n_trees() * input.n_rows, false);
  ask(forest.trees(), input, context, LinearMembers{{forest, input}, out});
}

void predict_left_out(const Forest& forest, const Input& input,
                      std::span<const std::uint8_t> left_out, std::span<double> out,
                      std::span<std::uint32_t> count, const Context& context) {
  const std::size_t k = forest.arrays().n_outputs, n_bytes = (input.n_rows + 7) / 8;
  check_length("left_out", left_out.size(), forest.n_trees() * n_bytes, false);
  check_length("out", out.size(), input.n_rows * k, false);
  check_length("count", count.size(), input.n_rows, false);
  ask(forest, input, context, LeftOutSums{k, n_bytes, left_out, out, count});
}

void apply(const Forest& forest, const Input& input, std::span<std::uint32_t> out,
           const Context& context) {
  check_length("out", out.size(), input.n_rows * forest.n_trees(), false);
  ask(forest, input, context, Leaves{forest.n_trees(), out});
}

}  // namespace committee
