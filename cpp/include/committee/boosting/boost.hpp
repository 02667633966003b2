// Gradient boosting, the rounds themselves: derivatives of the loss, a tree for each output, scores
// moved by its leaves. One call makes many rounds, so that small data does not pay for crossing
// into the engine; whoever needs to look between rounds asks for one at a time, and gets the same
// bits.
#pragma once

#include "committee/bins/binning.hpp"
#include "committee/boosting/linear.hpp"
#include "committee/boosting/loss.hpp"
#include "committee/forest/forest.hpp"
#include "committee/search/split.hpp"

namespace committee {

/// What stays the same from round to round; spans are borrowed.
struct BoostTask {
  BinnedMatrix& matrix;  // spread rows are given their statistics, round by round
  const BinMapper& mapper;
  Loss loss;
  std::span<const double> y;               // per row
  std::span<const double> weight;          // per row, or empty
  std::span<const std::uint64_t> row_key;  // per row: what sampling is drawn by; or empty
  std::size_t n_outputs = 1;
  TreeParams params;  // of each tree; the seed is that of all rounds
  double learning_rate = 0.1;
  double subsample = 1;                // share of the rows that a round sees, each drawn by itself
  bool gradient_based = false;         // whether by its derivatives (gradient_draw.hpp)
  std::size_t n_parallel = 1;          // trees of a round and output, whose mean counts
  const Input* table = nullptr;        // the rows as they are: leaves become linear
  double slope_l2 = 0;                 // on their slopes
  std::vector<Loss> column_loss = {};  // where y has several columns, one after the other: of each
  bool vector_leaves = false;  // one tree a round, whose leaves hold a number for each output
};

/// The trees of rounds [first, first + n), a forest for each output, or one of vector leaves. raw:
/// n_outputs * n_rows scores, one output after the other, which are moved by learning_rate times
/// each tree, or times the mean of the trees that a round makes of the same derivatives. What a
/// tree draws depends on the seed, its number (round * n_parallel + which of the round), and the
/// rows' keys alone.
std::vector<Forest> boost(const BoostTask& task, std::size_t first, std::size_t n,
                          std::span<double> raw, const Context& context);

/// The same with linear leaves; the task has a table.
std::vector<LinearForest> boost_linear(const BoostTask& task, std::size_t first, std::size_t n,
                                       std::span<double> raw, const Context& context);

/// The pieces of it that draw.
std::uint64_t tree_seed(std::uint64_t seed, std::size_t number, std::size_t output);
/// The rows that a tree sees: the same for all outputs, whatever the order of the rows; at least
/// one.
std::vector<RowId> rows_of_round(std::uint64_t seed, std::size_t number,
                                 std::span<const std::uint64_t> row_key, double share,
                                 const Context& context = {});

}  // namespace committee
