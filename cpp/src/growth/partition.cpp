#include "committee/growth/partition.hpp"

#include <algorithm>
#include <numeric>

#include "bins/column_codes.hpp"

namespace committee {
namespace {

constexpr std::size_t kChunkRows = 8192;

/// Rows that go left move to the front, the others to `spare`; stable and without branches: both
/// places are written, one advances.
template <class Code>
std::size_t divide_rows(RowId* rows, RowId* spare, std::size_t n, Code code,
                        const std::uint8_t* side) {
  std::size_t left = 0, right = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const RowId row = rows[i];
    const std::size_t goes_left = side[code(row)];
    rows[left] = row;  // left <= i: never ahead of the reader
    spare[right] = row;
    left += goes_left;
    right += 1 - goes_left;
  }
  return left;
}

template <class Code>
std::size_t mark_rows(const RowId* rows, std::size_t n, Code code, const std::uint8_t* side,
                      std::uint32_t left, std::uint32_t* node_of) {
  std::size_t n_left = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t goes_left = side[code(rows[i])];
    if (node_of != nullptr) node_of[rows[i]] = left + 1 - goes_left;
    n_left += goes_left;
  }
  return n_left;
}

std::size_t divide_chunk(RowId* rows, RowId* spare, std::size_t n, const BinnedMatrix& m,
                         std::size_t feature, const std::uint8_t* side) {
  return with_codes(m, feature, [&](auto code) { return divide_rows(rows, spare, n, code, side); });
}

}  // namespace

std::size_t Partition::divide(std::size_t begin, std::size_t n, const BinnedMatrix& matrix,
                              const Split& split, const Context& context) {
  const std::vector<std::uint8_t> side = side_table(split, matrix.n_bins[split.feature]);
  RowId* rows = rows_.data() + begin;
  RowId* spare = spare_.get() + begin;
  const std::size_t n_chunks = (n + kChunkRows - 1) / kChunkRows;
  if (context.n_threads <= 1 || n_chunks < 2) {
    const std::size_t n_left = divide_chunk(rows, spare, n, matrix, split.feature, side.data());
    std::copy_n(spare, n - n_left, rows + n_left);
    return n_left;
  }
  // Each chunk is divided by itself, into its part of `spare`, rights first; then the pieces are
  // laid end to end, lefts first.
  std::vector<std::size_t> left(n_chunks + 1, 0);
  parallel_for(n_chunks, context, [&](std::size_t k, int) {
    const std::size_t first = k * kChunkRows, size = std::min(kChunkRows, n - first);
    const std::size_t n_left =
        divide_chunk(rows + first, spare + first, size, matrix, split.feature, side.data());
    std::copy_n(rows + first, n_left, spare + first + (size - n_left));
    left[k + 1] = n_left;
  });
  std::partial_sum(left.begin(), left.end(), left.begin());
  const std::size_t n_left = left[n_chunks];
  parallel_for(n_chunks, context, [&](std::size_t k, int) {
    const std::size_t first = k * kChunkRows, size = std::min(kChunkRows, n - first);
    const std::size_t n_right = size - (left[k + 1] - left[k]);
    std::copy_n(spare + first, n_right, rows + n_left + (first - left[k]));
    std::copy_n(spare + first + n_right, size - n_right, rows + left[k]);
  });
  return n_left;
}

std::size_t Partition::mark(std::size_t begin, std::size_t n, const BinnedMatrix& matrix,
                            const Split& split, std::uint32_t left, std::uint32_t* node_of,
                            const Context& context) const {
  const std::vector<std::uint8_t> side = side_table(split, matrix.n_bins[split.feature]);
  std::vector<std::size_t> n_left((n + kChunkRows - 1) / kChunkRows);
  parallel_for(n_left.size(), context, [&](std::size_t k, int) {
    const RowId* rows = rows_.data() + begin + k * kChunkRows;
    const std::size_t size = std::min(kChunkRows, n - k * kChunkRows);
    n_left[k] = with_codes(matrix, split.feature, [&](auto code) {
      return mark_rows(rows, size, code, side.data(), left, node_of);
    });
  });
  return std::accumulate(n_left.begin(), n_left.end(), std::size_t{0});
}

}  // namespace committee
