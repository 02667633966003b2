// Bins and binned matrices.
#include "bindings.hpp"
#include "committee/bins/binning.hpp"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace committee::bindings {
namespace {

using Indices = std::optional<nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig>>;
using Offsets = std::optional<nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig>>;

/// The user's matrix, held while a call reads it: Input borrows, this keeps.
struct Table {
  AnyArray values;
  Indices indices;
  Offsets indptr;
  Input input;

  Table(AnyArray v, std::size_t n_rows, std::size_t n_features, Indices i, Offsets p, bool by_row)
      : values(std::move(v)),
        indices(std::move(i)),
        indptr(std::move(p)),
        input(as_input(values, n_rows, n_features, indices, indptr, by_row)) {}
};

template <class T>
auto column(const std::vector<T>& from) {
  return to_numpy(std::vector<T>(from), {from.size()});
}

/// Of tables so long that what cuts were found from is worth giving back: the system makes pages
/// anew one by one, for which a fit of few rows would wait longer than for its cuts.
constexpr std::size_t kLong = std::size_t{1} << 16;

/// Gives free heap pages back to the system, where the allocator can be asked to.
void release_free_memory() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

const FeatureBins& checked(const BinMapper& mapper, std::size_t feature) {
  if (feature >= mapper.n_features()) throw std::out_of_range("no such feature");
  return mapper.feature(feature);
}

void bind_mapper(nb::module_& m) {
  nb::class_<BinMapper>(m, "BinMapper", "Cuts of every feature.")
      .def_static(
          "fit",
          [](const Table& table, std::optional<DoubleArray> weight, std::size_t max_bins,
             std::vector<std::uint32_t> n_levels, std::uint64_t seed, int n_threads) {
            if (weight && weight->shape(0) != table.input.n_rows)
              throw std::invalid_argument("weight has the wrong length");
            const BinningParams params{max_bins, seed, std::move(n_levels)};
            return without_gil(n_threads, [&](const Context& context) {
              BinMapper mapper = BinMapper::fit(table.input, as_span(weight), params, context);
              // The sample is gone: its pages are needed for the bins.
              if (table.input.n_rows >= kLong) release_free_memory();
              return mapper;
            });
          },
          nb::arg("table"), nb::arg("weight").noconvert().none(), nb::arg("max_bins"),
          nb::arg("n_levels"), nb::arg("seed"), nb::arg("n_threads"))
      .def(
          "transform",
          [](const BinMapper& mapper, const Table& table, int n_threads) {
            return without_gil(n_threads, [&](const Context& context) {
              return mapper.transform(table.input, context);
            });
          },
          nb::arg("table"), nb::arg("n_threads"))
      .def_prop_ro("n_features", &BinMapper::n_features)
      .def(
          "n_bins", [](const BinMapper& b, std::size_t f) { return checked(b, f).n_bins; },
          nb::arg("feature"))
      .def(
          "cuts", [](const BinMapper& b, std::size_t f) { return column(checked(b, f).cuts); },
          nb::arg("feature"));
}

}  // namespace

const Input& input_of(nb::handle table) { return nb::cast<const Table&>(table).input; }

void bind_data(nb::module_& m) {
  nb::class_<Table>(m, "Table", "A matrix of the user's, borrowed: dense in any order, or CSR/CSC.")
      .def(nb::init<AnyArray, std::size_t, std::size_t, Indices, Offsets, bool>(),
           nb::arg("values").noconvert(), nb::arg("n_rows"), nb::arg("n_features"),
           nb::arg("indices").noconvert() = nb::none(), nb::arg("indptr").noconvert() = nb::none(),
           nb::arg("by_row") = true);

  nb::class_<BinnedMatrix>(m, "BinnedMatrix", "Rows of bins: immutable, valid by construction.")
      .def_ro("n_rows", &BinnedMatrix::n_rows)
      .def_ro("n_features", &BinnedMatrix::n_features)
      .def(
          "add_columns",
          [](BinnedMatrix& b, int n_threads) {
            without_gil(n_threads, [&](const Context& context) { b.add_columns(context); });
          },
          nb::arg("n_threads") = 1)
      .def(
          "spread_rows",
          [](BinnedMatrix& b, int n_threads, std::size_t n_drawn) {
            without_gil(n_threads,
                        [&](const Context& context) { b.spread_rows(context, n_drawn); });
          },
          nb::arg("n_threads") = 1, nb::arg("n_drawn") = 0)
      .def_prop_ro("layout",
                   [](const BinnedMatrix& b) {
                     return b.layout == Layout::dense8    ? "dense8"
                            : b.layout == Layout::dense16 ? "dense16"
                                                          : "sparse";
                   })
      .def_prop_ro("nbytes", &BinnedMatrix::n_bytes)
      .def(
          "code",
          [](const BinnedMatrix& b, std::size_t row, std::size_t feature) {
            if (row >= b.n_rows || feature >= b.n_features) throw std::out_of_range("no such cell");
            return b.code(row, feature);
          },
          nb::arg("row"), nb::arg("feature"));
  bind_mapper(m);
}

}  // namespace committee::bindings
