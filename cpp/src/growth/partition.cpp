#include "committee/growth/partition.hpp"

#include <algorithm>
#include <numeric>

#include "bins/column_codes.hpp"
#include "committee/base/clones.hpp"
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

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

/// A numeric split as its column sees it: codes below the first go left, and those that are the
/// second.
struct ByteSides {
  std::uint8_t below, also;
};

ByteSides byte_sides(const Split& split, std::uint32_t n_bins) {
  const std::uint32_t below = std::min(split.bin + 1, n_bins);  // 1 at least: 0 goes left anyway
  return {static_cast<std::uint8_t>(below),
          static_cast<std::uint8_t>(split.missing_left ? n_bins : 0)};
}

#if defined(__x86_64__) && defined(__GNUC__)
/// The same of a column's bytes, sixteen rows at a time: one comparison marks them, and one
/// instruction closes up those of a side. What is written behind these is written again, or is no
/// row's: right <= i, as is left. Rows in order, as the root's, need not be gathered.
COMMITTEE_WIDE
std::size_t divide_wide(RowId* rows, RowId* spare, std::size_t n, const std::uint8_t* column,
                        ByteSides sides) {
  constexpr std::size_t kWide = 16;
  static_assert(sizeof(RowId) == 4);
  const __m128i below = _mm_set1_epi8(static_cast<char>(sides.below));
  const __m128i also = _mm_set1_epi8(static_cast<char>(sides.also));
  const __m512i steps = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  alignas(kWide) std::uint8_t gathered[kWide];
  std::size_t i = 0, left = 0;
  for (; i + kWide <= n; i += kWide) {
    const __m512i all = _mm512_loadu_si512(rows + i);
    const __m512i ordered = _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(rows[i])), steps);
    const std::uint8_t* codes = column + rows[i];
    if (_mm512_cmpneq_epi32_mask(all, ordered) != 0) {
#pragma GCC unroll 16
      for (std::size_t k = 0; k < kWide; ++k) gathered[k] = column[rows[i + k]];
      codes = gathered;
    }
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes));
    const __mmask16 goes_left = _mm_cmplt_epu8_mask(x, below) | _mm_cmpeq_epi8_mask(x, also);
    const __mmask16 goes_right = static_cast<__mmask16>(~goes_left);
    _mm512_storeu_si512(rows + left, _mm512_maskz_compress_epi32(goes_left, all));
    _mm512_storeu_si512(spare + (i - left), _mm512_maskz_compress_epi32(goes_right, all));
    left += static_cast<std::size_t>(__builtin_popcount(goes_left));
  }
  for (; i < n; ++i) {
    const RowId row = rows[i];
    const std::uint8_t code = column[row];
    rows[left] = row;
    spare[i - left] = row;
    left += code < sides.below || code == sides.also ? 1 : 0;
  }
  return left;
}
const bool kWide = has_wide_vectors();
#else
std::size_t divide_wide(RowId*, RowId*, std::size_t, const std::uint8_t*, ByteSides) { return 0; }
constexpr bool kWide = false;
#endif

bool goes_wide(const BinnedMatrix& m, const Split& split) {
  return kWide && !m.columns8.empty() && !split.categorical;
}

/// `side` is the table of a split that does not go wide, by code.
std::size_t divide_chunk(RowId* rows, RowId* spare, std::size_t n, const BinnedMatrix& m,
                         const Split& split, const std::uint8_t* side) {
  const std::size_t feature = split.feature;
  if (goes_wide(m, split)) {
    const std::uint8_t* const column = m.columns8.data() + feature * m.n_rows;
    return divide_wide(rows, spare, n, column, byte_sides(split, m.n_bins[feature]));
  }
  return with_codes(m, feature, [&](auto code) { return divide_rows(rows, spare, n, code, side); });
}

}  // namespace

std::size_t Partition::divide(std::size_t begin, std::size_t n, const BinnedMatrix& matrix,
                              const Split& split, const Context& context) {
  std::vector<std::uint8_t> side;
  if (!goes_wide(matrix, split)) side = side_table(split, matrix.n_bins[split.feature]);
  RowId* rows = rows_.data() + begin;
  RowId* spare = spare_.get() + begin;
  const std::size_t n_chunks = (n + kChunkRows - 1) / kChunkRows;
  if (context.n_threads <= 1 || n_chunks < 2) {
    const std::size_t n_left = divide_chunk(rows, spare, n, matrix, split, side.data());
    std::copy_n(spare, n - n_left, rows + n_left);
    return n_left;
  }
  // Each chunk is divided by itself, into its part of `spare`, rights first; then the pieces are
  // laid end to end, lefts first.
  std::vector<std::size_t> left(n_chunks + 1, 0);
  parallel_for(n_chunks, context, [&](std::size_t k, int) {
    const std::size_t first = k * kChunkRows, size = std::min(kChunkRows, n - first);
    const std::size_t n_left =
        divide_chunk(rows + first, spare + first, size, matrix, split, side.data());
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
