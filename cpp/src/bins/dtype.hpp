// From a DType to the C++ type it names, in one place: everything that reads the user's numbers is
// a template called through visit_dtype.
#pragma once

#include <cstring>
#include <type_traits>

#include "committee/bins/input.hpp"

namespace committee {

/// numpy's bool: any byte but zero is one.
struct BoolByte {
  std::uint8_t byte;
  explicit operator double() const { return byte != 0 ? 1.0 : 0.0; }
  explicit operator float() const { return byte != 0 ? 1.0F : 0.0F; }
};

/// Reads without asking for alignment: user arrays may be views into packed records.
template <class Real, class T>
inline Real read_number(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return static_cast<Real>(value);
}

template <class F>
decltype(auto) visit_dtype(DType dtype, F&& call) {
  switch (dtype) {
    case DType::f32:
      return call(std::type_identity<float>{});
    case DType::f64:
      return call(std::type_identity<double>{});
    case DType::i8:
      return call(std::type_identity<std::int8_t>{});
    case DType::i16:
      return call(std::type_identity<std::int16_t>{});
    case DType::i32:
      return call(std::type_identity<std::int32_t>{});
    case DType::i64:
      return call(std::type_identity<std::int64_t>{});
    case DType::u8:
      return call(std::type_identity<std::uint8_t>{});
    case DType::u16:
      return call(std::type_identity<std::uint16_t>{});
    case DType::u32:
      return call(std::type_identity<std::uint32_t>{});
    case DType::u64:
      return call(std::type_identity<std::uint64_t>{});
    case DType::boolean:
      return call(std::type_identity<BoolByte>{});
  }
  throw std::invalid_argument("the input has an unknown number type");
}

/// Every value of these types is a float32, so their searches may run on half as many bytes.
inline bool fits_float(DType dtype) {
  return dtype == DType::f32 || dtype == DType::i8 || dtype == DType::i16 || dtype == DType::u8 ||
         dtype == DType::u16 || dtype == DType::boolean;
}

/// Copies the block rows [row, row + n_rows) x features [feature, feature + n_features) to out,
/// feature by feature: out[f * stride + r]. Reads along the input's own order, so that both C and F
/// order stream.
template <class Real>
void load_block(const Input& input, std::size_t row, std::size_t n_rows, std::size_t feature,
                std::size_t n_features, Real* out, std::size_t stride);

/// The same for scattered rows: out[f * stride + i] is row rows[i].
void load_rows(const Input& input, std::span<const RowId> rows, std::size_t feature,
               std::size_t n_features, double* out, std::size_t stride);

/// Stored values [begin, end) of a sparse input.
void load_stored(const Input& input, std::size_t begin, std::size_t end, double* out);

/// Throws std::invalid_argument where sizes, the index pointer or the indices break the contract.
void check_input(const Input& input);

}  // namespace committee
