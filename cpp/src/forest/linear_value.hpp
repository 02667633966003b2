// What a linear leaf says of a row, for fitting and predicting alike; and single values of an
// input.
#pragma once

#include <algorithm>

#include "bins/dtype.hpp"
#include "committee/forest/linear_forest.hpp"

namespace committee {

/// Value of a row and feature, dense. T is the input's number type.
template <class T>
struct DenseValue {
  const DenseInput& dense;
  double operator()(std::size_t row, std::size_t feature) const {
    return read_number<double, T>(dense.data + static_cast<std::ptrdiff_t>(row) * dense.row_stride +
                                  static_cast<std::ptrdiff_t>(feature) * dense.column_stride);
  }
};

/// The same, sparse: a search in the row or column. Whoever led the row to its leaf has checked the
/// input on the way.
template <class T>
struct SparseValue {
  const SparseInput& csx;
  double operator()(std::size_t row, std::size_t feature) const {
    const std::size_t line = csx.by_row ? row : feature;
    const auto wanted = static_cast<std::int32_t>(csx.by_row ? feature : row);
    const std::int32_t *first = csx.indices + csx.indptr[line],
                       *last = csx.indices + csx.indptr[line + 1];
    const std::int32_t* found = std::lower_bound(first, last, wanted);
    if (found == last || *found != wanted) return 0;
    return read_number<double, T>(csx.values +
                                  static_cast<std::size_t>(found - csx.indices) * sizeof(T));
  }
};

/// Calls body(value) with the reader that fits the input.
template <class Body>
void with_values(const Input& input, const Body& body) {
  const DType dtype = input.sparse ? input.csx.dtype : input.dense.dtype;
  visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    if (input.sparse) {
      body(SparseValue<T>{input.csx});
    } else {
      body(DenseValue<T>{input.dense});
    }
  });
}

/// What a node says of a row: `constant` where it has no terms, or misses one of their features.
template <class Value>
inline double linear_value(const LinearTerms& terms, std::size_t node, double constant,
                           std::size_t row, const Value& value) {
  const std::uint64_t begin = terms.begin[node], end = terms.begin[node + 1];
  if (begin == end) return constant;
  double sum = terms.level[node];
  for (std::uint64_t i = begin; i < end; ++i) {
    const double x = value(row, terms.feature[i]);
    if (x != x) return constant;
    sum += terms.slope[i] * (std::clamp(x, terms.low[i], terms.high[i]) - terms.low[i]);
  }
  return sum;
}

/// Answers of linear leaves, for the plan of predict.cpp: body(row, what `tree` says of it).
struct LinearLeafValues {
  static constexpr bool kOfValues = false;  // which node a leaf is does matter
  const LinearForest& forest;
  const Input& input;

  template <class Leaf, class LeafTable, class Body>
  void each(std::size_t tree, std::size_t row, std::size_t n, const Leaf* leaf,
            const LeafTable& table, const Body& body) const {
    const ForestArrays& a = forest.trees().arrays();
    with_values(input, [&](const auto& value) {
      for (std::size_t r = 0; r < n; ++r) {
        const std::size_t node =
            a.tree_begin[tree] + (table.node == nullptr ? leaf[r] : table.node[leaf[r]]);
        body(row + r, linear_value(forest.terms(), node, a.values[node], row + r, value));
      }
    });
  }
};

}  // namespace committee
