// What is asked of a forest: each answer takes the leaves of a block of rows, tree after tree.
#pragma once

#include <algorithm>

#include "forest/linear_value.hpp"
#include "forest/predict_ranked.hpp"

namespace committee {

/// Where a leaf's values and its node are found: by node in the forest itself, by leaf number or
/// kind in the ranked form.
struct LeafTable {
  const double* values;
  const std::uint32_t* node;  // null: the leaf is given as its node
};

/// Trees whose leaves are found before their values are added: the sum of a row then stays in a
/// register.
inline constexpr std::size_t kTogether = 8;

struct Sums {
  static constexpr bool kOfValues = true;  // which node a leaf is does not matter
  std::size_t n_outputs;
  std::span<const double> weight, intercept;
  std::span<double> out;

  void begin(std::size_t row, std::size_t n) const {
    double* sum = out.data() + row * n_outputs;
    if (intercept.empty()) {
      std::fill_n(sum, n * n_outputs, 0.0);
      return;
    }
    for (std::size_t r = 0; r < n; ++r) {
      std::copy(intercept.begin(), intercept.end(), sum + r * n_outputs);
    }
  }
  template <class Leaf>
  void add(std::size_t tree, std::size_t row, std::size_t n, const Leaf* leaf,
           LeafTable table) const {
    const double w = weight.empty() ? 1.0 : weight[tree];
    double* sum = out.data() + row * n_outputs;
    if (n_outputs == 1) {
      for (std::size_t r = 0; r < n; ++r) sum[r] += w * table.values[leaf[r]];
      return;
    }
    if (n_outputs == 2) {
      for (std::size_t r = 0; r < n; ++r) {
        const double* value = table.values + std::size_t{2} * leaf[r];
        sum[2 * r] += w * value[0];
        sum[2 * r + 1] += w * value[1];
      }
      return;
    }
    for (std::size_t r = 0; r < n; ++r) {
      const double* value = table.values + leaf[r] * n_outputs;
      for (std::size_t k = 0; k < n_outputs; ++k) sum[r * n_outputs + k] += w * value[k];
    }
  }
  /// kTogether trees with one output, in their order; leaf[i * kRankRows + r]: of tree i.
  void add_together(std::size_t tree, std::size_t row, std::size_t n, const std::uint16_t* leaf,
                    const double* const* values) const {
    double w[kTogether];
    for (std::size_t i = 0; i < kTogether; ++i) w[i] = weight.empty() ? 1.0 : weight[tree + i];
    for (std::size_t r = 0; r < n; ++r) {
      double sum = out[row + r];
      for (std::size_t i = 0; i < kTogether; ++i) sum += w[i] * values[i][leaf[i * kRankRows + r]];
      out[row + r] = sum;
    }
  }
};

struct Members {
  static constexpr bool kOfValues = true;
  std::size_t n_outputs, n_rows;
  std::span<double> out;

  void begin(std::size_t, std::size_t) const {}
  template <class Leaf>
  void add(std::size_t tree, std::size_t row, std::size_t n, const Leaf* leaf,
           LeafTable table) const {
    double* to = out.data() + (tree * n_rows + row) * n_outputs;
    for (std::size_t r = 0; r < n; ++r) {
      std::copy_n(table.values + leaf[r] * n_outputs, n_outputs, to + r * n_outputs);
    }
  }
};

/// Sums over the trees that left a row out.
struct LeftOutSums {
  static constexpr bool kOfValues = true;
  std::size_t n_outputs, n_bytes;
  std::span<const std::uint8_t> left_out;
  std::span<double> out;
  std::span<std::uint32_t> count;

  void begin(std::size_t row, std::size_t n) const {
    std::fill_n(out.data() + row * n_outputs, n * n_outputs, 0.0);
    std::fill_n(count.data() + row, n, 0u);
  }
  template <class Leaf>
  void add(std::size_t tree, std::size_t row, std::size_t n, const Leaf* leaf,
           LeafTable table) const {
    const std::uint8_t* bits = left_out.data() + tree * n_bytes;
    for (std::size_t r = 0; r < n; ++r) {
      const std::size_t at = row + r;
      if ((bits[at / 8] >> (at % 8) & 1) == 0) continue;
      const double* value = table.values + leaf[r] * n_outputs;
      for (std::size_t k = 0; k < n_outputs; ++k) out[at * n_outputs + k] += value[k];
      ++count[at];
    }
  }
};

struct Leaves {
  static constexpr bool kOfValues = false;
  std::size_t n_trees;
  std::span<std::uint32_t> out;

  void begin(std::size_t, std::size_t) const {}
  template <class Leaf>
  void add(std::size_t tree, std::size_t row, std::size_t n, const Leaf* leaf,
           LeafTable table) const {
    std::uint32_t* to = out.data() + row * n_trees + tree;
    for (std::size_t r = 0; r < n; ++r) {
      to[r * n_trees] = table.node == nullptr ? leaf[r] : table.node[leaf[r]];
    }
  }
};

struct LinearSums : LinearLeafValues {
  std::span<const double> weight, intercept;
  std::span<double> out;

  void begin(std::size_t row, std::size_t n) const {
    std::fill_n(out.data() + row, n, intercept.empty() ? 0.0 : intercept[0]);
  }
  template <class Leaf>
  void add(std::size_t tree, std::size_t row, std::size_t n, const Leaf* leaf,
           LeafTable table) const {
    const double w = weight.empty() ? 1.0 : weight[tree];
    each(tree, row, n, leaf, table, [&](std::size_t r, double value) { out[r] += w * value; });
  }
};

struct LinearMembers : LinearLeafValues {
  std::span<double> out;

  void begin(std::size_t, std::size_t) const {}
  template <class Leaf>
  void add(std::size_t tree, std::size_t row, std::size_t n, const Leaf* leaf,
           LeafTable table) const {
    double* to = out.data() + tree * input.n_rows;
    each(tree, row, n, leaf, table, [&](std::size_t r, double value) { to[r] = value; });
  }
};

}  // namespace committee
