// Statistics and growing.
#include <utility>

#include "bindings.hpp"
#include "committee/growth/parts.hpp"
#include "committee/growth/shard.hpp"
#include "committee/growth/tree.hpp"

namespace committee::bindings {
namespace {

using Codes = nb::ndarray<const std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Targets = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Stats borrow y, gradient and hessian: the arrays are kept beside them.
struct HeldStats {
  Stats stats;
  std::vector<nb::object> held;
};

void check_weight(const std::optional<DoubleArray>& weight, std::size_t n) {
  if (weight && weight->shape(0) != n) throw std::invalid_argument("weight has the wrong length");
}

void check_codes(const Codes& codes, const std::vector<std::uint32_t>& n_classes,
                 const std::optional<DoubleArray>& weight) {
  check_weight(weight, codes.shape(0));
  if (codes.shape(1) != n_classes.size() || n_classes.empty())
    throw std::invalid_argument("one n_classes per output");
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (codes.data()[i] >= n_classes[i % n_classes.size()])
      throw std::invalid_argument("a class code is out of range");
  }
}

HeldStats classes(const Codes& codes, const std::vector<std::uint32_t>& n_classes,
                  const std::optional<DoubleArray>& weight, bool counted) {
  check_codes(codes, n_classes, weight);
  nb::gil_scoped_release released;
  return {Stats::classes({codes.data(), codes.size()}, n_classes, as_span(weight), counted), {}};
}

HeldStats divisible(const Codes& codes, const std::vector<std::uint32_t>& n_classes,
                    const std::optional<DoubleArray>& weight) {
  check_codes(codes, n_classes, weight);
  nb::gil_scoped_release released;
  return {Stats::divisible({codes.data(), codes.size()}, n_classes, as_span(weight)), {}};
}

HeldStats shares(const Codes& codes, const std::vector<std::uint32_t>& n_classes,
                 const DoubleArray& weight, int n_threads) {
  if (codes.shape(1) != n_classes.size()) throw std::invalid_argument("one n_classes per output");
  return without_gil(n_threads, [&](const Context& context) {
    return HeldStats{
        Stats::shares({codes.data(), codes.size()}, n_classes, as_span(weight), context), {}};
  });
}

HeldStats regression(const Targets& y, const std::optional<DoubleArray>& weight, bool centred,
                     bool counted) {
  check_weight(weight, y.shape(0));
  std::vector<nb::object> held{nb::cast(y)};
  if (weight) held.push_back(nb::cast(*weight));
  return {Stats::regression({y.data(), y.size()}, y.shape(1), as_span(weight), centred, counted),
          std::move(held)};
}

HeldStats newton(const DoubleArray& gradient, const DoubleArray& hessian, unsigned bits,
                 bool counted) {
  if (gradient.shape(0) != hessian.shape(0))
    throw std::invalid_argument("gradient and hessian differ in length");
  if (bits < 4 || bits > 30) throw std::invalid_argument("bits must be in [4, 30]");
  return {Stats::newton(as_span(gradient), as_span(hessian), bits, counted),
          {nb::cast(gradient), nb::cast(hessian)}};
}

using Floats = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::vector<RowId> ascending(const std::optional<Rows>& rows, std::size_t n) {
  std::vector<RowId> some;
  if (rows) some.assign(rows->data(), rows->data() + rows->shape(0));
  for (std::size_t i = 0; i < some.size(); ++i) {
    if (some[i] >= n || (i > 0 && some[i] <= some[i - 1]))
      throw std::invalid_argument("rows must be ascending and in range");
  }
  return some;
}

HeldStats gradients(const Floats& gradient, const std::optional<Floats>& hessian,
                    const std::optional<Rows>& rows, int n_threads) {
  std::vector<nb::object> held{nb::cast(gradient)};
  if (hessian) held.push_back(nb::cast(*hessian));
  const std::span<const float> h =
      hessian ? std::span(hessian->data(), hessian->shape(0)) : std::span<const float>();
  std::vector<RowId> some = ascending(rows, gradient.shape(0));
  return without_gil(n_threads, [&](const Context& context) {
    HeldStats made{Stats::gradients({gradient.data(), gradient.shape(0)}, h, context),
                   std::move(held)};
    if (rows) made.stats.restrict_to(std::move(some));
    return made;
  });
}

using FloatTable = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

HeldStats vector_gradients(const FloatTable& gradient, const std::optional<FloatTable>& hessian,
                           const std::optional<Rows>& rows, int n_threads) {
  std::vector<nb::object> held{nb::cast(gradient)};
  if (hessian) held.push_back(nb::cast(*hessian));
  const std::span<const float> h =
      hessian ? std::span(hessian->data(), hessian->size()) : std::span<const float>();
  std::vector<RowId> some = ascending(rows, gradient.shape(1));
  return without_gil(n_threads, [&](const Context& context) {
    HeldStats made{
        Stats::vector_gradients({gradient.data(), gradient.size()}, h, gradient.shape(0), context),
        std::move(held)};
    if (rows) made.stats.restrict_to(std::move(some));
    return made;
  });
}

Forest grow_sharded(const BinnedMatrix& matrix, const BinMapper& mapper, const HeldStats& stats,
                    const TreeParams& params, const std::vector<Rows>& shards, int n_threads) {
  std::vector<std::unique_ptr<Shard>> parts;
  std::vector<std::uint8_t> taken(matrix.n_rows, 0);
  for (const Rows& rows : shards) {
    std::vector<RowId> ids(rows.data(), rows.data() + rows.shape(0));
    for (const RowId r : ids) {
      if (r >= matrix.n_rows) throw std::invalid_argument("a shard names a row out of range");
      if (std::exchange(taken[r], 1) != 0)
        throw std::invalid_argument("shards name row " + std::to_string(r) + " twice");
    }
    parts.push_back(std::make_unique<MemoryShard>(matrix, stats.stats, ids));
  }
  return without_gil(n_threads, [&](const Context& context) {
    return Forest(grow_tree(parts, matrix, mapper, stats.stats, params, context));
  });
}

nb::tuple grow_with_leaves(const BinnedMatrix& matrix, const BinMapper& mapper,
                           const HeldStats& stats, const TreeParams& params, int n_threads) {
  const std::size_t n = matrix.n_rows;
  auto leaves = std::make_unique_for_overwrite<std::uint32_t[]>(n);
  Forest forest = without_gil(n_threads, [&](const Context& context) {
    return Forest(
        grow_tree_with_leaves(matrix, mapper, stats.stats, params, context, {leaves.get(), n}));
  });
  std::uint32_t* data = leaves.release();
  const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<std::uint32_t*>(p); });
  const std::size_t shape[1] = {n};
  return nb::make_tuple(nb::cast(std::move(forest)),
                        nb::ndarray<nb::numpy, std::uint32_t>(data, 1, shape, owner));
}

