// Inputs made at random for tests: every number type, order and kind of sparseness, next to the
// same numbers as plain rows of float64, which is what an oracle sees.
#pragma once

#include <cstring>
#include <type_traits>

#include "committee/bins/input.hpp"
#include "random_forest.hpp"

namespace committee::testing {

/// Owns what an Input borrows.
struct Table {
  Input input;
  std::vector<double> rows;  // row-major float64: what the oracle sees
  std::vector<std::byte> bytes;
  std::vector<std::int64_t> indptr;
  std::vector<std::int32_t> indices;
};

inline std::size_t item_size(DType dtype) {
  switch (dtype) {
    case DType::f64:
    case DType::i64:
    case DType::u64:
      return 8;
    case DType::f32:
    case DType::i32:
    case DType::u32:
      return 4;
    case DType::i16:
    case DType::u16:
      return 2;
    default:
      return 1;
  }
}

template <class T>
double put(std::byte* at, double value) {
  T typed{};
  if constexpr (std::is_floating_point_v<T>) {
    typed = static_cast<T>(value);
  } else {
    if (std::isfinite(value))
      typed = static_cast<T>(static_cast<std::int64_t>(std::fmod(std::fabs(value), 9.0)));
    if (std::is_signed_v<T> && value < 0) typed = static_cast<T>(-typed);
  }
  std::memcpy(at, &typed, sizeof typed);
  return static_cast<double>(typed);
}

/// Writes the value as the number type can hold it and returns what it then is.
inline double put(DType dtype, std::byte* at, double value) {
  switch (dtype) {
    case DType::f32:
      return put<float>(at, std::fabs(value) > 1e30 ? 1e30 : value);
    case DType::f64:
      return put<double>(at, value);
    case DType::i8:
      return put<std::int8_t>(at, value);
    case DType::i16:
      return put<std::int16_t>(at, value);
    case DType::i32:
      return put<std::int32_t>(at, value);
    case DType::i64:
      return put<std::int64_t>(at, value);
    case DType::u8:
      return put<std::uint8_t>(at, value);
    case DType::u16:
      return put<std::uint16_t>(at, value);
    case DType::u32:
      return put<std::uint32_t>(at, value);
    case DType::u64:
      return put<std::uint64_t>(at, value);
    case DType::boolean:
      *at = static_cast<std::byte>(value > 0 ? 7 : 0);
      return value > 0 ? 1.0 : 0.0;
  }
  return 0.0;
}

inline double cell(Random& random, double missing) {
  if (chance(random, missing)) return std::nan("");
  return chance(random, 0.2) ? std::normal_distribution<double>()(random) : stock(random);
}

enum class Layout { c_order, f_order, reversed, padded, unaligned };

inline Table dense_table(Random& random, std::size_t n, std::size_t m, DType dtype, Layout layout,
                         double missing) {
  Table t;
  const std::size_t size = item_size(dtype);
  t.rows.resize(n * m);
  t.bytes.resize((n + 2) * (2 * m + 3) * size + 16);
  std::ptrdiff_t row = static_cast<std::ptrdiff_t>(m * size),
                 column = static_cast<std::ptrdiff_t>(size);
  std::size_t start = 0;
  if (layout == Layout::f_order) {
    row = static_cast<std::ptrdiff_t>(size);
    column = static_cast<std::ptrdiff_t>(n * size);
  } else if (layout == Layout::reversed) {
    start = (n == 0 || m == 0) ? 0 : (n * m - 1) * size;
    row = -row;
    column = -column;
  } else if (layout == Layout::padded) {
    row = static_cast<std::ptrdiff_t>((2 * m + 3) * size);
    column = static_cast<std::ptrdiff_t>(2 * size);
  } else if (layout == Layout::unaligned) {
    start = 1;
  }
  t.input.n_rows = n;
  t.input.n_features = m;
  t.input.dense = {t.bytes.data() + start, dtype, row, column};
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t f = 0; f < m; ++f) {
      std::byte* at = t.bytes.data() + start + static_cast<std::ptrdiff_t>(r) * row +
                      static_cast<std::ptrdiff_t>(f) * column;
      t.rows[r * m + f] = put(dtype, at, cell(random, missing));
    }
  }
  return t;
}

inline Table sparse_table(Random& random, std::size_t n, std::size_t m, DType dtype, bool by_row,
                          double density, double missing) {
  Table t;
  const std::size_t size = item_size(dtype), lines = by_row ? n : m, length = by_row ? m : n;
  t.rows.assign(n * m, 0.0);
  t.indptr.push_back(0);
  for (std::size_t line = 0; line < lines; ++line) {
    for (std::size_t i = 0; i < length; ++i) {
      if (!chance(random, density)) continue;
      t.bytes.resize(t.bytes.size() + size);
      t.indices.push_back(static_cast<std::int32_t>(i));
      const double value =
          put(dtype, t.bytes.data() + t.bytes.size() - size, cell(random, missing));
      t.rows[by_row ? line * m + i : i * m + line] = value;
    }
    t.indptr.push_back(static_cast<std::int64_t>(t.indices.size()));
  }
  t.input.n_rows = n;
  t.input.n_features = m;
  t.input.sparse = true;
  t.input.csx = {t.bytes.data(), dtype, t.indptr.data(), t.indices.data(), by_row};
  return t;
}

}  // namespace committee::testing
