// Data for the binning tests: a dense table of doubles, and the same numbers as every kind of
// input.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "committee/base/random.hpp"
#include "committee/bins/binning.hpp"

namespace binning_test {
using namespace committee;

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Table {
  std::size_t n_rows = 0, n_features = 0;
  std::vector<double> x;  // row-major
  double& at(std::size_t r, std::size_t f) { return x[r * n_features + f]; }
  double at(std::size_t r, std::size_t f) const { return x[r * n_features + f]; }
};

inline Table table(std::size_t n_rows, std::size_t n_features) {
  return {n_rows, n_features, std::vector<double>(n_rows * n_features)};
}

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) return DType::f32;
  if constexpr (std::is_same_v<T, double>) return DType::f64;
  if constexpr (std::is_same_v<T, std::int8_t>) return DType::i8;
  if constexpr (std::is_same_v<T, std::int16_t>) return DType::i16;
  if constexpr (std::is_same_v<T, std::int32_t>) return DType::i32;
  if constexpr (std::is_same_v<T, std::int64_t>) return DType::i64;
  if constexpr (std::is_same_v<T, std::uint8_t>) return DType::u8;
  if constexpr (std::is_same_v<T, std::uint16_t>) return DType::u16;
  if constexpr (std::is_same_v<T, std::uint32_t>) return DType::u32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return DType::u64;
}

enum class Order { c, f, padded_reversed };

/// A dense copy that owns its memory.
template <class T>
struct Dense {
  std::vector<T> data;
  Input input;
  Dense(const Table& t, Order order) {
    const auto size = static_cast<std::ptrdiff_t>(sizeof(T));
    const auto n = static_cast<std::ptrdiff_t>(t.n_rows),
               m = static_cast<std::ptrdiff_t>(t.n_features);
    std::ptrdiff_t row = m, column = 1, first = 0;
    if (order == Order::f) row = 1, column = n;
    if (order == Order::padded_reversed) row = -(3 * m + 1), column = 3, first = (3 * m + 1) * n;
    data.resize(static_cast<std::size_t>((3 * m + 1) * (n + 1) + 1));
    for (std::ptrdiff_t r = 0; r < n; ++r) {
      for (std::ptrdiff_t f = 0; f < m; ++f) {
        data[static_cast<std::size_t>(first + r * row + f * column)] =
            static_cast<T>(t.at(static_cast<std::size_t>(r), static_cast<std::size_t>(f)));
      }
    }
    input.n_rows = t.n_rows;
    input.n_features = t.n_features;
    input.dense = {reinterpret_cast<const std::byte*>(data.data() + first), dtype_of<T>(),
                   row * size, column * size};
  }
};

/// A CSR or CSC copy; every seventh zero is stored all the same.
template <class T>
struct Sparse {
  std::vector<T> values;
  std::vector<std::int64_t> indptr{0};
  std::vector<std::int32_t> indices;
  Input input;
  Sparse(const Table& t, bool by_row) {
    const std::size_t lines = by_row ? t.n_rows : t.n_features;
    const std::size_t width = by_row ? t.n_features : t.n_rows;
    for (std::size_t i = 0; i < lines; ++i) {
      for (std::size_t j = 0; j < width; ++j) {
        const double x = by_row ? t.at(i, j) : t.at(j, i);
        if (x == 0.0 && mix(i, j) % 7 != 0) continue;
        values.push_back(static_cast<T>(x));
        indices.push_back(static_cast<std::int32_t>(j));
      }
      indptr.push_back(static_cast<std::int64_t>(values.size()));
    }
    input.n_rows = t.n_rows;
    input.n_features = t.n_features;
    input.sparse = true;
    input.csx = {reinterpret_cast<const std::byte*>(values.data()), dtype_of<T>(), indptr.data(),
                 indices.data(), by_row};
  }
};

inline bool same(const FeatureBins& a, const FeatureBins& b) {
  return a.cuts == b.cuts && a.gap_low == b.gap_low && a.gap_high == b.gap_high &&
         a.n_bins == b.n_bins && a.categorical == b.categorical && a.zero_bin == b.zero_bin;
}

