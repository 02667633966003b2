// What the binding files share: arrays in and out, the GIL, and interruption.
//
// Bulk arguments are taken as they are (.noconvert()): a silent copy of a wrongly typed array would
// hide a mistake. Inputs are borrowed for the call; results own their memory; views keep their
// owner alive.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "committee/base/parallel.hpp"
#include "committee/bins/input.hpp"

namespace nb = nanobind;

namespace committee::bindings {

using DoubleArray = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;

inline std::span<const double> as_span(const DoubleArray& array) {
  return {array.data(), array.shape(0)};
}
inline std::span<const double> as_span(const std::optional<DoubleArray>& array) {
  return array ? as_span(*array) : std::span<const double>{};
}

/// A dense matrix, or the three arrays of a compressed one, as the engine reads it.
Input as_input(
    const AnyArray& values, std::size_t n_rows, std::size_t n_features,
    const std::optional<nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig>>& indices,
    const std::optional<nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig>>& indptr,
    bool by_row);

/// Asked by the engine on the calling thread: did a signal arrive? Only Python's main thread is
/// asked.
Context interruptible(int n_threads);

/// Runs f(context) without the GIL; Ctrl-C comes out as the KeyboardInterrupt Python has already
/// set.
template <class F>
auto without_gil(int n_threads, F f) {
  const Context context = interruptible(n_threads);
  try {
    nb::gil_scoped_release released;
    return f(context);
  } catch (const Interrupted&) {
    shutdown_threads();
    throw nb::python_error();
  }
}

/// A new array that owns a vector's memory.
template <class T, std::size_t N>
auto to_numpy(std::vector<T>&& from, const std::size_t (&shape)[N]) {
  auto* owner = new std::vector<T>(std::move(from));
  nb::capsule capsule(owner, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T>(owner->data(), N, shape, capsule);
}

void bind_bag(nb::module_& m);
void bind_boosting(nb::module_& m);
void bind_gradient_boosting(nb::module_& m);
void bind_data(nb::module_& m);
void bind_forest(nb::module_& m);
void bind_forest_growth(nb::module_& m);
void bind_linear(nb::module_& m);
void bind_ranking(nb::module_& m);
void bind_rounds(nb::module_& m);
void bind_tree(nb::module_& m);

}  // namespace committee::bindings
