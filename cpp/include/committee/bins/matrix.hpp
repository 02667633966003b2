// The binned data: immutable, its existence proves the data valid. Rows lie one after another
// (row-major), because the histogram kernel reads a row's bins in words; sparse rows hold only what
// is not in the feature's zero bin.
#pragma once

#include <memory>

#include "committee/base/parallel.hpp"
#include "committee/base/types.hpp"
#include "committee/bins/bundle.hpp"

namespace committee {

/// Rows from which statistics of boosting take 16 bits each, if they are tame (gradient_stats.cpp).
inline constexpr std::size_t kNarrowRows = std::size_t{1} << 15;

enum class Layout : std::uint8_t { dense8, dense16, sparse };

/// Words from a feature's bins to the next one's in a histogram of byte codes: 256, and a cache
/// line. Were they 2048 bytes apart, bins of equal code, such as the zeros of indicators, would all
/// fall into two sets of the first cache, and seem one place to loads that wait for stores.
inline constexpr std::size_t kApart8 = 256 + 8;

class BinnedMatrix {
 public:
  Layout layout = Layout::dense8;
  std::size_t n_rows = 0;
  std::size_t n_features = 0;

  // Dense: n_rows * n_features codes, row-major, followed by at least 64 bytes that may be read
  // past the end. Bytes may have been spread: rows8() and stride8 say where rows lie.
  std::vector<std::uint8_t> codes8;
  std::vector<std::uint16_t> codes16;
  /// The same codes column by column, where many trees are grown: splitting a node reads one
  /// feature of its rows, and a row's other codes would only fill the cache. Empty until asked for.
  std::vector<std::uint8_t> columns8;

  // Sparse: row r holds entries [row_begin[r], row_begin[r + 1]) sorted by feature.
  std::vector<std::uint64_t> row_begin;
  std::vector<std::uint32_t> entry_feature;
  std::vector<std::uint16_t> entry_code;
  /// The same entries feature by feature, rows ascending, and the mean number of bins of an entry's
  /// feature. Empty until asked for.
  std::vector<std::uint64_t> column_begin;
  std::vector<RowId> column_row;
  std::vector<std::uint16_t> column_code;
  double bins_per_entry = 0;

  std::vector<std::uint32_t> n_bins;  // per feature, without the missing code (which is n_bins[f])
  std::vector<std::uint32_t> zero_bin;    // per feature
  std::vector<std::uint8_t> categorical;  // per feature
  std::vector<std::uint64_t>
      column_offset;  // n_features + 1: where a feature's bins begin in a histogram;
                      // kApart8 apart for dense8, n_bins + 1 apart otherwise

  /// The code of one cell; O(1) dense, O(log entries of the row) sparse.
  std::uint32_t code(std::size_t row, std::size_t feature) const;
  std::size_t histogram_size() const { return column_offset.back(); }

  /// Where row r lies: rows8() + r * stride8, dense8 only.
  const std::uint8_t* rows8() const { return codes8.data() + origin8_; }
  std::size_t stride8() const { return stride8_ == 0 ? n_features : stride8_; }

  /// Fills columns8, or the columns of sparse rows; nothing where codes take two bytes.
  void add_columns(const Context& context);

  /// Lays rows 16, 32 or 64 bytes apart, each inside one cache line, with room for a row's gradient
  /// and hessian behind its bins: gathering the rows of a node then fetches one line a row, where
  /// bins and statistics apart would take two or three. What limits a gather is the memory it
  /// moves. Only dense8, of at most 60 features, and of as many rows as have narrow statistics.
  /// Where it makes rows much shorter, columns were added and nodes sum all features (n_drawn:
  /// those that a split looks at, 0 for all), up to 60 bundles of any number of features take their
  /// place.
  void spread_rows(const Context& context, std::size_t n_drawn = 0);
  /// What codes8 holds then; 0 where rows cannot be spread.
  std::size_t spread_bytes() const;
  /// Whether so few features are drawn for each split that only these are summed.
  bool few_drawn(std::size_t n_drawn) const {
    return layout != Layout::sparse && n_drawn > 0 && 2 * n_drawn <= n_features;
  }
  const Bundles& bundles() const { return bundles_; }
  /// The room behind the first row's bins, kStatBytes; null unless spread or bundled.
  std::uint8_t* room8() {
    if (!bundles_.empty()) return bundles_.room();
    return stride8_ == 0 ? nullptr : codes8.data() + origin8_ + stride8_ - kStatBytes;
  }
  /// Bytes from one row's room to the next one's.
  std::size_t room_stride() const { return bundles_.empty() ? stride8() : bundles_.stride(); }

  std::size_t n_bytes() const;

  /// The rows of `rows`, in that order, as a matrix of its own (tests and shards).
  BinnedMatrix take(std::span<const RowId> rows) const;

 private:
  void add_sparse_columns();
  std::size_t spread_stride() const;

  std::size_t origin8_ = 0;  // spread rows begin at a cache line
  std::size_t stride8_ = 0;  // 0: not spread
  Bundles bundles_;
};

}  // namespace committee
