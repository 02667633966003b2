// Sparse codes in three steps: the code of every stored entry, the number of entries each row
// keeps, the entries themselves. A CSC input is transposed by counting, each thread filling a range
// of rows of its own.
#include <algorithm>
#include <numeric>

#include "bins/dtype.hpp"
#include "bins/search.hpp"
#include "bins/transform.hpp"

namespace committee {
namespace {

constexpr std::size_t kRowsPerTask = 4096;
constexpr std::size_t kChunk = 512;
constexpr std::size_t kBlockEntries = 65536;

/// A thread's working memory: the entries of some rows, grouped by feature.
struct EntryBlock {
  std::vector<std::uint32_t>
      next;  // by feature: where its next entry goes, at last where its entries end
  std::vector<std::uint32_t> order;  // which entry of the block lies here
  std::vector<double> value;
  std::vector<std::uint16_t> code;
};

/// Codes of n values of one feature.
void encode(const FeatureBins& bins, const SearchTable<double>& table, const double* x,
            std::size_t n, std::uint16_t* out) {
  if (!bins.categorical) table.count_below(x, n, out);
  for (std::size_t i = 0; i < n; ++i) {
    if (bins.categorical || x[i] != x[i]) out[i] = static_cast<std::uint16_t>(bin_of(bins, x[i]));
  }
}

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
      tables_.resize(input_.n_features);
      parallel_for(tables_.size(), context_, [&](std::size_t f, int) {
        tables_[f] = SearchTable<double>(mapper_.feature(f).cuts, code_.size() / tables_.size());
      });
      std::vector<EntryBlock> blocks(static_cast<std::size_t>(std::max(1, context_.n_threads)));
      by_rows([&](std::size_t begin, std::size_t end, int slot) {
        encode_rows(begin, end, blocks[static_cast<std::size_t>(slot)]);
      });
    } else {
      parallel_for(input_.n_features, context_, [&](std::size_t f, int) { encode_column(f); });
      // Few wide ranges of rows: each looks once into every column.
      by_rows([&](std::size_t begin, std::size_t end, int) { count_columns(begin, end); });
    }
    for (std::size_t r = 0; r < input_.n_rows; ++r)
      matrix_.row_begin[r + 1] += matrix_.row_begin[r];
    matrix_.entry_feature.resize(matrix_.row_begin.back());
    matrix_.entry_code.resize(matrix_.row_begin.back());
    by_rows([&](std::size_t begin, std::size_t end, int) {
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
    parallel_for(n_tasks, context_, [&](std::size_t task, int slot) {
      call(input_.n_rows * task / n_tasks, input_.n_rows * (task + 1) / n_tasks, slot);
    });
  }

  bool kept(std::size_t feature, std::size_t entry) const {
    return code_[entry] != matrix_.zero_bin[feature];
  }

  /// Neighbouring entries of a row belong to different features, so searching them one by one would
  /// miss the cache again and again: blocks of rows are grouped by feature first.
  void encode_rows(std::size_t begin, std::size_t end, EntryBlock& block) {
    const std::size_t block_size = std::max(kBlockEntries, input_.n_features);
    for (std::size_t row = begin; row < end;) {
      std::size_t next = row + 1;
      while (next < end && line(next + 1) - line(row) <= block_size) ++next;
      encode_block(line(row), line(next), block);
      for (; row < next; ++row) {
        std::uint64_t n_kept = 0;
        for (auto i = line(row); i < line(row + 1); ++i) {
          n_kept += kept(static_cast<std::size_t>(csx_.indices[i]), i) ? 1 : 0;
        }
        matrix_.row_begin[row + 1] = n_kept;
      }
    }
  }

  void encode_block(std::size_t begin, std::size_t end, EntryBlock& block) {
    block.next.assign(input_.n_features + 1, 0);
    for (std::size_t i = begin; i < end; ++i) {
      ++block.next[static_cast<std::size_t>(csx_.indices[i]) + 1];
    }
    std::partial_sum(block.next.begin(), block.next.end(), block.next.begin());
    block.order.resize(end - begin);
    block.value.resize(end - begin);
    block.code.resize(end - begin);
    visit_dtype(csx_.dtype, [&]<class T>(std::type_identity<T>) {
      for (std::size_t i = begin; i < end; ++i) {
        const std::size_t to = block.next[static_cast<std::size_t>(csx_.indices[i])]++;
        block.order[to] = static_cast<std::uint32_t>(i - begin);
        block.value[to] = read_number<double, T>(csx_.values + i * sizeof(T));
      }
    });
    for (std::size_t f = 0, from = 0; f < input_.n_features; from = block.next[f++]) {
      encode(mapper_.feature(f), tables_[f], block.value.data() + from, block.next[f] - from,
             block.code.data() + from);
    }
    for (std::size_t i = 0; i < block.order.size(); ++i) {
      code_[begin + block.order[i]] = block.code[i];
    }
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
      encode(bins, table, x, n, code_.data() + i);
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
  std::vector<std::uint16_t> code_;          // one per stored entry
  std::vector<SearchTable<double>> tables_;  // by feature, for CSR
};

}  // namespace

void transform_sparse(const Input& input, const BinMapper& mapper, const Context& context,
                      BinnedMatrix& matrix) {
  SparseTransform(input, mapper, context, matrix).run();
}

}  // namespace committee