/// What a criterion says of a split, from the class weights (or sums) of both sides: for tests and
/// teaching.
double split_quality(Criterion criterion, const DoubleArray& left, const DoubleArray& right) {
  if (left.shape(0) != right.shape(0) || left.shape(0) < 2)
    throw std::invalid_argument("sides differ in length");
  SumShape shape;
  shape.n_sums = left.shape(0);
  if (for_classes(criterion)) shape.n_classes = {static_cast<std::uint32_t>(shape.n_sums)};
  std::vector<double> both(shape.n_sums);
  double weight[2] = {0, 0};
  for (std::size_t k = 0; k < shape.n_sums; ++k) {
    both[k] = left.data()[k] + right.data()[k];
    weight[0] += left.data()[k];
    weight[1] += right.data()[k];
  }
  const double parent = node_score(criterion, shape, both.data());
  const double gain = node_score(criterion, shape, left.data()) +
                      node_score(criterion, shape, right.data()) - parent;
  return normalised(criterion, gain, parent, weight[0], weight[1]);
}

void bind_params(nb::module_& m) {
  nb::enum_<Criterion>(m, "Criterion")
      .value("gini", Criterion::gini)
      .value("entropy", Criterion::entropy)
      .value("gain_ratio", Criterion::gain_ratio)
      .value("normalized_gain", Criterion::normalized_gain)
      .value("error", Criterion::error)
      .value("exponential", Criterion::exponential)
      .value("squared_error", Criterion::squared_error)
      .value("absolute_error", Criterion::absolute_error)
      .value("poisson", Criterion::poisson)
      .value("newton", Criterion::newton);
  nb::enum_<SplitRule>(m, "SplitRule")
      .value("best", SplitRule::best)
      .value("random", SplitRule::random);
  nb::enum_<Growth>(m, "Growth")
      .value("depth_first", Growth::depth_first)
      .value("best_first", Growth::best_first)
      .value("level", Growth::level)
      .value("symmetric", Growth::symmetric);
  nb::class_<TreeParams>(m, "TreeParams", "Everything that shapes one tree.")
      .def(nb::init<>())
      .def_rw("criterion", &TreeParams::criterion)
      .def_rw("rule", &TreeParams::rule)
      .def_rw("growth", &TreeParams::growth)
      .def_rw("max_depth", &TreeParams::max_depth)
      .def_rw("max_leaves", &TreeParams::max_leaves)
      .def_rw("min_rows_split", &TreeParams::min_rows_split)
      .def_rw("min_rows_leaf", &TreeParams::min_rows_leaf)
      .def_rw("min_weight_leaf", &TreeParams::min_weight_leaf)
      .def_rw("min_gain", &TreeParams::min_gain)
      .def_rw("node_features", &TreeParams::node_features)
      .def_rw("tree_features", &TreeParams::tree_features)
      .def_rw("level_features", &TreeParams::level_features)
      .def_rw("multiway", &TreeParams::multiway)
      .def_rw("in_parts", &TreeParams::in_parts)
      .def_rw("charged_cuts", &TreeParams::charged_cuts)
      .def_rw("l2", &TreeParams::l2)
      .def_rw("l1", &TreeParams::l1)
      .def_rw("least_hessian", &TreeParams::least_hessian)
      .def_rw("max_value", &TreeParams::max_value)
      .def_rw("monotone", &TreeParams::monotone)
      .def_rw("interactions", &TreeParams::interactions)
      .def_rw("retire", &TreeParams::retire)
      .def_rw("seed", &TreeParams::seed);
}

