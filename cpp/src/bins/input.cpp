// Reading what the user handed in: any number type, any strides, and the checks without which
// reading a sparse input would not be safe.
#include "committee/bins/input.hpp"

#include <cstdlib>

#include "bins/dtype.hpp"

namespace committee {
namespace {

template <class Real, class T>
void load_strided(const std::byte* from, std::ptrdiff_t stride, std::size_t n, Real* out) {
  if (stride == static_cast<std::ptrdiff_t>(sizeof(T))) {
    for (std::size_t i = 0; i < n; ++i) out[i] = read_number<Real, T>(from + i * sizeof(T));
    return;
  }
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = read_number<Real, T>(from + static_cast<std::ptrdiff_t>(i) * stride);
  }
}

const std::byte* address(const DenseInput& dense, std::size_t row, std::size_t feature) {
  return dense.data + static_cast<std::ptrdiff_t>(row) * dense.row_stride +
         static_cast<std::ptrdiff_t>(feature) * dense.column_stride;
}

void check_indptr(const Input& input) {
  const std::int64_t* indptr = input.csx.indptr;
  const std::size_t n_lines = input.csx.by_row ? input.n_rows : input.n_features;
  if (indptr == nullptr) throw std::invalid_argument("indptr of the sparse input is missing");
  if (indptr[0] != 0) throw std::invalid_argument("indptr of the sparse input must begin with 0");
  for (std::size_t i = 0; i < n_lines; ++i) {
    if (indptr[i + 1] < indptr[i]) {
      throw std::invalid_argument("indptr of the sparse input decreases at position " +
                                  std::to_string(i + 1));
    }
  }
}

void check_indices(const Input& input) {
  const auto& csx = input.csx;
  const std::size_t n_lines = csx.by_row ? input.n_rows : input.n_features;
  const std::size_t bound = csx.by_row ? input.n_features : input.n_rows;
  for (std::size_t line = 0; line < n_lines; ++line) {
    std::int64_t before = -1;
    for (std::int64_t i = csx.indptr[line]; i < csx.indptr[line + 1]; ++i) {
      const std::int64_t index = csx.indices[i];
      if (index < 0 || static_cast<std::size_t>(index) >= bound) {
        throw std::invalid_argument("index " + std::to_string(index) + " at position " +
                                    std::to_string(i) + " of the sparse input is not in [0, " +
                                    std::to_string(bound) + ")");
      }
      if (index <= before) {
        throw std::invalid_argument("indices of the sparse input are not ascending at position " +
                                    std::to_string(i));
      }
      before = index;
    }
  }
}

}  // namespace

void load_column(const Input& input, std::size_t feature, std::size_t begin, std::size_t end,
                 double* out) {
  load_block<double>(input, begin, end - begin, feature, 1, out, end - begin);
}

template <class Real>
void load_block(const Input& input, std::size_t row, std::size_t n_rows, std::size_t feature,
                std::size_t n_features, Real* out, std::size_t stride) {
  const DenseInput& dense = input.dense;
  visit_dtype(dense.dtype, [&]<class T>(std::type_identity<T>) {
    if (n_features == 1 || std::abs(dense.row_stride) <= std::abs(dense.column_stride)) {
      for (std::size_t f = 0; f < n_features; ++f) {
        load_strided<Real, T>(address(dense, row, feature + f), dense.row_stride, n_rows,
                              out + f * stride);
      }
      return;
    }
    for (std::size_t r = 0; r < n_rows; ++r) {
      const std::byte* from = address(dense, row + r, feature);
      for (std::size_t f = 0; f < n_features; ++f) {
        out[f * stride + r] =
            read_number<Real, T>(from + static_cast<std::ptrdiff_t>(f) * dense.column_stride);
      }
    }
  });
}

template void load_block<double>(const Input&, std::size_t, std::size_t, std::size_t, std::size_t,
                                 double*, std::size_t);
template void load_block<float>(const Input&, std::size_t, std::size_t, std::size_t, std::size_t,
                                float*, std::size_t);

void load_rows(const Input& input, std::span<const RowId> rows, std::size_t feature,
               std::size_t n_features, double* out, std::size_t stride) {
  const DenseInput& dense = input.dense;
  visit_dtype(dense.dtype, [&]<class T>(std::type_identity<T>) {
    if (n_features == 1 || std::abs(dense.row_stride) <= std::abs(dense.column_stride)) {
      for (std::size_t f = 0; f < n_features; ++f) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
          out[f * stride + i] = read_number<double, T>(address(dense, rows[i], feature + f));
        }
      }
      return;
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::byte* from = address(dense, rows[i], feature);
      for (std::size_t f = 0; f < n_features; ++f) {
        out[f * stride + i] =
            read_number<double, T>(from + static_cast<std::ptrdiff_t>(f) * dense.column_stride);
      }
    }
  });
}

void load_stored(const Input& input, std::size_t begin, std::size_t end, double* out) {
  visit_dtype(input.csx.dtype, [&]<class T>(std::type_identity<T>) {
    load_strided<double, T>(input.csx.values + begin * sizeof(T), sizeof(T), end - begin, out);
  });
}

void check_input(const Input& input) {
  if (input.n_rows > kMaxRows) {
    throw std::invalid_argument("the input has " + std::to_string(input.n_rows) +
                                " rows; one matrix holds at most " + std::to_string(kMaxRows) +
                                ", split the rows into shards");
  }
  if (!input.sparse) return;
  check_indptr(input);
  check_indices(input);
}

}  // namespace committee
