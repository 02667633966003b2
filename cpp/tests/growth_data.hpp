// Data for the tests of tree growth: tables with numeric, categorical, missing and zero cells,
// targets of every kind, and the comparison that counts here: two trees are the same when all their
// arrays are.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>

#include "binning_data.hpp"
#include "committee/forest/forest.hpp"
#include "committee/forest/predict.hpp"
#include "committee/growth/shard.hpp"
#include "committee/growth/tree.hpp"

namespace growth_test {
using namespace committee;
using binning_test::kNaN;
using binning_test::Table;

struct Shape {
  std::size_t n_rows = 100, n_features = 5;
  double missing = 0;             // share of missing cells
  double zeros = 0;               // share of zero cells
  std::size_t n_values = 0;       // distinct values of a numeric feature; 0: continuous
  std::size_t n_categorical = 0;  // the last features, n_levels each
  std::uint32_t n_levels = 6;
  std::size_t max_bins = 255;
  std::uint64_t seed = 1;
};

inline Table make_table(const Shape& shape) {
  Table t = binning_test::table(shape.n_rows, shape.n_features);
  KeyedStream draw(shape.seed, Use::threshold);
  for (std::size_t r = 0; r < shape.n_rows; ++r) {
    for (std::size_t f = 0; f < shape.n_features; ++f) {
      const bool missing = draw.uniform() < shape.missing, zero = draw.uniform() < shape.zeros;
      const double u = draw.uniform();
      double x =
          shape.n_values > 0 ? std::floor(u * static_cast<double>(shape.n_values)) - 2 : 4 * u - 2;
      if (f + shape.n_categorical >= shape.n_features) x = std::floor(u * shape.n_levels);
      t.at(r, f) = missing ? kNaN : zero ? 0.0 : x;
    }
  }
  return t;
}

/// A table with its bins, dense and sparse.
class Data {
 public:
  explicit Data(const Shape& shape) : Data(shape, make_table(shape)) {}
  Data(const Shape& shape, Table t, std::span<const double> weight = {})
      : table(std::move(t)),
        dense(table, binning_test::Order::c),
        sparse(table, true),
        mapper(BinMapper::fit(dense.input, weight, params(shape), Context{})),
        matrix(mapper.transform(dense.input, Context{})),
        sparse_matrix(mapper.transform(sparse.input, Context{})) {}
  Data(const Data&) = delete;

  Table table;
  binning_test::Dense<double> dense;
  binning_test::Sparse<double> sparse;
  BinMapper mapper;
  BinnedMatrix matrix, sparse_matrix;

