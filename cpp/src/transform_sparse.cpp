// Sparse codes in three steps: the code of every stored entry, the number of entries each row
// keeps, the entries themselves. A CSC input is transposed by counting, each thread filling a range
// of rows of its own.
#include <algorithm>

#include "dtype.hpp"
#include "search.hpp"
#include "transform.hpp"

namespace committee {
namespace {

constexpr std::size_t kRowsPerTask = 4096;
constexpr std::size_t kChunk = 512;

class SparseTransform {
 public:
  SparseTransform(const Input& input, const BinMapper& mapper, const Context& context,
                  BinnedMatrix& matrix)
      : input_(input), csx_(input.csx), mapper_(mapper), context_(context), matrix_(matrix) {
    const std::size_t n_lines = csx_.by_row ? input.n_rows : input.n_features;
    code_.resize(static_cast<std::size_t>(csx_.indptr[n_lines]));
    matrix.row_begin.resize(input.n_rows + 1);
  }

  void run() {
    if (csx_.by_row) {
      by_rows([&](std::size_t begin, std::size_t end) { encode_rows(begin, end); });
    } else {
      parallel_for(input_.n_features, context_, [&](std::size_t f, int) { encode_column(f); });
      // Few wide ranges of rows: each looks once into every column.
      by_rows([&](std::size_t begin, std::size_t end) { count_columns(begin, end); });
    }
    for (std::size_t r = 0; r < input_.n_rows; ++r)
      matrix_.row_begin[r + 1] += matrix_.row_begin[r];
    matrix_.entry_feature.resize(matrix_.row_begin.back());
    matrix_.entry_code.resize(matrix_.row_begin.back());
    by_rows([&](std::size_t begin, std::size_t end) {
      if (csx_.by_row) {
        fill_rows(begin, end);
      } else {
        fill_columns(begin, end);
      }
    });
  }

 private:
  template <class F>
  void by_rows(const F& call) {
    const auto n_threads = static_cast<std::size_t>(std::max(1, context_.n_threads));
    const std::size_t n_tasks =
        std::clamp<std::size_t>(input_.n_rows / kRowsPerTask, 1, n_threads * 4);
    parallel_for(n_tasks, context_, [&](std::size_t task, int) {
      call(input_.n_rows * task / n_tasks, input_.n_rows * (task + 1) / n_tasks);
    });
  }

  bool kept(std::size_t feature, std::size_t entry) const {
    return code_[entry] != matrix_.zero_bin[feature];
  }

  void encode_rows(std::size_t begin, std::size_t end) {
    visit_dtype(csx_.dtype, [&]<class T>(std::type_identity<T>) {
      for (std::size_t row = begin; row < end; ++row) {
        std::uint64_t n_kept = 0;
        for (auto i = line(row); i < line(row + 1); ++i) {
          const auto f = static_cast<std::size_t>(csx_.indices[i]);
          const auto x = read_number<double, T>(csx_.values + i * sizeof(T));
          code_[i] = static_cast<std::uint16_t>(bin_of(mapper_.feature(f), x));
          n_kept += kept(f, i) ? 1 : 0;
        }
        matrix_.row_begin[row + 1] = n_kept;
      }
    });
  }

  void fill_rows(std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      std::size_t to = matrix_.row_begin[row];
      for (auto i = line(row); i < line(row + 1); ++i) {
        const auto f = static_cast<std::size_t>(csx_.indices[i]);
        if (!kept(f, i)) continue;
        matrix_.entry_feature[to] = static_cast<std::uint32_t>(f);
        matrix_.entry_code[to++] = code_[i];
      }
    }
  }

  void encode_column(std::size_t f) {
    const FeatureBins& bins = mapper_.feature(f);
    const SearchTable<double> table(bins.cuts, line(f + 1) - line(f));
    double x[kChunk];
    for (std::size_t i = line(f); i < line(f + 1); i += kChunk) {
      const std::size_t n = std::min(kChunk, line(f + 1) - i);
      load_stored(input_, i, i + n, x);
      if (!bins.categorical) table.count_below(x, n, code_.data() + i);
      for (std::size_t j = 0; j < n; ++j) {
        if (bins.categorical || x[j] != x[j]) {
          code_[i + j] = static_cast<std::uint16_t>(bin_of(bins, x[j]));
        }
      }
    }
  }

  /// Calls use(row, feature, entry) for the kept entries of rows [begin, end), features ascending.
  template <class F>
  void walk_columns(std::size_t begin, std::size_t end, const F& use) const {
    for (std::size_t f = 0; f < input_.n_features; ++f) {
      const std::int32_t* const last = csx_.indices + line(f + 1);
      const std::int32_t* at =
          std::lower_bound(csx_.indices + line(f), last, static_cast<std::int64_t>(begin));
      for (; at != last && static_cast<std::size_t>(*at) < end; ++at) {
        const auto entry = static_cast<std::size_t>(at - csx_.indices);
        if (kept(f, entry)) use(static_cast<std::size_t>(*at), f, entry);
      }
    }
  }

  void count_columns(std::size_t begin, std::size_t end) {
    walk_columns(begin, end,
                 [&](std::size_t row, std::size_t, std::size_t) { ++matrix_.row_begin[row + 1]; });
  }

  void fill_columns(std::size_t begin, std::size_t end) {
    std::vector<std::uint64_t> next(matrix_.row_begin.begin() + static_cast<std::ptrdiff_t>(begin),
                                    matrix_.row_begin.begin() + static_cast<std::ptrdiff_t>(end));
    walk_columns(begin, end, [&](std::size_t row, std::size_t f, std::size_t entry) {
      const std::size_t to = next[row - begin]++;
      matrix_.entry_feature[to] = static_cast<std::uint32_t>(f);
      matrix_.entry_code[to] = code_[entry];
    });
  }

  std::size_t line(std::size_t i) const { return static_cast<std::size_t>(csx_.indptr[i]); }

  const Input& input_;
  const SparseInput& csx_;
  const BinMapper& mapper_;
  const Context& context_;
  BinnedMatrix& matrix_;
  std::vector<std::uint16_t> code_;  // one per stored entry
};

}  // namespace

void transform_sparse(const Input& input, const BinMapper& mapper, const Context& context,
                      BinnedMatrix& matrix) {
  SparseTransform(input, mapper, context, matrix).run();
}

}  // namespace committee
