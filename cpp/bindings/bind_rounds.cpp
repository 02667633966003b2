// What a round of gradient boosting may do beside one tree: draws by gradient, scores summed anew.
#include "bindings.hpp"
#include "committee/boosting/gradient_draw.hpp"
#include "committee/boosting/leaf_ledger.hpp"

namespace committee::bindings {
namespace {

using Keys = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Ids = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Floats = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Scores = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// The draw, and its number of rows to hold arguments against.
struct HeldDraw {
  std::size_t n_rows;
  GradientDraw draw;
};

std::span<const float> checked(const std::optional<Floats>& values, std::size_t n_rows) {
  if (!values) return {};
  if (values->shape(0) != n_rows) throw std::invalid_argument("one derivative is needed per row");
  return {values->data(), n_rows};
}

auto weighed(const HeldDraw& self, const Ids& rows, const Floats& gradient,
             const std::optional<Floats>& hessian, int n_threads) {
  const std::size_t n = self.n_rows;
  for (std::size_t i = 0; i < rows.shape(0); ++i) {
    if (rows.data()[i] >= n || (i > 0 && rows.data()[i] <= rows.data()[i - 1]))
      throw std::invalid_argument("rows must be ascending and in range");
  }
  std::vector<float> g(n), h(n);
  without_gil(n_threads, [&](const Context& context) {
    self.draw.weigh({rows.data(), rows.shape(0)}, checked(gradient, n), checked(hessian, n), g, h,
                    context);
  });
  return std::pair{to_numpy(std::move(g), {n}), to_numpy(std::move(h), {n})};
}

void bind_draw(nb::module_& m) {
  nb::class_<HeldDraw>(m, "GradientDraw", "Minimal variance sampling of the rows of one round.")
      .def(
          "__init__",
          [](HeldDraw* self, std::size_t n_rows) {
            new (self) HeldDraw{n_rows, GradientDraw(n_rows)};
          },
          nb::arg("n_rows"))
      .def(
          "add",
          [](HeldDraw& self, const Floats& gradient, const std::optional<Floats>& hessian,
             int n_threads) {
            without_gil(n_threads, [&](const Context& context) {
              self.draw.add(checked(gradient, self.n_rows), checked(hessian, self.n_rows), context);
            });
          },
          nb::arg("gradient").noconvert(), nb::arg("hessian").noconvert().none(),
          nb::arg("n_threads") = 1)
      .def(
          "settle",
          [](HeldDraw& self, double share, int n_threads) {
            without_gil(n_threads, [&](const Context& c) { self.draw.settle(share, c); });
          },
          nb::arg("share"), nb::arg("n_threads") = 1)
      .def(
          "rows",
          [](const HeldDraw& self, std::uint64_t seed, std::size_t number, const Keys& row_key,
             int n_threads) {
            if (row_key.shape(0) != self.n_rows)
              throw std::invalid_argument("one key is needed per row");
            auto rows = without_gil(n_threads, [&](const Context& context) {
              return self.draw.rows(seed, number, {row_key.data(), row_key.shape(0)}, context);
            });
            const std::size_t n = rows.size();
            return to_numpy(std::move(rows), {n});
          },
          nb::arg("seed"), nb::arg("number"), nb::arg("row_key").noconvert(),
          nb::arg("n_threads") = 1)
      .def("weighed", &weighed, nb::arg("rows").noconvert(), nb::arg("gradient").noconvert(),
           nb::arg("hessian").noconvert().none(), nb::arg("n_threads") = 1)
      .def_prop_ro(
          "chance",
          [](const HeldDraw& self) {
            std::vector<double> chance(self.n_rows);
            for (std::size_t r = 0; r < self.n_rows; ++r) chance[r] = self.draw.chance(r);
            return to_numpy(std::move(chance), {self.n_rows});
          },
          nb::rv_policy::automatic);
}

}  // namespace

void bind_rounds(nb::module_& m) {
  bind_draw(m);
  nb::class_<LeafLedger>(m, "LeafLedger", "The leaf of each row in each tree.")
      .def(nb::init<std::size_t>(), nb::arg("n_rows"))
      .def_prop_ro("n_trees", &LeafLedger::n_trees)
      .def(
          "add",
          [](LeafLedger& self, const Ids& leaf, const DoubleArray& value) {
            self.add({leaf.data(), leaf.shape(0)}, as_span(value));
          },
          nb::arg("leaf").noconvert(), nb::arg("value").noconvert())
      .def(
          "sum",
          [](const LeafLedger& self, const DoubleArray& weight, const Scores& raw, int n_threads) {
            without_gil(n_threads, [&](const Context& context) {
              self.sum(as_span(weight), {raw.data(), raw.shape(0)}, context);
            });
          },
          nb::arg("weight").noconvert(), nb::arg("raw").noconvert(), nb::arg("n_threads") = 1);
}

}  // namespace committee::bindings
