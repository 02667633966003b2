// Keys of rows: a hash of each (feature, value), added up, then mixed with the target. The sum does
// not care for the order of the cells, so a sparse row starts from the sum of an all-zero row and
// corrects the cells it stores.
#include <algorithm>
#include <bit>

#include "committee/bag.hpp"
#include "dtype.hpp"

namespace committee {
namespace {

constexpr std::size_t kRowsPerTask = 8192;
constexpr std::size_t kTileRows = 256;
constexpr std::size_t kTileFeatures = 32;
constexpr std::size_t kMaxTableFeatures = 512;  // 1 MiB of hashes: stays in the L2 cache

/// The bits of a number, with one zero and one NaN.
std::uint64_t canonical(double x) {
  if (x != x) return 0x7ff8000000000000ULL;
  return std::bit_cast<std::uint64_t>(x + 0.0);
}

void check_target(std::size_t n_rows, std::span<const double> target, std::size_t n_outputs) {
  if (target.size() != n_rows * n_outputs) {
    throw std::invalid_argument("target has " + std::to_string(target.size()) +
                                " values; it must have " + std::to_string(n_rows * n_outputs) +
                                ", n_rows * n_outputs");
  }
}

/// Calls body(begin, end) for ranges of rows, in parallel.
template <class Body>
void for_row_ranges(std::size_t n_rows, const Context& context, const Body& body) {
  parallel_for((n_rows + kRowsPerTask - 1) / kRowsPerTask, context, [&](std::size_t task, int) {
    body(task * kRowsPerTask, std::min(n_rows, (task + 1) * kRowsPerTask));
  });
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

template <class Code>
void add_codes(const BinnedMatrix& matrix, const Code* codes, const Context& context,
               std::span<std::uint64_t> keys) {
  const std::size_t p = matrix.n_features;
  for_row_ranges(keys.size(), context, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      for (std::size_t f = 0; f < p; ++f) keys[r] += mix(f, codes[r * p + f]);
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
      const std::uint8_t* codes = matrix.codes8.data() + r * p;
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

void add_dense(const Input& input, const Context& context, std::span<std::uint64_t> keys) {
  for_row_ranges(keys.size(), context, [&](std::size_t begin, std::size_t end) {
    double value[kTileFeatures * kTileRows];
    for (std::size_t row = begin; row < end; row += kTileRows) {
      const std::size_t n = std::min(kTileRows, end - row);
      for (std::size_t first = 0; first < input.n_features; first += kTileFeatures) {
        const std::size_t m = std::min(kTileFeatures, input.n_features - first);
        load_block<double>(input, row, n, first, m, value, kTileRows);
        for (std::size_t f = 0; f < m; ++f) {
          for (std::size_t r = 0; r < n; ++r) {
            keys[row + r] += mix(first + f, canonical(value[f * kTileRows + r]));
          }
        }
      }
    }
  });
}

/// What a stored value changes in the key of a row of zeros.
std::uint64_t correction(std::uint64_t feature, double value) {
  return mix(feature, canonical(value)) - mix(feature, canonical(0.0));
}

template <class T>
void add_csr(const Input& input, std::size_t begin, std::size_t end, std::uint64_t* keys) {
  const SparseInput& csr = input.csx;
  for (std::size_t r = begin; r < end; ++r) {
    for (std::int64_t i = csr.indptr[r]; i < csr.indptr[r + 1]; ++i) {
      keys[r] += correction(static_cast<std::uint64_t>(csr.indices[i]),
                            read_number<double, T>(csr.values + i * std::int64_t{sizeof(T)}));
    }
  }
}

template <class T>
void add_csc(const Input& input, std::size_t begin, std::size_t end, std::uint64_t* keys) {
  const SparseInput& csc = input.csx;
  for (std::size_t f = 0; f < input.n_features; ++f) {
    const std::int32_t* const stop = csc.indices + csc.indptr[f + 1];
    const std::int32_t* at = csc.indices + csc.indptr[f];
    if (begin > 0) at = std::lower_bound(at, stop, static_cast<std::int64_t>(begin));
    for (; at != stop && static_cast<std::size_t>(*at) < end; ++at) {
      const std::ptrdiff_t offset = (at - csc.indices) * std::ptrdiff_t{sizeof(T)};
      keys[*at] += correction(f, read_number<double, T>(csc.values + offset));
    }
  }
}

void add_sparse(const Input& input, const Context& context, std::span<std::uint64_t> keys) {
  std::uint64_t base = 0;
  for (std::size_t f = 0; f < input.n_features; ++f) base += mix(f, canonical(0.0));
  std::fill(keys.begin(), keys.end(), base);
  visit_dtype(input.csx.dtype, [&]<class T>(std::type_identity<T>) {
    for_row_ranges(keys.size(), context, [&](std::size_t begin, std::size_t end) {
      input.csx.by_row ? add_csr<T>(input, begin, end, keys.data())
                       : add_csc<T>(input, begin, end, keys.data());
    });
  });
}

}  // namespace

std::vector<std::uint64_t> row_keys(const BinnedMatrix& matrix, std::span<const double> target,
                                    std::size_t n_outputs, const Context& context) {
  check_target(matrix.n_rows, target, n_outputs);
  std::vector<std::uint64_t> keys(matrix.n_rows);
  if (matrix.layout == Layout::sparse) {
    add_entries(matrix, context, keys);
  } else if (matrix.layout == Layout::dense16) {
    add_codes(matrix, matrix.codes16.data(), context, keys);
  } else if (matrix.n_features > kMaxTableFeatures || matrix.n_rows < kTileRows) {
    add_codes(matrix, matrix.codes8.data(), context, keys);
  } else {
    add_bytes(matrix, context, keys);
  }
  mix_target(keys, target, n_outputs, context);
  return keys;
}

std::vector<std::uint64_t> table_keys(const Input& input, std::span<const double> target,
                                      std::size_t n_outputs, const Context& context) {
  check_target(input.n_rows, target, n_outputs);
  check_input(input);
  std::vector<std::uint64_t> keys(input.n_rows);
  input.sparse ? add_sparse(input, context, keys) : add_dense(input, context, keys);
  mix_target(keys, target, n_outputs, context);
  return keys;
}

}  // namespace committee
