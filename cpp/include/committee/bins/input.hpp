// What the user hands in, borrowed for one call: a dense array of any order and number type, or
// CSR/CSC.
#pragma once

#include "committee/base/types.hpp"

namespace committee {

enum class DType : std::uint8_t { f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, boolean };

/// Dense: element (r, f) lies at data + r * row_stride + f * column_stride, both in bytes.
struct DenseInput {
  const std::byte* data = nullptr;
  DType dtype = DType::f64;
  std::ptrdiff_t row_stride = 0;
  std::ptrdiff_t column_stride = 0;
};

/// Sparse: CSR when by_row, else CSC; absent elements are exact zeros, stored ones may be zero or
/// NaN. Indices inside a row (CSR) or column (CSC) are sorted and unique: the Python door sees to
/// it, and the engine re-checks bounds.
struct SparseInput {
  const std::byte* values = nullptr;
  DType dtype = DType::f64;
  const std::int64_t* indptr = nullptr;   // n_rows + 1 (CSR) or n_features + 1 (CSC)
  const std::int32_t* indices = nullptr;  // feature (CSR) or row (CSC)
  bool by_row = true;
};

/// NaN means missing everywhere; infinities are refused before the engine is called.
struct Input {
  std::size_t n_rows = 0;
  std::size_t n_features = 0;
  bool sparse = false;
  DenseInput dense;
  SparseInput csx;
};

/// Copies column `feature` of rows [begin, end) to out as float64 (exact for every dtype but 64-bit
/// integers beyond 2^53). Dense inputs only.
void load_column(const Input& input, std::size_t feature, std::size_t begin, std::size_t end,
                 double* out);

}  // namespace committee
