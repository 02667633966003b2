// A column's values in ascending buckets, each sorted only when somebody asks: choosing cuts needs
// the order of values near the cuts alone. Splitters are values of a small subsample, so buckets
// are about equally full whatever the distribution; a value equal to a splitter has a bucket of its
// own, so heavy values are never sorted.
#pragma once

#include "committee/base/types.hpp"

namespace committee {

/// Ascending distinct values and the mass of each.
struct Distinct {
  std::vector<double> value;
  std::vector<std::uint64_t> mass;
};

struct WeightedValue {
  double value;
  std::uint64_t mass;
};

inline double value_of(float x) { return static_cast<double>(x); }
inline double value_of(double x) { return x; }
inline double value_of(const WeightedValue& x) { return x.value; }
inline std::uint64_t mass_of(float) { return 1; }
inline std::uint64_t mass_of(double) { return 1; }
inline std::uint64_t mass_of(const WeightedValue& x) { return x.mass; }

/// Element: float (for columns whose values are all float32), double, or WeightedValue. Memory is
/// reused from one column to the next.
template <class Element>
class Buckets {
 public:
  void load(std::span<const Element> elements);

  std::size_t size() const { return begin_.size() - 1; }  // buckets that are not empty
  std::uint64_t mass(std::size_t bucket) const { return mass_[bucket]; }
  std::span<const Element> sorted(std::size_t bucket);
  Distinct distinct_from(std::size_t bucket);

 private:
  void split(std::span<const Element> elements);
  void scatter(std::span<const Element> elements);

  std::vector<Element> element_;       // by bucket
  std::vector<Element> spare_;         // of the sort
  std::vector<std::uint16_t> bucket_;  // of each element as it came
  std::vector<std::uint32_t> next_;  // by bucket, empty ones included: where its next element goes
  std::vector<std::size_t> begin_{0};
  std::vector<std::uint64_t> mass_;
  std::vector<std::uint8_t> in_order_;
};

}  // namespace committee