void bind_stats(nb::module_& m) {
  nb::class_<HeldStats>(m, "Stats", "What each row adds to the sums of its bin, in fixed point.")
      .def_static("classes", &classes, nb::arg("codes").noconvert(), nb::arg("n_classes"),
                  nb::arg("weight").noconvert().none(), nb::arg("counted") = false)
      .def_static("divisible", &divisible, nb::arg("codes").noconvert(), nb::arg("n_classes"),
                  nb::arg("weight").noconvert().none())
      .def_static("shares", &shares, nb::arg("codes").noconvert(), nb::arg("n_classes"),
                  nb::arg("weight").noconvert(), nb::arg("n_threads") = 1)
      .def_static("regression", &regression, nb::arg("y").noconvert(),
                  nb::arg("weight").noconvert().none(), nb::arg("centred") = true,
                  nb::arg("counted") = false)
      .def_static("newton", &newton, nb::arg("gradient").noconvert(),
                  nb::arg("hessian").noconvert(), nb::arg("bits") = 16, nb::arg("counted") = false)
      .def_static("gradients", &gradients, nb::arg("gradient").noconvert(),
                  nb::arg("hessian").noconvert().none(), nb::arg("rows").noconvert() = nb::none(),
                  nb::arg("n_threads") = 1)
      .def_static("vector_gradients", &vector_gradients, nb::arg("gradient").noconvert(),
                  nb::arg("hessian").noconvert().none(), nb::arg("rows").noconvert() = nb::none(),
                  nb::arg("n_threads") = 1, "Of one tree for all outputs: (n_outputs, n_rows).")
      .def_prop_ro("width", [](const HeldStats& s) { return s.stats.width; });
}

}  // namespace

void bind_tree(nb::module_& m) {
  bind_params(m);
  bind_stats(m);
  m.def(
      "grow_tree",
      [](const BinnedMatrix& matrix, const BinMapper& mapper, const HeldStats& stats,
         const TreeParams& params, int n_threads) {
        return without_gil(n_threads, [&](const Context& context) {
          return Forest(grow_tree(matrix, mapper, stats.stats, params, context));
        });
      },
      nb::arg("matrix"), nb::arg("mapper"), nb::arg("stats"), nb::arg("params"),
      nb::arg("n_threads"));
  m.def(
      "grow_tree_in_parts",
      [](const BinnedMatrix& matrix, const BinMapper& mapper, const HeldStats& stats,
         const TreeParams& params, int n_threads) {
        return without_gil(n_threads, [&](const Context& context) {
          return Forest(grow_tree_in_parts(matrix, mapper, stats.stats, params, context));
        });
      },
      nb::arg("matrix"), nb::arg("mapper"), nb::arg("stats"), nb::arg("params"),
      nb::arg("n_threads"));
  m.def(
      "grow_tree_with_rows",
      [](const BinnedMatrix& matrix, const BinMapper& mapper, const HeldStats& stats,
         const TreeParams& params, int n_threads) {
        LeafRows leaves;
        Forest forest = without_gil(n_threads, [&](const Context& context) {
          return Forest(grow_tree(matrix, mapper, stats.stats, params, context, &leaves));
        });
        const std::size_t n_rows = leaves.rows.size(), n_begin = leaves.begin.size(),
                          n_leaves = leaves.node.size();
        return nb::make_tuple(nb::cast(std::move(forest)),
                              to_numpy(std::move(leaves.rows), {n_rows}),
                              to_numpy(std::move(leaves.begin), {n_begin}),
                              to_numpy(std::move(leaves.node), {n_leaves}));
      },
      nb::arg("matrix"), nb::arg("mapper"), nb::arg("stats"), nb::arg("params"),
      nb::arg("n_threads"),
      "The tree, and the rows of its leaves: rows, begin of each leaf, index of the leaf.");
  m.def("grow_tree_with_leaves", &grow_with_leaves, nb::arg("matrix"), nb::arg("mapper"),
        nb::arg("stats"), nb::arg("params"), nb::arg("n_threads"),
        "The tree, and for every row of the matrix the index of its leaf.");
  m.def("grow_tree_sharded", &grow_sharded, nb::arg("matrix"), nb::arg("mapper"), nb::arg("stats"),
        nb::arg("params"), nb::arg("shards"), nb::arg("n_threads"));
  m.def("split_quality", &split_quality, nb::arg("criterion"), nb::arg("left").noconvert(),
        nb::arg("right").noconvert());
}

}  // namespace committee::bindings
