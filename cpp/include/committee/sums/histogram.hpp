// Histograms: per feature and bin, the integer sums of the rows of a node. They only add and
// subtract, both exact.
//
// The kernel reads a row's bins eight at a time in one 64-bit word and adds the row's packed
// statistics to eight places; rows of a node are gathered by index with prefetch. Wide matrices are
// taken in tiles of features, so that the part of the histogram being written stays in the first
// cache.
#pragma once

#include <memory>
#include <mutex>

#include "committee/base/parallel.hpp"
#include "committee/bins/matrix.hpp"
#include "committee/sums/stats.hpp"

namespace committee {

/// int64[histogram_size][width]; what is where: BinnedMatrix::column_offset, Stats::width.
using Histogram = std::vector<std::int64_t>;

/// Adds the rows to `out` (sized and zeroed by the caller). Sparse matrices: their zero bins stay
/// empty here, see fill_zero_bins. One thread.
void accumulate(const BinnedMatrix& matrix, const Stats& stats, std::span<const RowId> rows,
                Histogram& out);

/// The same on all threads of the context: private histograms per thread, then merged. `spare`
/// supplies them.
class HistogramPool;
void accumulate(const BinnedMatrix& matrix, const Stats& stats, std::span<const RowId> rows,
                Histogram& out, HistogramPool& spare, const Context& context);

/// Sparse: gives a feature's zero bin what the others leave of the node's totals (width words).
void fill_zero_bin(const BinnedMatrix& matrix, std::span<const std::int64_t> totals,
                   std::size_t feature, Histogram& histogram);
/// The same for all features; nothing where rows are dense.
void fill_zero_bins(const BinnedMatrix& matrix, std::span<const std::int64_t> totals,
                    Histogram& histogram);

/// parent -= child, in place: the sibling.
void subtract(Histogram& parent, const Histogram& child);
/// The same from the rows of the child, where these are few. Needs statistics of one word.
void subtract_rows(const BinnedMatrix& matrix, const Stats& stats, std::span<const RowId> rows,
                   Histogram& parent);
void add(Histogram& sum, const Histogram& other);

/// Buffers kept from node to node: fresh pages cost more than the sums.
class HistogramPool {
 public:
  explicit HistogramPool(std::size_t size) : size_(size) {}
  Histogram take();  // zeroed
  void give(Histogram&& histogram);

 private:
  std::size_t size_;
  std::mutex mutex_;
  std::vector<Histogram> free_;
};

}  // namespace committee
