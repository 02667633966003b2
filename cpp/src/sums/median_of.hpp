// The weighted median of a set of rows: order-free, so it may take part in choosing units.
#pragma once

#include <algorithm>
#include <bit>

#include "committee/base/types.hpp"

namespace committee {

/// The smallest value whose prefix holds half of the weight. value(row) -> double (finite),
/// weight(row) -> int64 > 0. Few rows are sorted; many are narrowed down by 16 bits of their
/// order-preserving keys at a time: four passes.
template <class Value, class Weight>
double weighted_median(std::span<const RowId> rows, Value value, Weight weight) {
  constexpr std::size_t kSort = 16384;
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const auto key_of = [&](RowId r) {
    const auto bits = std::bit_cast<std::uint64_t>(value(r) + 0.0);  // no negative zero
    return bits & kSign ? ~bits : bits | kSign;
  };
  const auto value_of = [](std::uint64_t key) {
    return std::bit_cast<double>(key & kSign ? key & ~kSign : ~key);
  };
  __int128 total = 0, below = 0;
  for (const RowId r : rows) total += weight(r);
  if (rows.size() <= kSort) {
    std::vector<std::pair<std::uint64_t, std::int64_t>> pairs;
    pairs.reserve(rows.size());
    for (const RowId r : rows) pairs.emplace_back(key_of(r), weight(r));
    std::sort(pairs.begin(), pairs.end());
    for (const auto& [key, w] : pairs) {
      below += w;
      if (2 * below >= total) return value_of(key);
    }
  }
  std::uint64_t prefix = 0;
  std::vector<__int128> mass(65536);
  for (int level = 0; level < 4; ++level) {
    const int shift = 48 - 16 * level;
    std::fill(mass.begin(), mass.end(), 0);
    for (const RowId r : rows) {
      const std::uint64_t key = key_of(r);
      if (level == 0 || (key >> (shift + 16)) == prefix) mass[(key >> shift) & 0xffff] += weight(r);
    }
    std::size_t bucket = 0;
    while (bucket + 1 < mass.size() && 2 * (below + mass[bucket]) < total) below += mass[bucket++];
    prefix = prefix << 16 | bucket;
  }
  return value_of(prefix);
}

}  // namespace committee
