// Keys from values: to each value of a row a random word of its feature is added, the halves of the
// result are multiplied, and the products are summed up. This is NH (Black, Halevi, Krawczyk,
// Krovetz, Rogaway 1999): unlike rows have equal sums with a chance of 2^-32. Two sums, of words of
// their own, make a key. The loops vectorise, along rows in C order and along columns otherwise.
#include <array>

#include "bins/dtype.hpp"
#include "bins/keyed_rows.hpp"
#include "committee/base/clones.hpp"
#include "committee/base/random.hpp"

namespace committee {
namespace {

constexpr std::size_t kTileRows = 256;
constexpr std::size_t kTileFeatures = 32;
constexpr std::size_t kMinRowLength = 8;  // shorter rows are summed column by column

/// The halves of the value plus a random word, multiplied.
std::uint64_t product(std::uint64_t bits, std::uint64_t word) {
  const std::uint64_t sum = bits + word;
  return std::uint64_t{static_cast<std::uint32_t>(sum)} * static_cast<std::uint32_t>(sum >> 32);
}

/// The two sums of each of n rows.
struct Sums {
  std::vector<std::uint64_t> first, second;

  void start(std::size_t n, std::uint64_t a, std::uint64_t b) {
    first.assign(n, a);
    second.assign(n, b);
  }
  void finish(std::uint64_t* keys) const {
    for (std::size_t r = 0; r < first.size(); ++r) keys[r] = mix(first[r], second[r]);
  }
};

COMMITTEE_CLONES
void add_column(const double* x, std::size_t n, std::uint64_t a, std::uint64_t b,
                std::uint64_t* first, std::uint64_t* second) {
  for (std::size_t r = 0; r < n; ++r) {
    const std::uint64_t bits = canonical(x[r]);
    first[r] += product(bits, a);
    second[r] += product(bits, b);
  }
}

template <class T>
COMMITTEE_CLONES void add_row(const std::byte* row, std::size_t n, const std::uint64_t* a,
                              const std::uint64_t* b, std::uint64_t& first, std::uint64_t& second) {
  std::uint64_t sum_a = 0, sum_b = 0;
  for (std::size_t f = 0; f < n; ++f) {
    const std::uint64_t bits = canonical(read_number<double, T>(row + f * sizeof(T)));
    sum_a += product(bits, a[f]);
    sum_b += product(bits, b[f]);
  }
  first += sum_a;
  second += sum_b;
}

class TableKeys {
 public:
  explicit TableKeys(const Input& input) : input_(input) {
    for (std::size_t f = 0; f < input.n_features; ++f) {
      a_.push_back(mix(f, 0));
      b_.push_back(mix(f, 1));
      zero_a_ += product(0, a_[f]);
      zero_b_ += product(0, b_[f]);
    }
  }

  /// Keys of rows [begin, end); both orders of a sparse input start from a row of zeros.
  void operator()(std::size_t begin, std::size_t end, std::uint64_t* keys) const {
    Sums sums;
    const std::size_t n = end - begin;
    if (input_.sparse) {
      sums.start(n, zero_a_, zero_b_);
      visit_dtype(input_.csx.dtype, [&]<class T>(std::type_identity<T>) {
        input_.csx.by_row ? add_csr<T>(begin, sums) : add_csc<T>(begin, sums);
      });
    } else {
      sums.start(n, 0, 0);
      if (has_rows_of<float>(DType::f32)) {
        add_rows<float>(begin, sums);
      } else if (has_rows_of<double>(DType::f64)) {
        add_rows<double>(begin, sums);
      } else {
        add_tiles(begin, sums);
      }
    }
    sums.finish(keys);
  }

 private:
  template <class T>
  bool has_rows_of(DType dtype) const {
    return input_.dense.dtype == dtype && input_.n_features >= kMinRowLength &&
           input_.dense.column_stride == std::ptrdiff_t{sizeof(T)};
  }

  template <class T>
  void add_rows(std::size_t begin, Sums& sums) const {
    for (std::size_t r = 0; r < sums.first.size(); ++r) {
      const auto row = static_cast<std::ptrdiff_t>(begin + r) * input_.dense.row_stride;
      add_row<T>(input_.dense.data + row, input_.n_features, a_.data(), b_.data(), sums.first[r],
                 sums.second[r]);
    }
  }

  void add_tiles(std::size_t begin, Sums& sums) const {
    std::array<double, kTileFeatures * kTileRows> value;
    for (std::size_t r = 0; r < sums.first.size(); r += kTileRows) {
      const std::size_t n = std::min(kTileRows, sums.first.size() - r);
      for (std::size_t first = 0; first < input_.n_features; first += kTileFeatures) {
        const std::size_t m = std::min(kTileFeatures, input_.n_features - first);
        load_block<double>(input_, begin + r, n, first, m, value.data(), kTileRows);
        for (std::size_t f = 0; f < m; ++f) {
          add_column(value.data() + f * kTileRows, n, a_[first + f], b_[first + f],
                     sums.first.data() + r, sums.second.data() + r);
        }
      }
    }
  }

  /// What a stored value changes in the sums of a row of zeros.
  void correct(std::size_t feature, double value, std::size_t r, Sums& sums) const {
    const std::uint64_t bits = canonical(value);
    sums.first[r] += product(bits, a_[feature]) - product(0, a_[feature]);
    sums.second[r] += product(bits, b_[feature]) - product(0, b_[feature]);
  }

  template <class T>
  void add_csr(std::size_t begin, Sums& sums) const {
    const SparseInput& csr = input_.csx;
    for (std::size_t r = 0; r < sums.first.size(); ++r) {
      for (std::int64_t i = csr.indptr[begin + r]; i < csr.indptr[begin + r + 1]; ++i) {
        correct(static_cast<std::size_t>(csr.indices[i]),
                read_number<double, T>(csr.values + i * std::int64_t{sizeof(T)}), r, sums);
      }
    }
  }

  template <class T>
  void add_csc(std::size_t begin, Sums& sums) const {
    const SparseInput& csc = input_.csx;
    const std::size_t end = begin + sums.first.size();
    for (std::size_t f = 0; f < input_.n_features; ++f) {
      const std::int32_t* const stop = csc.indices + csc.indptr[f + 1];
      const std::int32_t* at = csc.indices + csc.indptr[f];
      if (begin > 0) at = std::lower_bound(at, stop, static_cast<std::int64_t>(begin));
      for (; at != stop && static_cast<std::size_t>(*at) < end; ++at) {
        const std::ptrdiff_t offset = (at - csc.indices) * std::ptrdiff_t{sizeof(T)};
        correct(f, read_number<double, T>(csc.values + offset),
                static_cast<std::size_t>(*at) - begin, sums);
      }
    }
  }

  const Input& input_;
  std::vector<std::uint64_t> a_, b_;  // random words of each feature
  std::uint64_t zero_a_ = 0, zero_b_ = 0;
};

}  // namespace

std::vector<std::uint64_t> table_keys(const Input& input, std::span<const double> target,
                                      std::size_t n_outputs, const Context& context) {
  check_target(input.n_rows, target, n_outputs);
  check_input(input);
  std::vector<std::uint64_t> keys(input.n_rows);
  const TableKeys table(input);
  for_row_ranges(input.n_rows, context, [&](std::size_t begin, std::size_t end) {
    table(begin, end, keys.data() + begin);
  });
  mix_target(keys, target, n_outputs, context);
  return keys;
}

}  // namespace committee
