// Reading blocks of rows. Sparse inputs are scattered into a zeroed block: a row of CSR through the
// list of used features, a column of CSC from where a search finds the block's first row. Every
// index is checked on its way.
#include "forest/predict_rows.hpp"

#include <algorithm>
#include <bit>

namespace committee {
namespace {

/// In place only what the processor may load as it is: aligned, forward, one feature after another.
template <class T>
bool readable_in_place(const DenseInput& dense) {
  return dense.column_stride == static_cast<std::ptrdiff_t>(sizeof(T)) && dense.row_stride >= 0 &&
         dense.row_stride % static_cast<std::ptrdiff_t>(sizeof(T)) == 0 &&
         reinterpret_cast<std::uintptr_t>(dense.data) % alignof(T) == 0;
}

/// NaN is a number whose bits without the sign exceed those of infinity. Integers, unlike
/// comparisons of floats, are summed up in whole vectors by every compiler.
template <class T>
bool any_missing(const T* numbers, std::size_t n) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr Bits kSign = Bits{1} << (8 * sizeof(T) - 1);
  constexpr Bits kInfinity = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
  Bits below = 0;
  for (std::size_t i = 0; i < n; ++i) {
    below |= kInfinity - (std::bit_cast<Bits>(numbers[i]) & (kSign - 1));
  }
  return (below & kSign) != 0;
}

template <class T>
bool any_missing(RowView<T> rows, std::size_t n_rows, std::size_t width) {
  if (rows.stride == width) return any_missing(rows.data, n_rows * width);
  bool missing = false;
  for (std::size_t r = 0; r < n_rows; ++r) missing |= any_missing(rows.row(r), width);
  return missing;
}

template <class T>
bool any_missing(RowView<T> rows, std::size_t n_rows, std::span<const std::uint32_t> used) {
  bool missing = false;
  for (std::size_t r = 0; r < n_rows; ++r) {
    const T* row = rows.row(r);
    for (const std::uint32_t feature : used) missing |= row[feature] != row[feature];
  }
  return missing;
}

struct Range {
  std::size_t begin, end;
};

/// The stored entries of one row (CSR) or column (CSC).
Range stored_range(const SparseInput& csx, std::size_t line) {
  const std::int64_t begin = csx.indptr[line], end = csx.indptr[line + 1];
  if (begin < 0 || end < begin) {
    throw std::invalid_argument("indptr of the sparse input is wrong at position " +
                                std::to_string(line + 1));
  }
  return {static_cast<std::size_t>(begin), static_cast<std::size_t>(end)};
}

[[noreturn]] void refuse_index(std::int32_t index, std::size_t position) {
  throw std::invalid_argument("index " + std::to_string(index) + " at position " +
                              std::to_string(position) + " of the sparse input is out of bounds");
}

}  // namespace

RowSource::RowSource(const Forest& forest, const Input& input)
    : input_(input), used_(forest.used_features()) {
  const std::size_t n_features = forest.arrays().n_features;
  if (input.n_features != n_features) {
    throw std::invalid_argument("the input has " + std::to_string(input.n_features) +
                                " features, the forest " + std::to_string(n_features));
  }
  if (!input.sparse) {
    if (input.dense.dtype == DType::f32 && readable_in_place<float>(input.dense)) {
      form_ = Form::float_rows;
    } else if (input.dense.dtype == DType::f64 && readable_in_place<double>(input.dense)) {
      form_ = Form::double_rows;
    }
  }
  compact_ = form_ == Form::buffer && !forest.used_position().empty();
  width_ = std::max<std::size_t>(1, compact_ ? used_.size() : n_features);
}

void RowSource::load_rows(std::size_t begin, std::size_t end, double* out) const {
  if (!input_.sparse) return load_dense(begin, end, out);
  std::fill(out, out + (end - begin) * width_, 0.0);
  if (input_.csx.by_row) {
    load_csr(begin, end, out, width_, 1, compact_);
  } else {
    load_csc(begin, end, out, width_, 1, compact_);
  }
}

