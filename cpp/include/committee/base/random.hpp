// Randomness is keyed, never shared state: every draw is a hash of (seed, member, node, use,
// counter), so it does not depend on which thread asks, or when. The mixer is splitmix64's
// finaliser (Steele, Lea, Flood 2014).
#pragma once

#include <cstdint>

namespace committee {

constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

constexpr std::uint64_t mix(std::uint64_t key, std::uint64_t word) { return mix(key ^ mix(word)); }

/// What a draw is for: two uses of one node never share a stream.
enum class Use : std::uint64_t {
  cut_sample = 1,
  tree_features,
  node_features,
  threshold,
  bag_draw,
  level_features
};

/// A stream of draws under one key: the i-th draw is a pure function of (key, i).
class KeyedStream {
 public:
  constexpr KeyedStream(std::uint64_t key, Use use)
      : key_(mix(key, static_cast<std::uint64_t>(use))) {}

  constexpr std::uint64_t next() { return mix(key_, counter_++); }

  /// Uniform in [0, n), without the bias of a plain remainder (Lemire 2019); n > 0.
  constexpr std::uint64_t below(std::uint64_t n) {
    while (true) {
      const unsigned __int128 product = static_cast<unsigned __int128>(next()) * n;
      const auto low = static_cast<std::uint64_t>(product);
      if (low >= n || low >= (0 - n) % n) return static_cast<std::uint64_t>(product >> 64);
    }
  }

  /// Uniform in [0, 1), 53 bits.
  constexpr double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace committee
