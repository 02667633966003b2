// Least-significant-digit radix sort of elements by value, on order-preserving integer keys. It
// skips digits equal in all keys, as the low ones of float32 values stored in doubles are. Best
// while the elements fit the L2 cache.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bins/buckets.hpp"

namespace committee {

// Monotone maps from numbers to unsigned integers: negative numbers are flipped, others get the top
// bit.
inline std::uint64_t key_of(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  return bits ^ (static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> 63) | (1ULL << 63));
}
inline std::uint32_t key_of(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return bits ^ (static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) >> 31) | (1U << 31));
}
inline std::uint64_t key_of(const WeightedValue& x) { return key_of(x.value); }

/// Sorts `elements`; `spare` is working memory.
template <class Element>
void radix_sort(std::span<Element> elements, std::vector<Element>& spare) {
  using Key = decltype(key_of(Element{}));
  constexpr int kPasses = sizeof(Key);
  std::array<std::array<std::uint32_t, 256>, kPasses> counts{};
  for (const Element& element : elements) {
    const Key key = key_of(element);
    for (int pass = 0; pass < kPasses; ++pass) ++counts[pass][key >> (8 * pass) & 255];
  }
  spare.resize(std::max(spare.size(), elements.size()));
  const std::size_t n = elements.size();
  Element* from = elements.data();
  Element* to = spare.data();
  for (int pass = 0; pass < kPasses; ++pass) {
    auto& next = counts[pass];
    if (n == 0 || next[key_of(from[0]) >> (8 * pass) & 255] == n) continue;
    std::uint32_t sum = 0;
    for (std::uint32_t& count : next) sum += std::exchange(count, sum);
    for (std::size_t i = 0; i < n; ++i) to[next[key_of(from[i]) >> (8 * pass) & 255]++] = from[i];
    std::swap(from, to);
  }
  if (from != elements.data()) std::copy_n(from, n, elements.data());
}

}  // namespace committee