void RowSource::load_sparse_columns(std::size_t begin, std::size_t end, double* out) const {
  const std::size_t n_rows = end - begin;
  std::fill(out, out + n_rows * used_.size(), 0.0);
  if (input_.csx.by_row) {
    load_csr(begin, end, out, 1, n_rows, true);
  } else {
    load_csc(begin, end, out, 1, n_rows, true);
  }
}

void RowSource::load_dense(std::size_t begin, std::size_t end, double* out) const {
  const DenseInput& dense = input_.dense;
  visit_dtype(dense.dtype, [&]<class T>(std::type_identity<T>) {
    // Few columns at a time keep both the reading and the writing side in the nearest cache.
    constexpr std::size_t kRun = 8;
    for (std::size_t first = 0; first < used_.size(); first += kRun) {
      const std::size_t last = std::min(first + kRun, used_.size());
      for (std::size_t r = begin; r < end; ++r) {
        const std::byte* row = dense.data + static_cast<std::ptrdiff_t>(r) * dense.row_stride;
        double* to = out + (r - begin) * width_;
        for (std::size_t u = first; u < last; ++u) {
          const auto offset = static_cast<std::ptrdiff_t>(used_[u]) * dense.column_stride;
          to[compact_ ? u : used_[u]] = read_number<double, T>(row + offset);
        }
      }
    }
  });
}

void RowSource::load_csr(std::size_t begin, std::size_t end, double* out, std::size_t row_step,
                         std::size_t column_step, bool compact) const {
  const SparseInput& csx = input_.csx;
  visit_dtype(csx.dtype, [&]<class T>(std::type_identity<T>) {
    for (std::size_t r = begin; r < end; ++r) {
      const auto [first, last] = stored_range(csx, r);
      auto from = used_.begin();
      std::int32_t before = -1;
      for (std::size_t i = first; i < last; ++i) {
        const std::int32_t index = csx.indices[i];
        if (index <= before || static_cast<std::size_t>(index) >= input_.n_features) {
          refuse_index(index, i);
        }
        before = index;
        std::size_t column = static_cast<std::size_t>(index);
        if (compact) {
          from = std::lower_bound(from, used_.end(), static_cast<std::uint32_t>(index));
          if (from == used_.end() || *from != static_cast<std::uint32_t>(index)) continue;
          column = static_cast<std::size_t>(from - used_.begin());
        }
        out[(r - begin) * row_step + column * column_step] =
            read_number<double, T>(csx.values + i * sizeof(T));
      }
    }
  });
}

void RowSource::load_csc(std::size_t begin, std::size_t end, double* out, std::size_t row_step,
                         std::size_t column_step, bool compact) const {
  const SparseInput& csx = input_.csx;
  visit_dtype(csx.dtype, [&]<class T>(std::type_identity<T>) {
    for (std::size_t u = 0; u < used_.size(); ++u) {
      const auto [first, last] = stored_range(csx, used_[u]);
      const std::size_t column = compact ? u : used_[u];
      const std::int32_t* found = std::partition_point(
          csx.indices + first, csx.indices + last,
          [&](std::int32_t index) { return index < 0 || static_cast<std::size_t>(index) < begin; });
      for (std::size_t i = static_cast<std::size_t>(found - csx.indices); i < last; ++i) {
        const std::int32_t index = csx.indices[i];
        const auto row = static_cast<std::size_t>(index);
        if (index < 0 || row < begin || row >= input_.n_rows) refuse_index(index, i);
        if (row >= end) break;
        out[(row - begin) * row_step + column * column_step] =
            read_number<double, T>(csx.values + i * sizeof(T));
      }
    }
  });
}

bool RowSource::has_missing(std::size_t begin, std::size_t end, const double* rows) const {
  if (used_.empty()) return false;
  const DType dtype = input_.sparse ? input_.csx.dtype : input_.dense.dtype;
  if (dtype != DType::f32 && dtype != DType::f64) return false;
  const auto scan = [&]<class T>(RowView<T> view) {
    const bool all = compact_ || 2 * used_.size() >= width_;
    return all ? any_missing(view, end - begin, width_) : any_missing(view, end - begin, used_);
  };
  if (form_ == Form::float_rows) return scan(view<float>(begin));
  if (form_ == Form::double_rows) return scan(view<double>(begin));
  return scan(RowView<double>{rows, width_});
}

}  // namespace committee
