// Losses over pairs of rows of one query, and the measure they are after.
#include "bindings.hpp"
#include "committee/boosting/ranking.hpp"

namespace committee::bindings {
namespace {

using Begins = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Result = nb::ndarray<nb::numpy, double>;

Queries as_queries(const DoubleArray& relevance, const Begins& begin) {
  return {as_span(relevance), {begin.data(), begin.shape(0)}};
}

Gains as_gains(std::optional<std::size_t> k, bool linear) {
  Gains gains;
  if (k) gains.k = *k;
  gains.linear = linear;
  return gains;
}

/// fill(gradient, hessian, context), and both as arrays.
template <class F>
std::pair<Result, Result> two_of(std::size_t n, int n_threads, F fill) {
  std::vector<double> gradient(n), hessian(n);
  without_gil(n_threads, [&](const Context& context) {
    fill(gradient, hessian, context);
    return 0;
  });
  return {to_numpy(std::move(gradient), {n}), to_numpy(std::move(hessian), {n})};
}

std::pair<Result, Result> lambdas(const DoubleArray& score, const DoubleArray& relevance,
                                  const Begins& begin, std::optional<std::size_t> k, bool linear,
                                  double sigmoid, bool normalize, int n_threads) {
  const LambdaParams params{as_gains(k, linear), sigmoid, normalize};
  const Queries queries = as_queries(relevance, begin);
  return two_of(score.shape(0), n_threads, [&](auto& gradient, auto& hessian, const Context& c) {
    lambda_gradients(as_span(score), queries, params, gradient, hessian, c);
  });
}

std::pair<Result, Result> pairs(const DoubleArray& score, const DoubleArray& relevance,
                                const Begins& begin, double sigmoid, int n_threads) {
  const Queries queries = as_queries(relevance, begin);
  return two_of(score.shape(0), n_threads, [&](auto& gradient, auto& hessian, const Context& c) {
    pairwise_gradients(as_span(score), queries, sigmoid, gradient, hessian, c);
  });
}

Result pair_values(const DoubleArray& score, const DoubleArray& relevance, const Begins& begin,
                   double sigmoid, int n_threads) {
  const std::size_t n = score.shape(0);
  std::vector<double> out(n);
  without_gil(n_threads, [&](const Context& context) {
    pairwise_values(as_span(score), as_queries(relevance, begin), sigmoid, out, context);
    return 0;
  });
  return to_numpy(std::move(out), {n});
}

Result ndcg_of(const DoubleArray& score, const DoubleArray& relevance, const Begins& begin,
               std::optional<std::size_t> k, bool linear, int n_threads) {
  if (begin.shape(0) == 0) throw std::invalid_argument("begin must rise from 0");
  const std::size_t n_groups = begin.shape(0) - 1;
  std::vector<double> out(n_groups);
  without_gil(n_threads, [&](const Context& context) {
    ndcg(as_span(score), as_queries(relevance, begin), as_gains(k, linear), out, context);
    return 0;
  });
  return to_numpy(std::move(out), {n_groups});
}

}  // namespace

void bind_ranking(nb::module_& m) {
  m.def("lambda_gradients", &lambdas, nb::arg("score").noconvert(),
        nb::arg("relevance").noconvert(), nb::arg("begin").noconvert(), nb::kw_only(),
        nb::arg("k") = nb::none(), nb::arg("linear") = false, nb::arg("sigmoid") = 1.0,
        nb::arg("normalize") = true, nb::arg("n_threads") = 1,
        "Gradient and hessian of LambdaMART; rows of a group lie together.");
  m.def("pairwise_gradients", &pairs, nb::arg("score").noconvert(),
        nb::arg("relevance").noconvert(), nb::arg("begin").noconvert(), nb::kw_only(),
        nb::arg("sigmoid") = 1.0, nb::arg("n_threads") = 1, "Gradient and hessian of RankNet.");
  m.def("pairwise_values", &pair_values, nb::arg("score").noconvert(),
        nb::arg("relevance").noconvert(), nb::arg("begin").noconvert(), nb::kw_only(),
        nb::arg("sigmoid") = 1.0, nb::arg("n_threads") = 1,
        "RankNet's loss, half of each pair's to each of its rows.");
  m.def("ndcg", &ndcg_of, nb::arg("score").noconvert(), nb::arg("relevance").noconvert(),
        nb::arg("begin").noconvert(), nb::kw_only(), nb::arg("k") = nb::none(),
        nb::arg("linear") = false, nb::arg("n_threads") = 1, "NDCG@k of each group.");
}

}  // namespace committee::bindings
