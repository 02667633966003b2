// Rows of a round, each drawn by itself: by a number in [0, 1) that is the hash of the round's key
// and the row's, so that neither threads nor the order of the rows have a part in it.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "committee/base/parallel.hpp"
#include "committee/base/random.hpp"
#include "committee/base/types.hpp"

namespace committee {

inline constexpr std::size_t kDrawChunk = 16384;  // rows of one task

inline std::uint64_t draw_key(std::uint64_t seed, std::size_t number) {
  return mix(mix(seed, number), ~std::uint64_t{0});
}

/// Rows whose number is below chance(row), ascending; one at least.
template <class Chance>
std::vector<RowId> draw_rows(std::uint64_t key, std::span<const std::uint64_t> row_key,
                             Chance chance, const Context& context) {
  const std::size_t n = row_key.size();
  std::vector<RowId> rows(n);
  std::vector<std::size_t> found((n + kDrawChunk - 1) / kDrawChunk);
  parallel_for(found.size(), context, [&](std::size_t k, int) {
    const std::size_t begin = k * kDrawChunk, end = std::min(n, begin + kDrawChunk);
    RowId* to = rows.data() + begin;
    for (std::size_t r = begin; r < end; ++r) {
      const double u = static_cast<double>(mix(key, row_key[r]) >> 11) * 0x1p-53;
      *to = static_cast<RowId>(r);  // without a branch: which rows stay cannot be predicted
      to += u < chance(r) ? 1 : 0;
    }
    found[k] = static_cast<std::size_t>(to - (rows.data() + begin));
  });
  std::size_t size = 0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    const auto from = rows.begin() + static_cast<std::ptrdiff_t>(k * kDrawChunk);
    std::copy(from, from + static_cast<std::ptrdiff_t>(found[k]),
              rows.begin() + static_cast<std::ptrdiff_t>(size));
    size += found[k];
  }
  rows.resize(size);
  if (rows.empty()) rows.push_back(static_cast<RowId>(mix(key, 0) % n));
  return rows;
}

}  // namespace committee
