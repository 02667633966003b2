// Vectors of words and numbers, one lane a cut, and of single precision, two words' cuts in one: of
// the size that most machines have, and of twice that size.
#pragma once

#include <cstddef>
#include <cstdint>

#include "committee/base/clones.hpp"

namespace committee {

constexpr std::uint64_t kSign = std::uint64_t{1} << 63;  // of a number

struct FewLanes {
  static constexpr std::size_t kLanes = 4;
  using Numbers = double __attribute__((vector_size(8 * kLanes)));
  using Words = std::uint64_t __attribute__((vector_size(8 * kLanes)));
  using Singles = float __attribute__((vector_size(8 * kLanes)));
  using Halves = std::int32_t __attribute__((vector_size(8 * kLanes)));

  /// Each lane becomes the sum of those up to it.
  COMMITTEE_INLINE static void run(Words& w) {
    const Words none{};
    w += __builtin_shufflevector(none, w, 0, 4, 5, 6);
    w += __builtin_shufflevector(none, w, 0, 1, 4, 5);
  }
  COMMITTEE_INLINE static void add_last(const Words& w, Words& carry) {
    carry += __builtin_shufflevector(w, w, 3, 3, 3, 3);
  }
  COMMITTEE_INLINE static Numbers size(const Numbers& numbers) {
    return reinterpret_cast<Numbers>(reinterpret_cast<Words>(numbers) & ~kSign);
  }
  /// Numbers become 0 where `condition` is negative.
  COMMITTEE_INLINE static void clear(const Numbers& condition, Numbers& numbers) {
    numbers = condition >= 0 ? numbers : Numbers{};
  }
  /// The upper halves of two vectors of words, in any order, and the lower ones in the same.
  COMMITTEE_INLINE static Halves upper(const Words& a, const Words& b) {
    return __builtin_shufflevector(reinterpret_cast<Halves>(a), reinterpret_cast<Halves>(b), 1, 3,
                                   9, 11, 5, 7, 13, 15);
  }
  COMMITTEE_INLINE static Halves lower(const Words& a, const Words& b) {
    return __builtin_shufflevector(reinterpret_cast<Halves>(a), reinterpret_cast<Halves>(b), 0, 2,
                                   8, 10, 4, 6, 12, 14);
  }
  /// Whether the sign of any half is set.
  COMMITTEE_INLINE static bool negative(const Words& signs) {
    const auto half =
        __builtin_shufflevector(signs, signs, 0, 1) | __builtin_shufflevector(signs, signs, 2, 3);
    return ((half[0] | half[1]) & 0x8000000080000000) != 0;
  }
};

struct WideLanes {
  static constexpr std::size_t kLanes = 8;
  using Numbers = double __attribute__((vector_size(8 * kLanes)));
  using Words = std::uint64_t __attribute__((vector_size(8 * kLanes)));
  using Singles = float __attribute__((vector_size(8 * kLanes)));
  using Halves = std::int32_t __attribute__((vector_size(8 * kLanes)));

  COMMITTEE_INLINE static void run(Words& w) {
    const Words none{};
    w += __builtin_shufflevector(none, w, 0, 8, 9, 10, 11, 12, 13, 14);
    w += __builtin_shufflevector(none, w, 0, 1, 8, 9, 10, 11, 12, 13);
    w += __builtin_shufflevector(none, w, 0, 1, 2, 3, 8, 9, 10, 11);
  }
  COMMITTEE_INLINE static void add_last(const Words& w, Words& carry) {
    carry += __builtin_shufflevector(w, w, 7, 7, 7, 7, 7, 7, 7, 7);
  }
  COMMITTEE_INLINE static Numbers size(const Numbers& numbers) {
    return reinterpret_cast<Numbers>(reinterpret_cast<Words>(numbers) & ~kSign);
  }
  COMMITTEE_INLINE static void clear(const Numbers& condition, Numbers& numbers) {
    // No comparison: compilers take it apart in vectors of this size.
    using Signed = std::int64_t __attribute__((vector_size(8 * kLanes)));
    const Signed negative = reinterpret_cast<Signed>(condition) >> 63;
    numbers = reinterpret_cast<Numbers>(reinterpret_cast<Signed>(numbers) & ~negative);
  }
  COMMITTEE_INLINE static Halves upper(const Words& a, const Words& b) {
    return __builtin_shufflevector(reinterpret_cast<Halves>(a), reinterpret_cast<Halves>(b), 1, 3,
                                   5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  }
  COMMITTEE_INLINE static Halves lower(const Words& a, const Words& b) {
    return __builtin_shufflevector(reinterpret_cast<Halves>(a), reinterpret_cast<Halves>(b), 0, 2,
                                   4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  }
  COMMITTEE_INLINE static bool negative(const Words& signs) {
    return FewLanes::negative(__builtin_shufflevector(signs, signs, 0, 1, 2, 3) |
                              __builtin_shufflevector(signs, signs, 4, 5, 6, 7));
  }
};

}  // namespace committee
