// What boosting asks for in every round, besides trees.
#include "bindings.hpp"
#include "committee/search/word_search.hpp"
#include "committee/sums/distribution.hpp"

namespace committee::bindings {
namespace {

using Begins = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using RowNumbers = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Labels = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Weights = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::ndarray<nb::numpy, double> distribution_of(const DoubleArray& log_weight, int n_threads) {
  const std::size_t n = log_weight.shape(0);
  std::vector<double> out(n);
  without_gil(n_threads, [&](const Context& context) {
    distribution(as_span(log_weight), out, context);
    return 0;
  });
  return to_numpy(std::move(out), {n});
}

void make_search(WordSearch* self, const Begins& begin, const RowNumbers& rows,
                 const Labels& has_label, RuleKind kind) {
  nb::gil_scoped_release released;
  new (self) WordSearch({begin.data(), begin.shape(0)}, {rows.data(), rows.shape(0)},
                        {has_label.data(), has_label.size()}, has_label.shape(0), kind);
}

std::size_t best_word(WordSearch& self, const Weights& weight) {
  if (weight.shape(0) != self.n_rows() || weight.shape(1) != self.n_labels())
    throw std::invalid_argument("weight must have the shape (n_rows, n_labels)");
  nb::gil_scoped_release released;
  return self.best({weight.data(), weight.size()});
}

}  // namespace

void bind_boosting(nb::module_& m) {
  m.def("distribution", &distribution_of, nb::arg("log_weight").noconvert(),
        nb::arg("n_threads") = 1, "exp(log_weight) over its sum, without overflow.");
  nb::enum_<RuleKind>(m, "RuleKind")
      .value("real", RuleKind::real)
      .value("abstaining", RuleKind::abstaining)
      .value("discrete", RuleKind::discrete);
  nb::class_<WordSearch>(m, "WordSearch", "Finds the best word for one distribution after another.")
      .def("__init__", &make_search, nb::arg("word_begin").noconvert(),
           nb::arg("word_rows").noconvert(), nb::arg("has_label").noconvert(), nb::arg("kind"))
      .def("best", &best_word, nb::arg("weight").noconvert())
      .def_prop_ro("looked_at", &WordSearch::looked_at);
}

}  // namespace committee::bindings
