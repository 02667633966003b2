// Linear leaves: forests that hold them, and the fit for losses that Python differentiates.
#include <nanobind/stl/tuple.h>

#include "bindings.hpp"
#include "committee/boosting/linear.hpp"

namespace committee::bindings {

const Input& input_of(nb::handle table);

namespace {

using Floats = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using UInts32 = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using UInts64 = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Scores = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Array>
auto to_vector(const Array& array) {
  using T = std::remove_const_t<typename Array::Scalar>;
  return std::vector<T>(array.data(), array.data() + array.size());
}

LinearForest from_arrays(const Forest& trees, const UInts64& begin, const DoubleArray& level,
                         const UInts32& feature, const DoubleArray& slope, const DoubleArray& low,
                         const DoubleArray& high) {
  return {trees,
          {to_vector(begin), to_vector(level), to_vector(feature), to_vector(slope), to_vector(low),
           to_vector(high)}};
}

/// Fits the leaves of one tree, moves the scores by them, and gives the tree with them.
LinearForest fit_leaves(const Forest& tree, nb::handle table, const Floats& gradient,
                        const std::optional<Floats>& hessian, const UInts32& leaf,
                        const std::optional<UInts32>& rows, double l2, double slope_l2,
                        double max_value, double scale, const Scores& raw, int n_threads) {
  const Input& input = input_of(table);
  const std::size_t n = input.n_rows;
  if (gradient.shape(0) != n || leaf.shape(0) != n || raw.shape(0) != n ||
      (hessian && hessian->shape(0) != n))
    throw std::invalid_argument("table, gradient, hessian, leaf and raw differ in rows");
  if (tree.n_trees() != 1 || tree.arrays().n_outputs != 1 ||
      input.n_features != tree.arrays().n_features)
    throw std::invalid_argument("leaves are fitted for one tree of one output and these features");
  for (std::size_t r = 0; r < n; ++r) {
    if (leaf.data()[r] >= tree.n_nodes())
      throw std::invalid_argument("leaf names a node out of range");
  }
  std::span<const RowId> drawn;
  if (rows) drawn = {rows->data(), rows->shape(0)};
  for (const RowId r : drawn) {
    if (r >= n) throw std::invalid_argument("rows names a row out of range");
  }
  std::span<const float> h;
  if (hessian) h = {hessian->data(), n};
  return without_gil(n_threads, [&](const Context& context) {
    const std::span<const std::uint32_t> leaves{leaf.data(), n};
    LinearTerms terms = fit_linear_leaves(
        tree.arrays(), {input, {gradient.data(), n}, h, leaves, drawn, l2, slope_l2, max_value},
        context);
    add_linear_leaves(tree.arrays(), terms, input, leaves, scale, {raw.data(), n}, context);
    return LinearForest(tree, std::move(terms));
  });
}

auto predict_array(const LinearForest& forest, nb::handle table,
                   const std::optional<DoubleArray>& weight,
                   const std::optional<DoubleArray>& intercept, int n_threads) {
  const Input& input = input_of(table);
  std::vector<double> out(input.n_rows);
  without_gil(n_threads, [&](const Context& context) {
    predict(forest, input, as_span(weight), as_span(intercept), out, context);
  });
  return to_numpy(std::move(out), {input.n_rows, std::size_t{1}});
}

auto members_array(const LinearForest& forest, nb::handle table, int n_threads) {
  const Input& input = input_of(table);
  const std::size_t n_trees = forest.trees().n_trees();
  std::vector<double> out(n_trees * input.n_rows);
  without_gil(n_threads,
              [&](const Context& context) { predict_members(forest, input, out, context); });
  return to_numpy(std::move(out), {n_trees, input.n_rows, std::size_t{1}});
}

void bind_terms(nb::class_<LinearForest>& c) {
  const auto view = [](auto field) {
    return [field](nb::handle self) {
      const auto& array = nb::cast<const LinearForest&>(self).terms().*field;
      using T = typename std::remove_cvref_t<decltype(array)>::value_type;
      const std::size_t shape[1] = {array.size()};
      return nb::ndarray<nb::numpy, const T>(array.data(), 1, shape, self);
    };
  };
  c.def_prop_ro("begin", view(&LinearTerms::begin), "First term of each node.");
  c.def_prop_ro("level", view(&LinearTerms::level),
                "What a node says where each of its features is at its low.");
  c.def_prop_ro("feature", view(&LinearTerms::feature));
  c.def_prop_ro("slope", view(&LinearTerms::slope));
  c.def_prop_ro("low", view(&LinearTerms::low));
  c.def_prop_ro("high", view(&LinearTerms::high));
}

}  // namespace

void bind_linear(nb::module_& m) {
  nb::class_<LinearForest> c(m, "LinearForest",
                             "Trees whose leaves are linear models: immutable, checked when made.");
  c.def_static("from_arrays", &from_arrays, nb::arg("trees"), nb::arg("begin").noconvert(),
               nb::arg("level").noconvert(), nb::arg("feature").noconvert(),
               nb::arg("slope").noconvert(), nb::arg("low").noconvert(),
               nb::arg("high").noconvert());
  bind_terms(c);
  c.def("__getstate__", [](nb::handle self) {
    return nb::make_tuple(self.attr("trees"), self.attr("begin"), self.attr("level"),
                          self.attr("feature"), self.attr("slope"), self.attr("low"),
                          self.attr("high"));
  });
  using State = std::tuple<const Forest&, UInts64, DoubleArray, UInts32, DoubleArray, DoubleArray,
                           DoubleArray>;
  c.def("__setstate__", [](LinearForest& forest, const State& state) {
    new (&forest) LinearForest(std::apply(from_arrays, state));
  });
  c.def_prop_ro("trees", &LinearForest::trees, nb::rv_policy::copy,
                "The trees with the constants of their leaves.");
  c.def_prop_ro("n_trees", [](const LinearForest& f) { return f.trees().n_trees(); });
  c.def_prop_ro("n_outputs", [](const LinearForest& f) { return f.trees().arrays().n_outputs; });
  c.def_prop_ro("n_features", [](const LinearForest& f) { return f.trees().arrays().n_features; });
  c.def("slice", &LinearForest::slice, nb::arg("begin"), nb::arg("end"));
  c.def_static(
      "concatenate",
      [](const std::vector<const LinearForest*>& forests) {
        return LinearForest::concatenate(std::span<const LinearForest* const>(forests));
      },
      nb::arg("forests"));
  c.def("predict", &predict_array, nb::arg("table"), nb::arg("weight").noconvert() = nb::none(),
        nb::arg("intercept").noconvert() = nb::none(), nb::arg("n_threads") = 1);
  c.def("predict_members", &members_array, nb::arg("table"), nb::arg("n_threads") = 1);
  m.def("fit_linear_leaves", &fit_leaves, nb::arg("tree"), nb::arg("table"),
        nb::arg("gradient").noconvert(), nb::arg("hessian").noconvert().none(),
        nb::arg("leaf").noconvert(), nb::arg("rows").noconvert().none(), nb::arg("l2"),
        nb::arg("slope_l2"), nb::arg("max_value"), nb::arg("scale"), nb::arg("raw").noconvert(),
        nb::arg("n_threads") = 1,
        "The tree with linear leaves; raw is moved by scale times what they say.");
}

}  // namespace committee::bindings
