// Leaves renewed: for losses with kinks a Newton step is no good leaf, so that each leaf gets the
// constant of least loss for the residuals of its rows (Friedman 2001, algorithms 3 and 4): the
// median, a quantile, or Huber's centre.
//
// Under monotonic constraints a split on a constrained feature puts the middle of the constants of
// its two sides between the leaves of both.
//
// committee/losses/averages.py defines these constants, ties and rounding included, and
// gradient_boosting/monotone.py their order; the tests hold this against both: the same bits.
#pragma once

#include <span>

#include "committee/boosting/loss.hpp"
#include "committee/forest/forest.hpp"

namespace committee {

/// Whether leaves of this loss are renewed.
bool renews_leaves(LossKind kind);

/// The rows whose leaves are renewed; spans are borrowed.
struct RenewTask {
  Loss loss;
  std::size_t output = 0;
  std::span<const double> y, raw, weight;      // per row; weight may be empty
  std::span<const std::uint32_t> leaf;         // per row: its node
  std::span<const RowId> rows;                 // that count, ascending; empty: all
  std::span<const Node> nodes = {};            // of the tree, where `monotone` is given
  std::span<const std::int8_t> monotone = {};  // per feature -1, 0, 1; or empty
};

/// value[node] becomes the best constant of the node's rows; nodes without a row of weight keep
/// theirs. Leaves are shared among threads, each is done in one piece.
void renew_leaves(const RenewTask& task, std::span<double> value, const Context& context);

}  // namespace committee
