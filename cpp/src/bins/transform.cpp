// From values to codes. Dense inputs go tile by tile: a block of rows and features is read along
// the input's own order into a small column-wise buffer, every column is searched at once, and the
// codes of the tile leave as rows.
#include "bins/transform.hpp"

#include <algorithm>
#include <cmath>

#include "base/large_pages.hpp"
#include "bins/dtype.hpp"
#include "bins/search.hpp"
#include "committee/base/clones.hpp"
#include "committee/bins/binning.hpp"

namespace committee {
namespace {

constexpr std::size_t kTileRows = 256;
constexpr std::size_t kTileFeatures = 32;
constexpr std::size_t kValueStride = kTileRows + 8;  // powers of two would share cache sets
constexpr std::size_t kTaskRows = 1024;
constexpr std::size_t kReadablePast = 64;  // bytes a kernel may read past the last code

template <class Real, class Code>
void write_bins(const Real* x, const std::uint16_t* below, std::size_t n, std::uint32_t missing,
                Code* out) {
  for (std::size_t i = 0; i < n; ++i) {
    out[i * kTileFeatures] = static_cast<Code>(x[i] == x[i] ? below[i] : missing);
  }
}

template <class Real, class Code>
void write_levels(const Real* x, std::size_t n, std::uint32_t n_levels, Code* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const bool inside = x[i] >= 0 && x[i] < static_cast<Real>(n_levels);
    const auto level = inside ? static_cast<std::uint32_t>(x[i]) : n_levels;
    out[i * kTileFeatures] = static_cast<Code>(static_cast<Real>(level) == x[i] ? level : n_levels);
  }
}

/// A thread's working memory: the values of a tile by column, its codes by row.
template <class Real, class Code>
struct Tile {
  Real value[kTileFeatures * kValueStride];
  Code code[kTileRows * kTileFeatures];
  std::uint16_t below[kTileRows];
};

template <class Real, class Code>
class DenseTransform {
 public:
  DenseTransform(const Input& input, const BinMapper& mapper, const Context& context, Code* out)
      : input_(input), mapper_(mapper), context_(context), out_(out), tables_(mapper.n_features()) {
    parallel_for(tables_.size(), context, [&](std::size_t f, int) {
      tables_[f] = SearchTable<Real>(mapper.feature(f).cuts, input.n_rows);
    });
  }

  void run() {
    const std::size_t down = (input_.n_rows + kTaskRows - 1) / kTaskRows;
    const std::size_t across = (input_.n_features + kTileFeatures - 1) / kTileFeatures;
    std::vector<Tile<Real, Code>> tiles(static_cast<std::size_t>(std::max(1, context_.n_threads)));
    parallel_for(down * across, context_, [&](std::size_t task, int slot) {
      const std::size_t feature = task % across * kTileFeatures;
      const std::size_t n_features = std::min(kTileFeatures, input_.n_features - feature);
      const std::size_t begin = task / across * kTaskRows;
      const std::size_t end = std::min(input_.n_rows, begin + kTaskRows);
      for (std::size_t row = begin; row < end; row += kTileRows) {
        transform_tile(row, std::min(kTileRows, end - row), feature, n_features,
                       tiles[static_cast<std::size_t>(slot)]);
      }
    });
  }

 private:
  void transform_tile(std::size_t row, std::size_t n_rows, std::size_t feature,
                      std::size_t n_features, Tile<Real, Code>& tile) const {
    load_block<Real>(input_, row, n_rows, feature, n_features, tile.value, kValueStride);
    for (std::size_t f = 0; f < n_features; ++f) {
      const Real* x = tile.value + f * kValueStride;
      const FeatureBins& bins = mapper_.feature(feature + f);
      if (bins.categorical) {
        write_levels(x, n_rows, bins.n_bins, tile.code + f);
      } else {
        tables_[feature + f].count_below(x, n_rows, tile.below);
        write_bins(x, tile.below, n_rows, bins.n_bins, tile.code + f);
      }
    }
    for (std::size_t r = 0; r < n_rows; ++r) {
      std::copy_n(tile.code + r * kTileFeatures, n_features,
                  out_ + (row + r) * input_.n_features + feature);
    }
  }

  const Input& input_;
  const BinMapper& mapper_;
  const Context& context_;
  Code* out_;
  std::vector<SearchTable<Real>> tables_;
};

/// n_most: what the codes may grow to when rows are spread.
template <class Code>
void transform_dense(const Input& input, const BinMapper& mapper, const Context& context,
                     std::vector<Code>& codes, std::size_t n_most) {
  const std::size_t n = input.n_rows * input.n_features + kReadablePast / sizeof(Code);
  resize_on_large_pages(codes, n, context, n_most);
  if (fits_float(input.dense.dtype)) {
    DenseTransform<float, Code>(input, mapper, context, codes.data()).run();
  } else {
    DenseTransform<double, Code>(input, mapper, context, codes.data()).run();
  }
}

void describe_features(const BinMapper& mapper, BinnedMatrix& matrix) {
  matrix.column_offset.push_back(0);
  for (std::size_t f = 0; f < mapper.n_features(); ++f) {
    const FeatureBins& bins = mapper.feature(f);
    matrix.n_bins.push_back(bins.n_bins);
    matrix.zero_bin.push_back(bins.zero_bin);
    matrix.categorical.push_back(bins.categorical ? 1 : 0);
    const std::size_t width = matrix.layout == Layout::dense8 ? kApart8 : bins.n_bins + 1;
    matrix.column_offset.push_back(matrix.column_offset.back() + width);
  }
}

}  // namespace

BinnedMatrix BinMapper::transform(const Input& input, const Context& context) const {
  check_input(input);
  if (input.n_features != n_features()) {
    throw std::invalid_argument("the input has " + std::to_string(input.n_features) +
                                " features, the bins were fitted on " +
                                std::to_string(n_features()));
  }
  const bool bytes = std::all_of(features_.begin(), features_.end(),
                                 [](const FeatureBins& bins) { return bins.n_bins <= kMaxBins8; });
  BinnedMatrix matrix;
  matrix.layout = input.sparse ? Layout::sparse : bytes ? Layout::dense8 : Layout::dense16;
  matrix.n_rows = input.n_rows;
  matrix.n_features = input.n_features;
  describe_features(*this, matrix);
  if (matrix.layout == Layout::dense8)
    transform_dense(input, *this, context, matrix.codes8, matrix.spread_bytes());
  if (matrix.layout == Layout::dense16) transform_dense(input, *this, context, matrix.codes16, 0);
  if (matrix.layout == Layout::sparse) transform_sparse(input, *this, context, matrix);
  return matrix;
}

}  // namespace committee
