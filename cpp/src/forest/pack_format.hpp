// What the two sides of a pack agree on.
//
//   pack    = magic, version, sizes (varints), shape, features, thresholds, sets, numbers, padding
//   shape   = a bit a node: leaf or not; then unless kLevelOrder the column of left, of inner nodes
//   features = number of keys, the keys (a feature with its categorical flag), the key's number of
//             each inner node; then the column of missing_left
//   thresholds = a column for each key; none for categorical keys if kSetsInOrder
//   sets    = the column of sizes in words, the column of words
//   numbers = values, gain, impurity, weight, count, where present: each the column of the leaves,
//             then of the inner nodes unless these are rolled up
//   column  = nothing if there are no rows; else the number of distinct rows, those rows, and the
//             number of each row; or 0 and the rows themselves
//   words (every list above) = a shift and a width (a byte each), then width bits of each word
//             shifted right, the first word in the lowest bits, filled up to whole bytes
//   padding = zeros up to 1 / kMaxExpansion of the memory of the arrays
#pragma once

#include <array>
#include <bit>

#include "committee/forest/forest.hpp"

namespace committee::packing {

inline constexpr std::array<std::uint8_t, 4> kMagic{'c', 'f', 'o', 'r'};
inline constexpr std::uint8_t kVersion = 1;
inline constexpr std::uint64_t kMaxExpansion = 1024;

inline constexpr std::uint64_t kLevelOrder = 1;   // the i-th inner node has its children at 1 + 2 i
inline constexpr std::uint64_t kSetsInOrder = 2;  // the i-th categorical node has set i
inline constexpr std::uint64_t kValuesRolled = 4;
inline constexpr std::uint64_t kWeightRolled = 8;
inline constexpr std::uint64_t kCountRolled = 16;
inline constexpr std::uint64_t kHasGain = 32;
inline constexpr std::uint64_t kHasImpurity = 64;
inline constexpr std::uint64_t kHasWeight = 128;
inline constexpr std::uint64_t kHasCount = 256;
inline constexpr std::uint64_t kAllFlags = 511;
inline constexpr std::uint64_t kFacts = kHasGain | kHasImpurity | kHasWeight | kHasCount;

/// In the order in which they are written.
struct Sizes {
  std::uint64_t flags = 0, n_features = 0, n_outputs = 0, n_nodes = 0, n_sets = 0, n_words = 0;

  /// Bytes of the arrays at most; exact for fewer than 2^60 nodes, sets and words.
  unsigned __int128 memory() const {
    using Wide = unsigned __int128;
    const Wide columns = Wide{n_outputs} + static_cast<unsigned>(std::popcount(flags & kFacts));
    return Wide{n_nodes} * (sizeof(Node) + 8 + 8 * columns) + 8 * (Wide{n_sets} + n_words);
  }
};

/// Numeric and categorical splits on one feature are apart; the side of missing values is not.
inline std::uint32_t key_of(const Node& node) { return node.feature & ~kMissingLeft; }

void roll_weight(ForestArrays& arrays);
void roll_values(ForestArrays& arrays);
void roll_count(ForestArrays& arrays);

/// The flags of what rolling up would give back bit for bit.
std::uint64_t what_rolls_up(const ForestArrays& arrays);

}  // namespace committee::packing