inline bool same(const BinMapper& a, const BinMapper& b) {
  if (a.n_features() != b.n_features()) return false;
  for (std::size_t f = 0; f < a.n_features(); ++f) {
    if (!same(a.feature(f), b.feature(f))) return false;
  }
  return true;
}

/// Every cell of the matrix is the bin of its value.
inline bool codes_match(const BinnedMatrix& matrix, const BinMapper& mapper, const Table& t) {
  for (std::size_t r = 0; r < t.n_rows; ++r) {
    for (std::size_t f = 0; f < t.n_features; ++f) {
      if (matrix.code(r, f) != bin_of(mapper.feature(f), t.at(r, f))) return false;
    }
  }
  return true;
}

inline bool same_bytes(const BinnedMatrix& a, const BinnedMatrix& b) {
  return a.layout == b.layout && a.codes8 == b.codes8 && a.codes16 == b.codes16 &&
         a.row_begin == b.row_begin && a.entry_feature == b.entry_feature &&
         a.entry_code == b.entry_code && a.column_offset == b.column_offset &&
         a.n_bins == b.n_bins && a.zero_bin == b.zero_bin && a.categorical == b.categorical;
}

/// Columns of all sorts: continuous, few values, constant, missing, half zero, heavy values,
/// extremes.
inline Table mixed_table(std::size_t n_rows, std::uint64_t seed, std::size_t n_features = 11) {
  Table t = table(n_rows, n_features);
  KeyedStream draw(seed, Use::threshold);
  const double extremes[] = {1e308,  -1e308,        5e-324,        -5e-324,  0.0,     -0.0, 1.0,
                             1e-323, 1.0 + 0x1p-52, 1.0 + 0x1p-51, 1.5e-323, -1e-300, 1e300};
  for (std::size_t r = 0; r < n_rows; ++r) {
    for (std::size_t f = 0; f < n_features; ++f) {
      const double u = draw.uniform();
      double x = u - 0.5;
      switch (f % 11) {
        case 1:
          x = static_cast<double>(static_cast<float>(u * 100));
          break;
        case 2:
          x = std::floor(u * 7) - 3;
          break;
        case 3:
          x = 42.5;
          break;
        case 4:
          x = kNaN;
          break;
        case 5:
          x = u < 0.8 ? 0.0 : u;
          break;
        case 6:
          x = u < 0.3 ? kNaN : u < 0.5 ? 0.25 : u < 0.7 ? 0.75 : u;
          break;
        case 7:
          x = extremes[static_cast<std::size_t>(u * 13)];
          break;
        case 8:
          x = std::exp(40 * (u - 0.5));
          break;
        case 9:
          x = u < 0.97 ? 0.0 : -1.0;
          break;
        case 10:
          x = std::floor(u * 300);
          break;
        default:
          break;
      }
      t.at(r, f) = x;
    }
  }
  return t;
}

inline BinMapper fit(const Input& input, std::size_t max_bins = 255,
                     std::span<const double> weight = {}, std::vector<std::uint32_t> n_levels = {},
                     int n_threads = 1) {
  return BinMapper::fit(input, weight, {max_bins, 7, std::move(n_levels)}, {n_threads, nullptr});
}

inline BinMapper fit(const Table& t, std::size_t max_bins = 255,
                     std::span<const double> weight = {}) {
  return fit(Dense<double>(t, Order::c).input, max_bins, weight);
}

/// Distinct values of a column and their weights.
inline std::map<double, double> masses(const Table& t, std::size_t f,
                                       std::span<const double> weight = {}) {
  std::map<double, double> mass;
  for (std::size_t r = 0; r < t.n_rows; ++r) {
    const double w = weight.empty() ? 1.0 : weight[r];
    if (!std::isnan(t.at(r, f)) && w > 0) mass[t.at(r, f) + 0.0] += w;
  }
  return mass;
}

}  // namespace binning_test
