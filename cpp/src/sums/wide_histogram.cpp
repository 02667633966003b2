// A bin's words lie side by side, so that a row's visit to it is one run of vector additions. That
// there are so and so many is known to the compiler up to eight; a loop over few words would cost
// more than the sums.
#include "sums/wide_histogram.hpp"

#include <algorithm>

#include "committee/base/clones.hpp"
#include "committee/bins/matrix.hpp"

namespace committee {
namespace {

constexpr std::size_t kAhead = 16;  // rows prefetched ahead of the one being added

/// kWidth words a row, or `width` where that is 0.
template <std::size_t kWidth>
COMMITTEE_INLINE void add_runs(const std::uint8_t* codes, std::size_t stride, std::size_t p,
                               const RowId* rows, std::size_t n_rows, const std::int64_t* words,
                               std::size_t width, std::int64_t* out) {
  const std::size_t n_words = kWidth == 0 ? width : kWidth;
  for (std::size_t i = 0; i < n_rows; ++i) {
    const std::size_t ahead = rows[std::min(i + kAhead, n_rows - 1)];
    __builtin_prefetch(codes + ahead * stride);
    __builtin_prefetch(words + ahead * n_words);
    __builtin_prefetch(words + (ahead + 1) * n_words - 1);  // of many a row the next line
    const std::uint8_t* x = codes + std::size_t{rows[i]} * stride;
    const std::int64_t* __restrict v = words + std::size_t{rows[i]} * n_words;
    for (std::size_t f = 0; f < p; ++f) {
      std::int64_t* __restrict cell = out + (f * kApart8 + x[f]) * n_words;
      for (std::size_t j = 0; j < n_words; ++j) cell[j] += v[j];
    }
  }
}

}  // namespace

COMMITTEE_CLONES
void add_wide8(const std::uint8_t* codes, std::size_t stride, std::size_t p, const RowId* rows,
               std::size_t n_rows, const std::int64_t* words, std::size_t width,
               std::int64_t* out) {
  switch (width) {
    case 2:
      return add_runs<2>(codes, stride, p, rows, n_rows, words, width, out);
    case 3:
      return add_runs<3>(codes, stride, p, rows, n_rows, words, width, out);
    case 4:
      return add_runs<4>(codes, stride, p, rows, n_rows, words, width, out);
    case 5:
      return add_runs<5>(codes, stride, p, rows, n_rows, words, width, out);
    case 6:
      return add_runs<6>(codes, stride, p, rows, n_rows, words, width, out);
    case 7:
      return add_runs<7>(codes, stride, p, rows, n_rows, words, width, out);
    case 8:
      return add_runs<8>(codes, stride, p, rows, n_rows, words, width, out);
    default:
      return add_runs<0>(codes, stride, p, rows, n_rows, words, width, out);
  }
}

}  // namespace committee