 private:
  static BinningParams params(const Shape& shape) {
    BinningParams p;
    p.max_bins = shape.max_bins;
    p.n_levels.assign(shape.n_features, 0);
    for (std::size_t f = shape.n_features - shape.n_categorical; f < shape.n_features; ++f) {
      p.n_levels[f] = shape.n_levels;
    }
    return p;
  }
};

/// Columns given one by one; all numeric unless levels says otherwise.
inline Table columns(const std::vector<std::vector<double>>& by_feature) {
  Table t = binning_test::table(by_feature[0].size(), by_feature.size());
  for (std::size_t f = 0; f < by_feature.size(); ++f) {
    for (std::size_t r = 0; r < by_feature[f].size(); ++r) t.at(r, f) = by_feature[f][r];
  }
  return t;
}

inline double noise(std::uint64_t seed, std::uint64_t i) {
  KeyedStream draw(mix(seed, i), Use::threshold);
  double sum = 0;
  for (int k = 0; k < 12; ++k) sum += draw.uniform();
  return sum - 6;
}

/// A signal of the first features plus noise.
inline std::vector<double> make_y(const Table& t, std::uint64_t seed, double noise_scale = 0.5) {
  std::vector<double> y(t.n_rows);
  for (std::size_t r = 0; r < t.n_rows; ++r) {
    const auto x = [&](std::size_t f) {
      const double v = t.at(r, f % t.n_features);
      return std::isnan(v) ? 0.7 : v;
    };
    y[r] = x(0) + (x(1) > 0 ? x(2) : -x(2)) + noise_scale * noise(seed, r);
  }
  return y;
}

inline std::vector<std::uint32_t> make_classes(const Table& t, std::uint32_t k,
                                               std::uint64_t seed) {
  const std::vector<double> y = make_y(t, seed);
  std::vector<std::uint32_t> codes(t.n_rows);
  for (std::size_t r = 0; r < t.n_rows; ++r) {
    const double v = std::clamp((y[r] + 3) / 6, 0.0, 0.999);
    codes[r] = static_cast<std::uint32_t>(v * k);
  }
  return codes;
}

/// Weights: integers 0..3, or any real in (0, 2).
inline std::vector<double> make_weight(std::size_t n, std::uint64_t seed, bool integers) {
  std::vector<double> w(n);
  KeyedStream draw(seed, Use::node_features);
  for (double& v : w)
    v = integers ? static_cast<double>(draw.below(4)) : 2 * draw.uniform() + 0x1p-40;
  return w;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

inline bool same_tree(const ForestArrays& a, const ForestArrays& b) {
  return a.n_features == b.n_features && a.n_outputs == b.n_outputs &&
         a.tree_begin == b.tree_begin && same_bits(a.nodes, b.nodes) &&
         same_bits(a.values, b.values) && a.set_begin == b.set_begin &&
         a.set_words == b.set_words && same_bits(a.gain, b.gain) &&
         same_bits(a.impurity, b.impurity) && same_bits(a.weight, b.weight) && a.count == b.count;
}

inline bool is_leaf(const ForestArrays& tree, std::size_t i) { return tree.nodes[i].left == i; }
inline std::uint32_t feature_of(const ForestArrays& tree, std::size_t i) {
  return tree.nodes[i].feature & kFeatureMask;
}
inline bool missing_left(const ForestArrays& tree, std::size_t i) {
  return (tree.nodes[i].feature & kMissingLeft) != 0;
}

inline std::size_t count_leaves(const ForestArrays& tree) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) n += is_leaf(tree, i) ? 1 : 0;
  return n;
}

inline std::vector<std::size_t> depths(const ForestArrays& tree) {
  std::vector<std::size_t> depth(tree.nodes.size(), 0);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    if (is_leaf(tree, i)) continue;
    depth[tree.nodes[i].left] = depth[tree.nodes[i].left + 1] = depth[i] + 1;
  }
  return depth;
}

/// The leaf each row reaches by its raw values.
inline std::vector<std::uint32_t> leaves_of(const ForestArrays& tree, const Input& input) {
  std::vector<std::uint32_t> out(input.n_rows);
  apply(Forest(tree), input, out, Context{});
  return out;
}

inline std::vector<double> predictions(const ForestArrays& tree, const Input& input) {
  std::vector<double> out(input.n_rows * tree.n_outputs);
  predict(Forest(tree), input, {}, {}, out, Context{});
  return out;
}

/// The rows of `stats` dealt to shards by a hash, then grown together.
inline ForestArrays grow_sharded(const BinnedMatrix& matrix, const BinMapper& mapper,
                                 const Stats& stats, const TreeParams& params, std::size_t n_shards,
                                 Context context = {}) {
  std::vector<std::vector<RowId>> rows(n_shards);
  for (const RowId r : stats.counted_rows()) rows[mix(r, n_shards) % n_shards].push_back(r);
  std::vector<std::unique_ptr<Shard>> shards;
  for (std::size_t k = 0; k < n_shards; ++k) {
    std::reverse(rows[k].begin(), rows[k].end());
    shards.push_back(std::make_unique<MemoryShard>(matrix, stats, rows[k]));
  }
  return grow_tree(shards, matrix, mapper, stats, params, context);
}

/// The exact sums of some rows.
inline std::vector<__int128> fine_of(const Stats& stats, std::span<const RowId> rows) {
  std::vector<__int128> fine(stats.fine_width(), 0);
  stats.add_fine(rows, fine.data());
  return fine;
}
inline double mean_of(const Stats& stats, std::span<const RowId> rows, std::size_t column = 0) {
  return stats.fine_value(fine_of(stats, rows).data(), column);
}
inline double impurity_of(const Stats& stats, std::span<const RowId> rows, std::size_t column = 0) {
  return stats.fine_impurity(fine_of(stats, rows).data(), column);
}

inline bool close(double a, double b, double tolerance = 1e-9) {
  return std::abs(a - b) <= tolerance * std::max({1.0, std::abs(a), std::abs(b)});
}

}  // namespace growth_test
