// The raw sums of one side of a split. Most have one word or two, which stay in place: a small tree
// would spend more time on asking for memory than on finding its splits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace committee {

class SideSums {
 public:
  /// Room for n words, to be written: what was there may be lost.
  void resize(std::size_t n) {
    n_ = n;
    if (n > kFew) many_.resize(n);
  }
  void assign(std::size_t n, std::int64_t value) {
    resize(n);
    std::fill(begin(), end(), value);
  }

  std::size_t size() const { return n_; }
  std::int64_t* data() { return n_ > kFew ? many_.data() : few_; }
  const std::int64_t* data() const { return n_ > kFew ? many_.data() : few_; }
  std::int64_t* begin() { return data(); }
  std::int64_t* end() { return data() + n_; }
  const std::int64_t* begin() const { return data(); }
  const std::int64_t* end() const { return data() + n_; }
  std::int64_t& operator[](std::size_t i) { return data()[i]; }
  std::int64_t operator[](std::size_t i) const { return data()[i]; }
  bool operator==(const SideSums& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

 private:
  static constexpr std::size_t kFew = 2;

  std::size_t n_ = 0;
  std::int64_t few_[kFew] = {};
  std::vector<std::int64_t> many_;
};

}  // namespace committee
