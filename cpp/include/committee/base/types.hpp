// The few types every noun of the engine shares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace committee {

/// A row inside one shard. Sizes and offsets are size_t everywhere; only stored row ids are narrow.
using RowId = std::uint32_t;

inline constexpr std::size_t kMaxRows = std::numeric_limits<RowId>::max();
inline constexpr std::size_t kMaxBins8 = 255;     // plus one code for missing: fits a byte
inline constexpr std::size_t kMaxBins16 = 65535;  // plus one code for missing: fits two bytes

}  // namespace committee
