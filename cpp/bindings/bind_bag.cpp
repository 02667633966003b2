// Keys of rows, and the bags drawn by them.
#include "bindings.hpp"
#include "committee/bins/row_keys.hpp"
#include "committee/growth/bag.hpp"

namespace committee::bindings {

const Input& input_of(nb::handle table);

namespace {

using Keys = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Codes =
    std::optional<nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>>;
using Targets = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Array>
auto copied(const char* name, const std::optional<Array>& array, std::size_t n_rows) {
  using T = std::remove_const_t<typename Array::Scalar>;
  if (!array) return std::vector<T>();
  if (array->shape(0) != n_rows) {
    throw std::invalid_argument(std::string(name) + " has " + std::to_string(array->shape(0)) +
                                " elements; it must have one for each of the " +
                                std::to_string(n_rows) + " rows");
  }
  return std::vector<T>(array->data(), array->data() + array->shape(0));
}

void make(Bags* bags, const Keys& keys, Draw draw, std::uint64_t size, std::uint64_t seed,
          const Codes& units, const std::optional<DoubleArray>& weight, const Codes& strata,
          const Codes& groups) {
  const std::size_t n = keys.shape(0);
  BagPlan plan{draw,
               size,
               seed,
               copied("units", units, n),
               copied("weight", weight, n),
               copied("strata", strata, n),
               copied("groups", groups, n)};
  nb::gil_scoped_release released;
  new (bags) Bags({keys.data(), n}, std::move(plan));
}

auto weights(const Bags& bags, std::uint64_t member) {
  std::vector<double> weight(bags.n_rows());
  {
    nb::gil_scoped_release released;
    bags.draw(member, weight);
  }
  return to_numpy(std::move(weight), {bags.n_rows()});
}

auto left_out(const Bags& bags, std::uint64_t begin, std::uint64_t end, int n_threads) {
  if (begin > end) {
    throw std::invalid_argument("begin is " + std::to_string(begin) + "; it must be at most end, " +
                                std::to_string(end));
  }
  const std::size_t n = end - begin;
  const std::size_t width = (bags.n_rows() + 7) / 8;
  std::vector<std::uint8_t> bits(n * width);
  without_gil(n_threads, [&](const Context& context) {
    parallel_for(n, context, [&](std::size_t i, int) {
      bags.left_out(begin + i, {bits.data() + i * width, width});
    });
  });
  return to_numpy(std::move(bits), {n, width});
}

void bind_keys(nb::module_& m) {
  m.def(
      "row_keys",
      [](const BinnedMatrix& matrix, const Targets& target, int n_threads) {
        std::vector<std::uint64_t> keys = without_gil(n_threads, [&](const Context& context) {
          return row_keys(matrix, {target.data(), target.size()}, target.shape(1), context);
        });
        return to_numpy(std::move(keys), {matrix.n_rows});
      },
      nb::arg("matrix"), nb::arg("target").noconvert(), nb::arg("n_threads"),
      "A hash of each row's bins and target.");
  m.def(
      "table_keys",
      [](nb::handle table, const Targets& target, int n_threads) {
        const Input& input = input_of(table);
        std::vector<std::uint64_t> keys = without_gil(n_threads, [&](const Context& context) {
          return table_keys(input, {target.data(), target.size()}, target.shape(1), context);
        });
        return to_numpy(std::move(keys), {input.n_rows});
      },
      nb::arg("table"), nb::arg("target").noconvert(), nb::arg("n_threads"),
      "A hash of each row's raw values and target.");
}

}  // namespace

void bind_bag(nb::module_& m) {
  nb::enum_<Draw>(m, "Draw", "How a bag is drawn.")
      .value("all", Draw::all, "every row, as it is")
      .value("replace", Draw::replace, "`size` draws with replacement: the bootstrap")
      .value("subset", Draw::subset, "`size` draws without replacement")
      .value("poisson", Draw::poisson, "each unit Poisson(size / n_units) times")
      .value("exponential", Draw::exponential, "each unit weighs Exp(1): wagging");
  nb::class_<Bags>(m, "Bags",
                   "Which rows each member sees, drawn by (seed, member, content of the row).")
      .def("__init__", &make, nb::arg("keys").noconvert(), nb::kw_only(), nb::arg("draw"),
           nb::arg("size"), nb::arg("seed"), nb::arg("units").noconvert() = nb::none(),
           nb::arg("weight").noconvert() = nb::none(), nb::arg("strata").noconvert() = nb::none(),
           nb::arg("groups").noconvert() = nb::none())
      .def_prop_ro("n_rows", &Bags::n_rows)
      .def_prop_ro("size", &Bags::size)
      .def("weights", &weights, nb::arg("member"),
           "How often (or how much) each row is in the member's bag; 0 where it is left out.")
      .def("left_out", &left_out, nb::arg("begin"), nb::arg("end"), nb::arg("n_threads"),
           "Members begin .. end - 1, a row of bytes each: bit r % 8 of byte r // 8 is 1 where row "
           "r is left out.");
  bind_keys(m);
}

}  // namespace committee::bindings
