// Large pages for arrays that are read far and wide: gathered rows of a node lie on pages of their
// own, and finding a page in the table costs as much as fetching the row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "committee/base/parallel.hpp"

namespace committee {

inline constexpr std::size_t kLargePage = std::size_t{1} << 21;

/// Makes room in an empty vector, asking for large pages before they are touched. A wish: where the
/// system has none, nothing changes.
template <class T>
void reserve_on_large_pages(std::vector<T>& values, std::size_t n) {
  if (values.capacity() >= n) return;
  values.reserve(n);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t kMask = ~(std::uintptr_t{kLargePage} - 1);
  const auto begin = reinterpret_cast<std::uintptr_t>(values.data());
  const std::uintptr_t first = (begin + kLargePage - 1) & kMask;
  const std::uintptr_t last = (begin + n * sizeof(T)) & kMask;
  if (last >= first + kLargePage)
    madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

template <class T>
void resize_on_large_pages(std::vector<T>& values, std::size_t n) {
  reserve_on_large_pages(values, n);
  values.resize(n);
}

/// The same of many numbers: pages are touched by all threads first, since a system that has to
/// find the memory takes longer over it than the threads over what they do with it. The vector may
/// grow to n_most, whose pages stay untouched till then.
template <class T>
void resize_on_large_pages(std::vector<T>& values, std::size_t n, const Context& context,
                           std::size_t n_most = 0) {
  reserve_on_large_pages(values, std::max(n, n_most));
  auto* const bytes = reinterpret_cast<unsigned char*>(values.data());
  parallel_for(n * sizeof(T) / kLargePage, context, [&](std::size_t page, int) {
    const_cast<volatile unsigned char&>(bytes[page * kLargePage]) = 0;
  });
  values.resize(n);
}

}  // namespace committee
