#include "forest/code_walk.hpp"

#include <algorithm>

namespace committee {
namespace {
constexpr std::size_t kSide = 8;
}

void CodeWalk::lead(std::span<const RowId> rows, std::uint32_t* leaf_of) const {
  const std::uint8_t* const codes = matrix_.rows8();
  const std::size_t stride = matrix_.stride8();
  const Step* const steps = steps_.data();
  for (std::size_t first = 0; first < rows.size(); first += kSide) {
    const std::size_t n = std::min(kSide, rows.size() - first);
    const std::uint8_t* row[kSide];
    std::uint32_t at[kSide] = {};
    for (std::size_t i = 0; i < kSide; ++i)  // the last ones walk twice rather than not at all
      row[i] = codes + rows[first + std::min(i, n - 1)] * stride;
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t i = 0; i < kSide; ++i) {
        const Step& step = steps[at[i]];
        const std::uint32_t code = row[i][step.feature];
        const auto left = static_cast<std::uint32_t>(step.goes_left[code / 64] >> (code % 64)) & 1U;
        const std::uint32_t next = step.left + 1 - left;
        moved |= next != at[i];
        at[i] = next;
      }
    }
    for (std::size_t i = 0; i < n; ++i) leaf_of[rows[first + i]] = at[i];
  }
}

}  // namespace committee
