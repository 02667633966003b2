// Keys from codes: a hash of each (feature, code), added up, then mixed with the target. The sum
// does not care for the order of the cells, so a sparse row starts from the sum of a row of zeros
// and corrects the cells it stores.
#include "bins/keyed_rows.hpp"
#include "committee/base/random.hpp"

namespace committee {
namespace {

constexpr std::size_t kMinTableRows = 256;      // fewer do not pay for the table
constexpr std::size_t kMaxTableFeatures = 512;  // 1 MiB of hashes: stays in the L2 cache

template <class Code>
void add_codes(const BinnedMatrix& matrix, const Code* codes, std::size_t stride,
               const Context& context, std::span<std::uint64_t> keys) {
  const std::size_t p = matrix.n_features;
  for_row_ranges(keys.size(), context, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      for (std::size_t f = 0; f < p; ++f) keys[r] += mix(f, codes[r * stride + f]);
    }
  });
}

/// The same for bytes, by a table of all hashes.
void add_bytes(const BinnedMatrix& matrix, const Context& context, std::span<std::uint64_t> keys) {
  const std::size_t p = matrix.n_features;
  std::vector<std::uint64_t> hash(p * 256);
  for (std::size_t i = 0; i < hash.size(); ++i) hash[i] = mix(i / 256, i % 256);
  for_row_ranges(keys.size(), context, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      const std::uint8_t* codes = matrix.rows8() + r * matrix.stride8();
      std::uint64_t sum = 0;
      for (std::size_t f = 0; f < p; ++f) sum += hash[f * 256 + codes[f]];
      keys[r] = sum;
    }
  });
}

void add_entries(const BinnedMatrix& matrix, const Context& context,
                 std::span<std::uint64_t> keys) {
  std::uint64_t base = 0;
  for (std::size_t f = 0; f < matrix.n_features; ++f) base += mix(f, matrix.zero_bin[f]);
  for_row_ranges(keys.size(), context, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      keys[r] = base;
      for (std::uint64_t i = matrix.row_begin[r]; i < matrix.row_begin[r + 1]; ++i) {
        const std::uint64_t f = matrix.entry_feature[i];
        keys[r] += mix(f, matrix.entry_code[i]) - mix(f, matrix.zero_bin[f]);
      }
    }
  });
}

}  // namespace

void check_target(std::size_t n_rows, std::span<const double> target, std::size_t n_outputs) {
  if (target.size() != n_rows * n_outputs) {
    throw std::invalid_argument("target has " + std::to_string(target.size()) +
                                " values; it must have " + std::to_string(n_rows * n_outputs) +
                                ", n_rows * n_outputs");
  }
}

void mix_target(std::span<std::uint64_t> keys, std::span<const double> target,
                std::size_t n_outputs, const Context& context) {
  for_row_ranges(keys.size(), context, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      std::uint64_t key = mix(keys[r]);
      for (std::size_t k = 0; k < n_outputs; ++k) {
        key = mix(key, canonical(target[r * n_outputs + k]));
      }
      keys[r] = key;
    }
  });
}

std::vector<std::uint64_t> row_keys(const BinnedMatrix& matrix, std::span<const double> target,
                                    std::size_t n_outputs, const Context& context) {
  check_target(matrix.n_rows, target, n_outputs);
  std::vector<std::uint64_t> keys(matrix.n_rows);
  if (matrix.layout == Layout::sparse) {
    add_entries(matrix, context, keys);
  } else if (matrix.layout == Layout::dense16) {
    add_codes(matrix, matrix.codes16.data(), matrix.n_features, context, keys);
  } else if (matrix.n_features > kMaxTableFeatures || matrix.n_rows < kMinTableRows) {
    add_codes(matrix, matrix.rows8(), matrix.stride8(), context, keys);
  } else {
    add_bytes(matrix, context, keys);
  }
  mix_target(keys, target, n_outputs, context);
  return keys;
}

}  // namespace committee
