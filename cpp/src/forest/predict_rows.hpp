// Rows on their way into prediction: a block of rows at a time, from any kind of input, never a
// full copy.
//
// Dense float32 and float64 rows that lie in memory one feature after another are read in place.
// Everything else goes through a small buffer of doubles that holds only the features which the
// forest looks at.
#pragma once

#include "bins/dtype.hpp"
#include "committee/forest/forest.hpp"

namespace committee {

/// Row r of the block begins at data + r * stride, in numbers, not bytes.
template <class T>
struct RowView {
  const T* data = nullptr;
  std::size_t stride = 0;
  const T* row(std::size_t r) const { return data + r * stride; }
};

class RowSource {
 public:
  enum class Form : std::uint8_t { float_rows, double_rows, buffer };

  RowSource(const Forest& forest, const Input& input);

  Form form() const { return form_; }
  /// Numbers per row of the buffer; with `compact` in the order of used_features(), else of all
  /// features.
  std::size_t width() const { return width_; }
  bool compact() const { return compact_; }

  /// Float and double rows in place; only where form() says so.
  template <class T>
  RowView<T> view(std::size_t begin) const {
    const std::byte* first =
        input_.dense.data + static_cast<std::ptrdiff_t>(begin) * input_.dense.row_stride;
    return {reinterpret_cast<const T*>(first),
            static_cast<std::size_t>(input_.dense.row_stride) / sizeof(T)};
  }

  /// Rows [begin, end) into out[row * width() + position].
  void load_rows(std::size_t begin, std::size_t end, double* out) const;
  /// One used feature of rows [begin, end), dense inputs only: out[row].
  template <class Real>
  void load_used(std::size_t position, std::size_t begin, std::size_t end, Real* out) const {
    load_block<Real>(input_, begin, end - begin, used_[position], 1, out, end - begin);
  }
  /// Sparse rows [begin, end), feature by feature: out[position in used_features() * (end - begin)
  /// + row].
  void load_sparse_columns(std::size_t begin, std::size_t end, double* out) const;
  bool sparse() const { return input_.sparse; }
  /// Whether every number is a float32.
  bool fits_float() const {
    return committee::fits_float(input_.sparse ? input_.csx.dtype : input_.dense.dtype);
  }

  /// Whether a used feature of rows [begin, end) is missing; `rows` is what load_rows gave (form
  /// buffer).
  bool has_missing(std::size_t begin, std::size_t end, const double* rows) const;

 private:
  void load_dense(std::size_t begin, std::size_t end, double* out) const;
  void load_csr(std::size_t begin, std::size_t end, double* out, std::size_t row_step,
                std::size_t column_step, bool compact) const;
  void load_csc(std::size_t begin, std::size_t end, double* out, std::size_t row_step,
                std::size_t column_step, bool compact) const;

  const Input& input_;
  std::span<const std::uint32_t> used_;
  Form form_ = Form::buffer;
  bool compact_ = false;
  std::size_t width_ = 1;
};

}  // namespace committee
