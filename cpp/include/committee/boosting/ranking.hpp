// Learning to rank: gradients of LambdaMART and RankNet, and NDCG, for rows that lie together by
// query. A group is computed by one thread in a fixed order, so that results have the same bits on
// any number of threads and in any instruction set.
//
// LambdaMART (Burges 2010, MSR-TR-2010-82): each pair of documents of different relevance pulls the
// better one up and the worse one down by
//   lambda = sigmoid * p * |delta NDCG|,  p = 1 / (1 + exp(sigmoid * (score_better -
//   score_worse))),
// where delta NDCG is what swapping their places would change. RankNet (Burges et al. 2005) is the
// same with weight 1 for every pair, and then it is the gradient of a function.
#pragma once

#include <limits>

#include "committee/base/parallel.hpp"
#include "committee/base/types.hpp"

namespace committee {

/// Rows of one query lie together: group g has the rows begin[g] to begin[g + 1] - 1.
struct Queries {
  std::span<const double> relevance;
  std::span<const std::int64_t> begin;
};

/// How far down a list NDCG looks, and what a document is worth there.
struct Gains {
  std::size_t k = std::numeric_limits<std::size_t>::max();
  bool linear = false;  // the relevance itself instead of 2^relevance - 1
};

/// Relevance that 2^relevance - 1 allows, the bound of XGBoost: beyond it the best document is all.
inline constexpr double kMostExponent = 31;
/// Relevance that linear gains allow: sums of them stay finite.
inline constexpr double kMostLinear = 1e150;

struct LambdaParams {
  Gains gains;
  double sigmoid = 1;
  /// As LightGBM's lambdarank_norm: a pair's weight is divided by .01 + the distance of its scores
  /// (unless all scores of the group are equal), and a group's lambdas and hessians are multiplied
  /// by log2(1 + S) / S, S being the sum of all |lambda| of the group.
  bool normalize = true;
};

/// Gradient and hessian of LambdaMART. Only pairs with a document among the first k by score count,
/// delta NDCG is relative to the ideal DCG@k, and discounts go on beyond k, all as in LightGBM and
/// XGBoost. Equal scores rank by row. The arguments' lengths and values are checked
/// (std::invalid_argument).
void lambda_gradients(std::span<const double> score, const Queries& queries,
                      const LambdaParams& params, std::span<double> gradient,
                      std::span<double> hessian, const Context& context);

/// Gradient and hessian of RankNet, over all pairs of different relevance.
void pairwise_gradients(std::span<const double> score, const Queries& queries, double sigmoid,
                        std::span<double> gradient, std::span<double> hessian,
                        const Context& context);

/// RankNet's loss, log(1 + exp(-sigmoid * difference)) of each pair, half of it to each document.
void pairwise_values(std::span<const double> score, const Queries& queries, double sigmoid,
                     std::span<double> value, const Context& context);

/// NDCG@k of each group (Järvelin and Kekäläinen 2002), discounts 1 / log2(2 + position). Equal
/// scores rank by row. A group in which nothing has a gain counts 1, as in LightGBM.
void ndcg(std::span<const double> score, const Queries& queries, const Gains& gains,
          std::span<double> out, const Context& context);

}  // namespace committee
