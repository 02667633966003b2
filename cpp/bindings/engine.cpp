// The module committee._engine: the only Python the engine knows.
#include "bindings.hpp"

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__APPLE__)
#include <pthread.h>
#endif

namespace committee::bindings {
namespace {

bool signal_arrived() {
  nb::gil_scoped_acquire held;
  return PyErr_CheckSignals() != 0;
}

bool on_main_thread() {
#if defined(__linux__)
  return syscall(SYS_gettid) == getpid();
#elif defined(__APPLE__)
  return pthread_main_np() != 0;
#else
  return true;
#endif
}

DType dtype_of(const AnyArray& array) {
  const nb::dlpack::dtype d = array.dtype();
  const auto is = [&](nb::dlpack::dtype other) { return d == other; };
  if (is(nb::dtype<double>())) return DType::f64;
  if (is(nb::dtype<float>())) return DType::f32;
  if (is(nb::dtype<std::int8_t>())) return DType::i8;
  if (is(nb::dtype<std::int16_t>())) return DType::i16;
  if (is(nb::dtype<std::int32_t>())) return DType::i32;
  if (is(nb::dtype<std::int64_t>())) return DType::i64;
  if (is(nb::dtype<std::uint8_t>())) return DType::u8;
  if (is(nb::dtype<std::uint16_t>())) return DType::u16;
  if (is(nb::dtype<std::uint32_t>())) return DType::u32;
  if (is(nb::dtype<std::uint64_t>())) return DType::u64;
  if (is(nb::dtype<bool>())) return DType::boolean;
  throw std::invalid_argument("values must be a real number type");
}

}  // namespace

Context interruptible(int n_threads) {
  return {n_threads, on_main_thread() ? signal_arrived : nullptr};
}

Input as_input(
    const AnyArray& values, std::size_t n_rows, std::size_t n_features,
    const std::optional<nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig>>& indices,
    const std::optional<nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig>>& indptr,
    bool by_row) {
  Input input;
  input.n_rows = n_rows;
  input.n_features = n_features;
  input.sparse = indices.has_value();
  const auto* data = static_cast<const std::byte*>(values.data());
  const auto itemsize = static_cast<std::ptrdiff_t>(values.itemsize());
  if (!input.sparse) {
    if (values.ndim() != 2 || values.shape(0) != n_rows || values.shape(1) != n_features) {
      throw std::invalid_argument("values must have the shape (n_rows, n_features)");
    }
    input.dense = {data, dtype_of(values), values.stride(0) * itemsize,
                   values.stride(1) * itemsize};
    return input;
  }
  if (!indptr || values.ndim() != 1 || values.shape(0) != indices->shape(0) ||
      indptr->shape(0) != (by_row ? n_rows : n_features) + 1 ||
      static_cast<std::size_t>(indptr->data()[indptr->shape(0) - 1]) > values.shape(0)) {
    throw std::invalid_argument("the arrays of a sparse matrix do not fit each other");
  }
  input.csx = {data, dtype_of(values), indptr->data(), indices->data(), by_row};
  return input;
}

}  // namespace committee::bindings

NB_MODULE(_engine, m) {
  using namespace committee;
  m.doc() = "The tree engine of committee.";
  m.def("available_threads", &available_threads,
        "Cores this process may use: affinity and container quota.");
  m.def("shutdown_threads", &shutdown_threads, "End idle worker threads now.");
  bindings::bind_data(m);
  bindings::bind_forest(m);
  bindings::bind_linear(m);
  bindings::bind_ranking(m);
  bindings::bind_rounds(m);
  bindings::bind_tree(m);
  bindings::bind_bag(m);
  bindings::bind_forest_growth(m);
  bindings::bind_boosting(m);
  bindings::bind_gradient_boosting(m);
}
