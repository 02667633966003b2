// Two passes: find each element's bucket by the branch-free search, then move it there (counting
// sort).
#include "bins/buckets.hpp"

#include <algorithm>
#include <type_traits>

#include "bins/radix.hpp"
#include "bins/search.hpp"

namespace committee {
namespace {

constexpr std::size_t kChunk = 512;
constexpr std::size_t kMaxSplitters = 4096;  // two buckets each: numbers fit 16 bits
constexpr std::size_t kElementsPerSplitter = 16;
constexpr std::size_t kOneBucket = 65536;  // up to here sorting all in the L2 cache is as fast
constexpr std::ptrdiff_t kSmallSort = 256;

template <class Element>
std::vector<double> choose_splitters(std::span<const Element> elements) {
  const std::size_t n = std::min(kMaxSplitters, elements.size() / kElementsPerSplitter);
  std::vector<double> splitters(n);
  for (std::size_t i = 0; i < n; ++i) splitters[i] = value_of(elements[i * elements.size() / n]);
  std::sort(splitters.begin(), splitters.end());
  splitters.erase(std::unique(splitters.begin(), splitters.end()), splitters.end());
  return splitters;
}

}  // namespace

template <class Element>
void Buckets<Element>::load(std::span<const Element> elements) {
  if (elements.size() > kOneBucket) {
    split(elements);
    scatter(elements);
  } else {
    element_.assign(elements.begin(), elements.end());
    begin_.assign(1, 0);
    if (!elements.empty()) begin_.push_back(elements.size());
    in_order_.assign(size(), 0);
  }
  mass_.assign(size(), 0);
  for (std::size_t b = 0; b < size(); ++b) {
    for (std::size_t i = begin_[b]; i < begin_[b + 1]; ++i) mass_[b] += mass_of(element_[i]);
  }
}

template <class Element>
void Buckets<Element>::split(std::span<const Element> elements) {
  using Real = std::conditional_t<std::is_same_v<Element, float>, float, double>;
  const std::vector<double> splitters = choose_splitters(elements);
  const SearchTable<Real> table(splitters, elements.size());
  bucket_.resize(elements.size());
  next_.assign(2 * splitters.size() + 2, 0);
  Real x[kChunk];
  std::uint16_t below[kChunk];
  for (std::size_t i = 0; i < elements.size(); i += kChunk) {
    const std::size_t n = std::min(kChunk, elements.size() - i);
    for (std::size_t j = 0; j < n; ++j) x[j] = static_cast<Real>(value_of(elements[i + j]));
    table.count_below(x, n, below);
    for (std::size_t j = 0; j < n; ++j) {
      const std::uint32_t on_splitter = table.padded()[below[j]] == x[j] ? 1 : 0;
      const std::uint32_t bucket = 2U * below[j] + on_splitter;
      bucket_[i + j] = static_cast<std::uint16_t>(bucket);
      ++next_[bucket + 1];
    }
  }
}

template <class Element>
void Buckets<Element>::scatter(std::span<const Element> elements) {
  begin_.assign(1, 0);
  in_order_.clear();
  for (std::size_t bucket = 0; bucket + 1 < next_.size(); ++bucket) {
    if (next_[bucket + 1] > 0) {
      begin_.push_back(begin_.back() + next_[bucket + 1]);
      in_order_.push_back(bucket % 2 == 1 || next_[bucket + 1] == 1 ? 1 : 0);
    }
    next_[bucket + 1] += next_[bucket];
  }
  element_.resize(elements.size());
  Element* const to = element_.data();
  for (std::size_t i = 0; i < elements.size(); ++i) to[next_[bucket_[i]]++] = elements[i];
}

template <class Element>
std::span<const Element> Buckets<Element>::sorted(std::size_t bucket) {
  Element* const begin = element_.data() + begin_[bucket];
  Element* const end = element_.data() + begin_[bucket + 1];
  if (in_order_[bucket] == 0 && end - begin > kSmallSort) {
    radix_sort(std::span<Element>(begin, end), spare_);
  } else if (in_order_[bucket] == 0) {
    std::sort(begin, end,
              [](const Element& a, const Element& b) { return value_of(a) < value_of(b); });
  }
  in_order_[bucket] = 1;
  return {begin, end};
}

template <class Element>
Distinct Buckets<Element>::distinct_from(std::size_t bucket) {
  Distinct distinct;
  if (bucket >= size()) return distinct;
  distinct.value.resize(element_.size() - begin_[bucket]);
  distinct.mass.resize(distinct.value.size());
  double last = value_of(sorted(bucket)[0]);
  std::size_t at = 0;
  for (; bucket < size(); ++bucket) {
    for (const Element& element : sorted(bucket)) {
      at += value_of(element) != last ? 1 : 0;
      last = value_of(element);
      distinct.value[at] = last;
      distinct.mass[at] += mass_of(element);
    }
  }
  distinct.value.resize(at + 1);
  distinct.mass.resize(at + 1);
  distinct.value.shrink_to_fit();  // it may be kept while other columns are fitted
  distinct.mass.shrink_to_fit();
  return distinct;
}

template class Buckets<float>;
template class Buckets<double>;
template class Buckets<WeightedValue>;

}  // namespace committee
