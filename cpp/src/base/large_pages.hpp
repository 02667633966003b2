// Large pages for arrays that are read far and wide: gathered rows of a node lie on pages of their
// own, and finding a page in the table costs as much as fetching the row.
#pragma once

#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <cstdint>

namespace committee {

/// Resizes an empty vector, asking for large pages before they are touched. A wish: where the
/// system has none, nothing changes.
template <class T>
void resize_on_large_pages(std::vector<T>& values, std::size_t n) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t kLarge = std::uintptr_t{1} << 21;
  if (values.capacity() < n && n * sizeof(T) >= 2 * kLarge) {
    values.reserve(n);
    const auto begin = reinterpret_cast<std::uintptr_t>(values.data());
    const std::uintptr_t first = (begin + kLarge - 1) & ~(kLarge - 1);
    const std::uintptr_t last = (begin + n * sizeof(T)) & ~(kLarge - 1);
    if (last > first) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
  }
#endif
  values.resize(n);
}

}  // namespace committee
