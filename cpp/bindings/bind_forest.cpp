// Forests: construction from arrays (checked), views without copies, packing, prediction, pruning.
#include "bindings.hpp"
#include "committee/forest/pack.hpp"
#include "committee/forest/predict.hpp"
#include "committee/forest/prune.hpp"
#include "committee/growth/parts.hpp"
#include "committee/shap/shap.hpp"

namespace committee::bindings {

const Input& input_of(nb::handle table);

namespace {

using Bits = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using UInt64Array = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using UInt32Array = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Array>
auto to_vector(const Array& array) {
  using T = std::remove_const_t<typename Array::Scalar>;
  return std::vector<T>(array.data(), array.data() + array.size());
}

/// A read-only view of memory the forest owns; stride in elements.
template <class T>
nb::ndarray<nb::numpy, const T> view(nb::handle self, const T* data, std::size_t n,
                                     std::int64_t stride = 1) {
  const std::size_t shape[1] = {n};
  const std::int64_t strides[1] = {stride};
  return nb::ndarray<nb::numpy, const T>(data, 1, shape, self, strides);
}

Forest from_arrays(std::size_t n_features, std::size_t n_outputs, const UInt64Array& tree_begin,
                   const DoubleArray& threshold, const UInt32Array& feature,
                   const UInt32Array& left, const DoubleArray& values, const UInt64Array& set_begin,
                   const UInt64Array& set_words, const DoubleArray& gain,
                   const DoubleArray& impurity, const DoubleArray& weight,
                   const UInt64Array& count) {
  ForestArrays a;
  a.n_features = n_features;
  a.n_outputs = n_outputs;
  a.tree_begin = to_vector(tree_begin);
  const std::size_t n = threshold.shape(0);
  if (feature.shape(0) != n || left.shape(0) != n) {
    throw std::invalid_argument("threshold, feature and left must have one entry per node, got " +
                                std::to_string(n) + ", " + std::to_string(feature.shape(0)) +
                                " and " + std::to_string(left.shape(0)));
  }
  a.nodes.resize(n);
  for (std::size_t i = 0; i < n; ++i)
    a.nodes[i] = {threshold.data()[i], feature.data()[i], left.data()[i]};
  a.values = to_vector(values);
  a.set_begin = to_vector(set_begin);
  a.set_words = to_vector(set_words);
  a.gain = to_vector(gain);
  a.impurity = to_vector(impurity);
  a.weight = to_vector(weight);
  a.count = to_vector(count);
  return Forest(std::move(a));
}

Forest revalued(const Forest& forest, const Matrix& values) {
  if (values.shape(0) != forest.n_nodes()) {
    throw std::invalid_argument("forest: values has " + std::to_string(values.shape(0)) +
                                " rows, must have " + std::to_string(forest.n_nodes()));
  }
  return forest.revalued({values.data(), values.size()}, values.shape(1));
}

nb::bytes pack_bytes(const Forest& forest) {
  std::vector<std::uint8_t> packed;
  {
    nb::gil_scoped_release release;
    packed = pack(forest);
  }
  return nb::bytes(packed.data(), packed.size());
}

Forest unpack_bytes(const nb::bytes& packed) {
  const std::span<const std::uint8_t> bytes(static_cast<const std::uint8_t*>(packed.data()),
                                            packed.size());
  nb::gil_scoped_release release;
  return unpack(bytes);
}

auto predict_array(const Forest& forest, nb::handle table, const std::optional<DoubleArray>& weight,
                   const std::optional<DoubleArray>& intercept, int n_threads) {
  const Input& input = input_of(table);
  const std::size_t k = forest.arrays().n_outputs;
  std::vector<double> out(input.n_rows * k);
  const auto run = [&](const Context& context) {
    predict(forest, input, as_span(weight), as_span(intercept), out, context);
  };
  if (input.n_rows == 1) {  // too short to be worth giving up the GIL
    run({1, nullptr});
  } else {
    without_gil(n_threads, run);
  }
  return to_numpy(std::move(out), {input.n_rows, k});
}

auto predict_parts_array(const Forest& forest, nb::handle table, int n_threads) {
  const Input& input = input_of(table);
  const std::size_t k = forest.arrays().n_outputs;
  std::vector<double> out(input.n_rows * k);
  without_gil(n_threads,
              [&](const Context& context) { predict_in_parts(forest, input, out, context); });
  return to_numpy(std::move(out), {input.n_rows, k});
}

/// Room for an array of this shape; the number of entries itself may be too large for the machine.
std::vector<double> room(std::initializer_list<std::size_t> shape) {
  std::size_t n = 1;
  for (const std::size_t size : shape) {
    if (size != 0 && n > std::vector<double>().max_size() / size) throw std::bad_alloc();
    n *= size;
  }
  return std::vector<double>(n);
}

auto shap_array(const Forest& forest, nb::handle table, const std::optional<DoubleArray>& weight,
                int n_threads) {
  const Input& input = input_of(table);
  const std::size_t k = forest.arrays().n_outputs, width = forest.arrays().n_features + 1;
  std::vector<double> out = room({input.n_rows, width, k});
  without_gil(n_threads, [&](const Context& context) {
    shap_values(forest, input, as_span(weight), out, context);
  });
  return to_numpy(std::move(out), {input.n_rows, width, k});
}

auto shap_pairs_array(const Forest& forest, nb::handle table,
                      const std::optional<DoubleArray>& weight, int n_threads) {
  const Input& input = input_of(table);
  const std::size_t k = forest.arrays().n_outputs, width = forest.arrays().n_features + 1;
  std::vector<double> out = room({input.n_rows, width, width, k});
  without_gil(n_threads, [&](const Context& context) {
    shap_interactions(forest, input, as_span(weight), out, context);
  });
  return to_numpy(std::move(out), {input.n_rows, width, width, k});
}

void bind_views(nb::class_<Forest>& c) {
  const auto node_view = [](auto field, std::int64_t stride) {
    return [field, stride](nb::handle self) {
      const auto& nodes = nb::cast<const Forest&>(self).arrays().nodes;
      return view(self, nodes.empty() ? nullptr : &(nodes.data()->*field), nodes.size(), stride);
    };
  };
  c.def_prop_ro("threshold", node_view(&Node::threshold, 2));
  c.def_prop_ro("feature", node_view(&Node::feature, 4),
                "Feature and flags: see the masks of this module.");
  c.def_prop_ro("left", node_view(&Node::left, 4));
  const auto array_view = [](auto field) {
    return [field](nb::handle self) {
      const auto& array = nb::cast<const Forest&>(self).arrays().*field;
      return view(self, array.data(), array.size());
    };
  };
  c.def_prop_ro("tree_begin", array_view(&ForestArrays::tree_begin));
  c.def_prop_ro("set_begin", array_view(&ForestArrays::set_begin));
  c.def_prop_ro("set_words", array_view(&ForestArrays::set_words));
  c.def_prop_ro("gain", array_view(&ForestArrays::gain));
  c.def_prop_ro("impurity", array_view(&ForestArrays::impurity));
  c.def_prop_ro("weight", array_view(&ForestArrays::weight));
  c.def_prop_ro("count", array_view(&ForestArrays::count));
  c.def_prop_ro("values", [](nb::handle self) {
    const ForestArrays& a = nb::cast<const Forest&>(self).arrays();
    const std::size_t shape[2] = {a.nodes.size(), a.n_outputs};
    return nb::ndarray<nb::numpy, const double>(a.values.data(), 2, shape, self);
  });
}

Forest pruned(const Forest& forest, const std::vector<std::uint8_t>& cut) {
  return Forest(collapse(forest.arrays(), cut));
}

void bind_predict(nb::class_<Forest>& c) {
  c.def("predict", &predict_array, nb::arg("table"), nb::arg("weight").noconvert() = nb::none(),
        nb::arg("intercept").noconvert() = nb::none(), nb::arg("n_threads") = 1);
  c.def("predict_in_parts", &predict_parts_array, nb::arg("table"), nb::arg("n_threads") = 1);
  c.def(
      "predict_members",
      [](const Forest& forest, nb::handle table, int n_threads) {
        const Input& input = input_of(table);
        std::vector<double> out(forest.n_trees() * input.n_rows * forest.arrays().n_outputs);
        without_gil(n_threads,
                    [&](const Context& context) { predict_members(forest, input, out, context); });
        return to_numpy(std::move(out),
                        {forest.n_trees(), input.n_rows, forest.arrays().n_outputs});
      },
      nb::arg("table"), nb::arg("n_threads") = 1);
  c.def(
      "predict_left_out",
      [](const Forest& forest, nb::handle table, const Bits& left_out, int n_threads) {
        const Input& input = input_of(table);
        const std::size_t k = forest.arrays().n_outputs, n_bytes = (input.n_rows + 7) / 8;
        if (left_out.shape(0) != forest.n_trees() || left_out.shape(1) != n_bytes)
          throw std::invalid_argument("left_out must have the shape (n_trees, (n_rows + 7) / 8)");
        std::vector<double> sums(input.n_rows * k);
        std::vector<std::uint32_t> counts(input.n_rows);
        without_gil(n_threads, [&](const Context& context) {
          predict_left_out(forest, input, {left_out.data(), left_out.size()}, sums, counts,
                           context);
        });
        return nb::make_tuple(to_numpy(std::move(sums), {input.n_rows, k}),
                              to_numpy(std::move(counts), {input.n_rows}));
      },
      nb::arg("table"), nb::arg("left_out").noconvert(), nb::arg("n_threads") = 1);
  c.def(
      "apply",
      [](const Forest& forest, nb::handle table, int n_threads) {
        const Input& input = input_of(table);
        std::vector<std::uint32_t> out(input.n_rows * forest.n_trees());
        without_gil(n_threads, [&](const Context& context) { apply(forest, input, out, context); });
        return to_numpy(std::move(out), {input.n_rows, forest.n_trees()});
      },
      nb::arg("table"), nb::arg("n_threads") = 1);
}

void bind_shap(nb::class_<Forest>& c) {
  c.def("shap_values", &shap_array, nb::arg("table"), nb::arg("weight").noconvert() = nb::none(),
        nb::arg("n_threads") = 1,
        "Shapley values of each row, feature and output; behind the features what is said without "
        "any.");
  c.def("shap_interactions", &shap_pairs_array, nb::arg("table"),
        nb::arg("weight").noconvert() = nb::none(), nb::arg("n_threads") = 1,
        "The same, each feature's value parted among itself and half of its pairs.");
}

void bind_prune(nb::class_<Forest>& c) {
  c.def("cost_complexity_path", [](const Forest& f) {
    PruningPath path = cost_complexity_path(f.arrays());
    const std::size_t n = path.alphas.size();
    return nb::make_tuple(to_numpy(std::move(path.alphas), {n}),
                          to_numpy(std::move(path.impurities), {n}));
  });
  c.def(
      "pruned_by_cost",
      [](const Forest& f, double alpha) {
        return pruned(f, cost_complexity_cut(f.arrays(), alpha));
      },
      nb::arg("alpha"));
  c.def(
      "pruned_by_pessimism",
      [](const Forest& f, double confidence) {
        return pruned(f, pessimistic_cut(f.arrays(), confidence));
      },
      nb::arg("confidence"));
}

}  // namespace

void bind_forest(nb::module_& m) {
  m.attr("FEATURE_MASK") = kFeatureMask;
  m.attr("MISSING_LEFT") = kMissingLeft;
  m.attr("CATEGORICAL") = kCategorical;
  nb::class_<Forest> c(m, "Forest", "Trees in flat arrays: immutable, checked when made.");
  c.def_static("from_arrays", &from_arrays, nb::arg("n_features"), nb::arg("n_outputs"),
               nb::arg("tree_begin").noconvert(), nb::arg("threshold").noconvert(),
               nb::arg("feature").noconvert(), nb::arg("left").noconvert(),
               nb::arg("values").noconvert(), nb::arg("set_begin").noconvert(),
               nb::arg("set_words").noconvert(), nb::arg("gain").noconvert(),
               nb::arg("impurity").noconvert(), nb::arg("weight").noconvert(),
               nb::arg("count").noconvert());
  c.def("pack", &pack_bytes, "The forest in one to three bytes a node, bit for bit.");
  c.def_static("unpack", &unpack_bytes, nb::arg("packed"),
               "The forest that was packed; bytes that are none are refused.");
  c.def("__getstate__", &pack_bytes);
  c.def("__setstate__", [](Forest& forest, const nb::bytes& packed) {
    new (&forest) Forest(unpack_bytes(packed));
  });
  bind_views(c);
  c.def_prop_ro("n_features", [](const Forest& f) { return f.arrays().n_features; });
  c.def_prop_ro("n_outputs", [](const Forest& f) { return f.arrays().n_outputs; });
  c.def_prop_ro("n_trees", &Forest::n_trees);
  c.def_prop_ro("n_nodes", &Forest::n_nodes);
  c.def(
      "max_depth",
      [](const Forest& f, std::size_t tree) {
        if (tree >= f.n_trees()) throw std::out_of_range("no such tree");
        return f.max_depth(tree);
      },
      nb::arg("tree"));
  c.def("slice", &Forest::slice, nb::arg("begin"), nb::arg("end"));
  c.def(
      "votes",
      [](const Forest& f, const std::vector<std::uint32_t>& n_classes) {
        return f.votes(n_classes);
      },
      nb::arg("n_classes"));
  c.def("revalued", &revalued, nb::arg("values").noconvert());
  c.def_static(
      "concatenate",
      [](const std::vector<const Forest*>& forests) {
        return Forest::concatenate(std::span<const Forest* const>(forests));
      },
      nb::arg("forests"));
  bind_predict(c);
  bind_shap(c);
  bind_prune(c);
}

}  // namespace committee::bindings
