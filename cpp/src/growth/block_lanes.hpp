// Blocks by row compare a row with a cut of every feature in one instruction: a byte each.
#pragma once

#include <cstddef>
#include <cstdint>

namespace committee {

inline constexpr std::size_t kLanes = 32;
using Lanes = std::uint8_t __attribute__((vector_size(kLanes)));

}  // namespace committee
