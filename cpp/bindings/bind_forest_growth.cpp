// Growing whole forests.
#include "bindings.hpp"
#include "committee/growth/forest_growth.hpp"

namespace committee::bindings {
namespace {

using Codes = nb::ndarray<const std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// A target borrows its arrays: they are kept beside it.
struct HeldTarget {
  Target target;
  std::vector<nb::object> held;
};

void hold_factor(HeldTarget& held, const std::optional<DoubleArray>& factor) {
  if (!factor) return;
  for (std::size_t i = 0; i < factor->shape(0); ++i) {
    if (!(factor->data()[i] >= 0 && factor->data()[i] <= std::numeric_limits<double>::max()))
      throw std::invalid_argument("factor must be finite and not negative");
  }
  held.target.factor = as_span(*factor);
  held.held.push_back(nb::cast(*factor));
}

HeldTarget classes(const Codes& codes, const std::vector<std::uint32_t>& n_classes,
                   const std::optional<DoubleArray>& factor, bool balanced) {
  if (codes.shape(1) != n_classes.size() || n_classes.empty())
    throw std::invalid_argument("one n_classes per output");
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (codes.data()[i] >= n_classes[i % n_classes.size()])
      throw std::invalid_argument("a class code is out of range");
  }
  HeldTarget held;
  held.target.n_outputs = n_classes.size();
  held.target.codes = {codes.data(), codes.size()};
  held.target.n_classes = n_classes;
  held.target.balanced = balanced;
  held.held.push_back(nb::cast(codes));
  hold_factor(held, factor);
  return held;
}

HeldTarget regression(const Numbers& y, const std::optional<DoubleArray>& factor, bool centred) {
  HeldTarget held;
  held.target.kind = SumKind::regression;
  held.target.n_outputs = y.shape(1);
  held.target.y = {y.data(), y.size()};
  held.target.centred = centred;
  held.held.push_back(nb::cast(y));
  hold_factor(held, factor);
  return held;
}

nb::tuple grow(const BinnedMatrix& matrix, const BinMapper& mapper, const HeldTarget& target,
               const Bags& bags, const TreeParams& params, std::size_t begin, std::size_t end,
               int n_threads) {
  auto [forest, importances] = without_gil(n_threads, [&](const Context& context) {
    GrownForest grown =
        grow_forest(matrix, mapper, target.target, bags, params, begin, end, context);
    return std::pair(Forest(std::move(grown.arrays), context), std::move(grown.importances));
  });
  const std::size_t shape[2] = {end - begin, matrix.n_features};
  return nb::make_tuple(std::move(forest), to_numpy(std::move(importances), shape));
}

}  // namespace

void bind_forest_growth(nb::module_& m) {
  nb::class_<HeldTarget>(m, "Target", "What the trees of a forest are to explain.")
      .def_static("classes", &classes, nb::arg("codes").noconvert(), nb::arg("n_classes"),
                  nb::arg("factor").noconvert() = nb::none(), nb::arg("balanced") = false)
      .def_static("regression", &regression, nb::arg("y").noconvert(),
                  nb::arg("factor").noconvert() = nb::none(), nb::arg("centred") = true);
  m.def("grow_forest", &grow, nb::arg("matrix"), nb::arg("mapper"), nb::arg("target"),
        nb::arg("bags"), nb::arg("params"), nb::arg("begin"), nb::arg("end"), nb::arg("n_threads"));
}

}  // namespace committee::bindings
