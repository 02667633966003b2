// The walk of a few rows through a tree for Shapley values: the rows are the lanes of a vector,
// each with its own numbers, so a row's sums do not depend on its neighbours.
#pragma once

#include <utility>

#include "shap/shap_tree.hpp"

namespace committee {

/// Rows that walk together.
inline constexpr std::size_t kShapLanes = 8;

inline constexpr std::size_t kShapBytes = kShapLanes * sizeof(double);

/// A number of each row. Vectors of the compiler: whatever the instruction set, the same single
/// operations. Two of 32 bytes, because larger ones are taken apart where no register holds them,
/// which is on most machines, and live in memory then.
class ShapVector {
 public:
  ShapVector() = default;
  [[gnu::always_inline]] ShapVector(double all) : low_(Half{} + all), high_(Half{} + all) {}

  double& operator[](std::size_t lane) { return reinterpret_cast<double*>(this)[lane]; }
  double operator[](std::size_t lane) const { return reinterpret_cast<const double*>(this)[lane]; }

  [[gnu::always_inline]] friend ShapVector operator+(const ShapVector& a, const ShapVector& b) {
    return {a.low_ + b.low_, a.high_ + b.high_};
  }
  [[gnu::always_inline]] friend ShapVector operator-(const ShapVector& a, const ShapVector& b) {
    return {a.low_ - b.low_, a.high_ - b.high_};
  }
  [[gnu::always_inline]] friend ShapVector operator*(const ShapVector& a, const ShapVector& b) {
    return {a.low_ * b.low_, a.high_ * b.high_};
  }
  [[gnu::always_inline]] void operator+=(const ShapVector& b) { *this = *this + b; }
  [[gnu::always_inline]] void operator*=(const ShapVector& b) { *this = *this * b; }

 private:
  // Their alignment is said because compilers else let it depend on the instruction set.
  typedef double Half __attribute__((vector_size(kShapBytes / 2), aligned(kShapBytes / 2)));
  [[gnu::always_inline]] ShapVector(const Half& low, const Half& high) : low_(low), high_(high) {}

  Half low_{}, high_{};
};

struct alignas(kShapBytes) ShapLanes {
  ShapVector v;
};

/// What one thread needs to walk through any tree of a forest.
class ShapScratch {
 public:
  ShapScratch(const ShapForest& forest, bool pairs);

 private:
  friend struct ShapWalk;
  struct alignas(kShapBytes) Frame {
    ShapVector go, on, step;  // 1 where the row goes left; was let through before; e
  };
  std::vector<ShapLanes> product_, sums_, term_, go_, on_;
  std::vector<Frame> frames_;
  std::vector<const double*> known_;   // of each slot on the path
  std::vector<std::uint32_t> column_;  // of each slot on the path
};

/// Adds what a tree says of kShapLanes rows. columns: n_columns, the rows' values; phi: n_columns *
/// n_outputs.
void add_shap_values(const ForestArrays& arrays, const ShapForest& forest, std::size_t tree,
                     const ShapLanes* columns, ShapScratch& scratch, ShapLanes* phi);

/// The same, and pair[shap_pair(i, j) * n_outputs + output] gets the whole interaction of i and j.
void add_shap_pairs(const ForestArrays& arrays, const ShapForest& forest, std::size_t tree,
                    const ShapLanes* columns, ShapScratch& scratch, ShapLanes* phi,
                    ShapLanes* pair);

/// The place of a pair of different columns.
inline std::size_t shap_pair(std::size_t i, std::size_t j) {
  if (i < j) std::swap(i, j);
  return i * (i - 1) / 2 + j;
}

}  // namespace committee
