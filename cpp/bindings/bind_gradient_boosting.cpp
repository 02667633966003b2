// Gradient boosting: losses, their derivatives, rounds.
#include "bindings.hpp"
#include "committee/boosting/boost.hpp"

namespace committee::bindings {

const Input& input_of(nb::handle table);

namespace {

using Keys = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Leaves = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using FloatsOut = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Scores = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ScoreTable = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void gradients(const Loss& loss, const DoubleArray& y, const ScoreTable& raw, std::size_t output,
               const std::optional<DoubleArray>& weight, const FloatsOut& gradient,
               const std::optional<FloatsOut>& hessian, int n_threads) {
  const std::size_t n = y.shape(0);
  if (raw.shape(1) != n || gradient.shape(0) != n || (hessian && hessian->shape(0) != n) ||
      (weight && weight->shape(0) != n) || output >= raw.shape(0))
    throw std::invalid_argument("y, raw, weight, gradient and hessian differ in rows");
  if (!loss.levels.empty() && loss.levels.size() != raw.shape(0))
    throw std::invalid_argument("the loss needs one level for each output");
  if (!hessian && (!has_unit_hessian(loss.kind) || weight))
    throw std::invalid_argument("this loss has hessians to be written");
  without_gil(n_threads, [&](const Context& context) {
    std::vector<double> norm;
    if (loss.kind == LossKind::multinomial) {
      norm.resize(n);
      log_sum_exp({raw.data(), raw.size()}, raw.shape(0), norm, context);
    }
    std::span<float> h;
    if (hessian) h = {hessian->data(), n};
    write_gradients({loss,
                     as_span(y),
                     {raw.data() + output * n, n},
                     as_span(weight),
                     norm,
                     output,
                     raw.shape(0)},
                    {gradient.data(), n}, h, context);
  });
}

void move_scores(const Leaves& leaf, const DoubleArray& value, double scale, const Scores& raw,
                 int n_threads) {
  const std::size_t n = raw.shape(0);
  if (leaf.shape(0) != n) throw std::invalid_argument("leaf and raw differ in rows");
  for (std::size_t r = 0; r < n; ++r) {
    if (leaf.data()[r] >= value.shape(0))
      throw std::invalid_argument("leaf names a node out of range");
  }
  without_gil(n_threads, [&](const Context& context) {
    add_leaves({leaf.data(), n}, as_span(value), scale, {raw.data(), n}, context);
  });
}

std::vector<Forest> boost_rounds(BinnedMatrix& matrix, const BinMapper& mapper, const Loss& loss,
                                 const DoubleArray& y, const std::optional<DoubleArray>& weight,
                                 const std::optional<Keys>& row_key, const ScoreTable& raw,
                                 const TreeParams& params, double learning_rate, double subsample,
                                 std::size_t first, std::size_t n_rounds, int n_threads,
                                 bool gradient_based, std::size_t n_parallel,
                                 const std::vector<Loss>& column_loss, bool vector_leaves) {
  std::span<const std::uint64_t> keys;
  if (row_key) keys = {row_key->data(), row_key->shape(0)};
  BoostTask task{matrix, mapper,       loss,   as_span(y),    as_span(weight),
                 keys,   raw.shape(0), params, learning_rate, subsample};
  task.gradient_based = gradient_based;
  task.n_parallel = n_parallel;
  task.column_loss = column_loss;
  task.vector_leaves = vector_leaves;
  return without_gil(n_threads, [&](const Context& context) {
    return boost(task, first, n_rounds, {raw.data(), raw.size()}, context);
  });
}

std::vector<LinearForest> boost_linear_rounds(
    BinnedMatrix& matrix, const BinMapper& mapper, const Loss& loss, const DoubleArray& y,
    const std::optional<DoubleArray>& weight, const std::optional<Keys>& row_key,
    const ScoreTable& raw, const TreeParams& params, double learning_rate, double subsample,
    std::size_t first, std::size_t n_rounds, int n_threads, bool gradient_based,
    std::size_t n_parallel, const std::vector<Loss>& column_loss, nb::handle table,
    double slope_l2) {
  std::span<const std::uint64_t> keys;
  if (row_key) keys = {row_key->data(), row_key->shape(0)};
  BoostTask task{matrix, mapper,       loss,   as_span(y),    as_span(weight),
                 keys,   raw.shape(0), params, learning_rate, subsample};
  task.gradient_based = gradient_based;
  task.n_parallel = n_parallel;
  task.column_loss = column_loss;
  task.table = &input_of(table);
  task.slope_l2 = slope_l2;
  return without_gil(n_threads, [&](const Context& context) {
    return boost_linear(task, first, n_rounds, {raw.data(), raw.size()}, context);
  });
}

void bind_losses(nb::module_& m) {
  nb::enum_<LossKind>(m, "LossKind")
      .value("squared", LossKind::squared)
      .value("absolute", LossKind::absolute)
      .value("huber", LossKind::huber)
      .value("quantile", LossKind::quantile)
      .value("poisson", LossKind::poisson)
      .value("gamma", LossKind::gamma)
      .value("tweedie", LossKind::tweedie)
      .value("logistic", LossKind::logistic)
      .value("exponential", LossKind::exponential)
      .value("multinomial", LossKind::multinomial);
  nb::class_<Loss>(m, "Loss", "A loss that the engine knows.")
      .def(
          "__init__",
          [](Loss* self, LossKind kind, double parameter, std::vector<double> levels) {
            new (self) Loss{kind, parameter, std::move(levels)};
          },
          nb::arg("kind"), nb::arg("parameter") = 0.0, nb::arg("levels") = std::vector<double>{})
      .def_ro("kind", &Loss::kind)
      .def_ro("parameter", &Loss::parameter)
      .def_ro("levels", &Loss::levels)
      .def_prop_ro("has_unit_hessian", [](const Loss& l) { return has_unit_hessian(l.kind); });
}

}  // namespace

void bind_gradient_boosting(nb::module_& m) {
  bind_losses(m);
  m.def("gradients", &gradients, nb::arg("loss"), nb::arg("y").noconvert(),
        nb::arg("raw").noconvert(), nb::arg("output"), nb::arg("weight").noconvert().none(),
        nb::arg("gradient").noconvert(), nb::arg("hessian").noconvert().none(),
        nb::arg("n_threads") = 1);
  m.def("add_leaves", &move_scores, nb::arg("leaf").noconvert(), nb::arg("value").noconvert(),
        nb::arg("scale"), nb::arg("raw").noconvert(), nb::arg("n_threads") = 1);
  m.def("boost", &boost_rounds, nb::arg("matrix"), nb::arg("mapper"), nb::arg("loss"),
        nb::arg("y").noconvert(), nb::arg("weight").noconvert().none(),
        nb::arg("row_key").noconvert().none(), nb::arg("raw").noconvert(), nb::arg("params"),
        nb::arg("learning_rate"), nb::arg("subsample"), nb::arg("first"), nb::arg("n_rounds"),
        nb::arg("n_threads") = 1, nb::arg("gradient_based") = false, nb::arg("n_parallel") = 1,
        nb::arg("column_loss") = std::vector<Loss>(), nb::arg("vector_leaves") = false,
        "The trees of some rounds, a forest for each output, or one whose leaves are vectors; raw "
        "is moved by them.");
  m.def("tree_seed", &tree_seed, nb::arg("seed"), nb::arg("number"), nb::arg("output"));
  m.def("boost_linear", &boost_linear_rounds, nb::arg("matrix"), nb::arg("mapper"), nb::arg("loss"),
        nb::arg("y").noconvert(), nb::arg("weight").noconvert().none(),
        nb::arg("row_key").noconvert().none(), nb::arg("raw").noconvert(), nb::arg("params"),
        nb::arg("learning_rate"), nb::arg("subsample"), nb::arg("first"), nb::arg("n_rounds"),
        nb::arg("n_threads"), nb::arg("gradient_based"), nb::arg("n_parallel"),
        nb::arg("column_loss"), nb::arg("table"), nb::arg("slope_l2"),
        "The same with linear leaves, fitted to the rows of the table.");
  m.def(
      "rows_of_round",
      [](std::uint64_t seed, std::size_t number, const Keys& row_key, double share, int n_threads) {
        auto rows = without_gil(n_threads, [&](const Context& context) {
          return rows_of_round(seed, number, {row_key.data(), row_key.shape(0)}, share, context);
        });
        const std::size_t n = rows.size();
        return to_numpy(std::move(rows), {n});
      },
      nb::arg("seed"), nb::arg("number"), nb::arg("row_key").noconvert(), nb::arg("share"),
      nb::arg("n_threads") = 1);
}

}  // namespace committee::bindings
