// Writing a pack: every array becomes columns, and every column the shorter of a table and itself.
// The layout is in pack_format.hpp.
#include "committee/forest/pack.hpp"

#include <algorithm>

#include "committee/base/random.hpp"
#include "forest/pack_format.hpp"

namespace committee {
namespace {

using namespace packing;

/// Numbers rows of words by first appearance: open addressing, at most half full.
class Distinct {
 public:
  explicit Distinct(std::size_t width) : width_(width), slots_(64, 0) {}

  std::size_t size() const { return hashes_.size(); }
  const std::vector<std::uint64_t>& words() const { return words_; }

  std::uint32_t number(const std::uint64_t* row) {
    std::uint64_t hash = 0;
    for (std::size_t k = 0; k < width_; ++k) hash = mix(hash ^ row[k]);
    std::size_t at = hash & (slots_.size() - 1);
    for (; slots_[at] != 0; at = (at + 1) & (slots_.size() - 1)) {
      const std::uint32_t found = slots_[at] - 1;
      if (hashes_[found] == hash && std::equal(row, row + width_, words_.data() + found * width_))
        return found;
    }
    hashes_.push_back(hash);
    words_.insert(words_.end(), row, row + width_);
    const auto fresh = static_cast<std::uint32_t>(hashes_.size());
    slots_[at] = fresh;
    if (2 * hashes_.size() > slots_.size()) widen();
    return fresh - 1;
  }

 private:
  void widen() {
    slots_.assign(4 * slots_.size(), 0);
    for (std::size_t i = 0; i < hashes_.size(); ++i) {
      std::size_t at = hashes_[i] & (slots_.size() - 1);
      while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = static_cast<std::uint32_t>(i + 1);
    }
  }

  std::size_t width_;
  std::vector<std::uint32_t> slots_;  // number + 1; 0: free
  std::vector<std::uint64_t> hashes_, words_;
};
constexpr std::size_t kMaxDistinct = 0xFFFFFFFEu;

/// The bits that differ from zero in some word.
struct Extent {
  int shift = 0, width = 0;

  explicit Extent(std::uint64_t any) {
    if (any != 0) shift = std::countr_zero(any);
    width = std::bit_width(any >> shift);
  }
};

template <class Word>
Extent extent_of(std::size_t n, const Word& word) {
  std::uint64_t any = 0;
  for (std::size_t i = 0; i < n; ++i) any |= word(i);
  return Extent(any);
}

class Writer {
 public:
  std::vector<std::uint8_t> bytes;

  void varint(std::uint64_t number) {
    for (; number >= 128; number >>= 7) bytes.push_back(static_cast<std::uint8_t>(number | 128));
    bytes.push_back(static_cast<std::uint8_t>(number));
  }

  template <class Word>
  void words(std::size_t n, const Word& word) {
    words(n, word, extent_of(n, word));
  }

  /// n rows of `width` words; word(i) counts through all of them.
  template <class Word>
  void column(std::size_t n, std::size_t width, const Word& word) {
    if (n == 0) return;
    const Extent extent = extent_of(n * width, word);
    const std::size_t row_bits = width * static_cast<std::size_t>(extent.width);
    const auto too_long = [&](const Distinct& table) {
      const auto number_bits = static_cast<std::size_t>(std::bit_width(table.size() - 1));
      return table.size() * row_bits + n * number_bits >= n * row_bits ||
             table.size() == kMaxDistinct;
    };
    Distinct table(width);
    std::vector<std::uint32_t> number(n);
    std::vector<std::uint64_t> row(width);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < width; ++k) row[k] = word(i * width + k);
      const std::size_t before = table.size();
      number[i] = table.number(row.data());
      if (table.size() == before || !too_long(table)) continue;
      varint(0);
      return words(n * width, word, extent);
    }
    this->table(table, number);
  }

  void table(const Distinct& table, const std::vector<std::uint32_t>& number) {
    varint(table.size());
    words(table.words().size(), [&](std::size_t i) { return table.words()[i]; });
    words(number.size(), [&](std::size_t i) { return std::uint64_t{number[i]}; });
  }

 private:
  template <class Word>
  void words(std::size_t n, const Word& word, Extent extent) {
    bytes.push_back(static_cast<std::uint8_t>(extent.shift));
    bytes.push_back(static_cast<std::uint8_t>(extent.width));
    std::uint64_t held = 0;
    int n_held = 0;
    for (std::size_t i = 0; extent.width > 0 && i < n; ++i) {
      const std::uint64_t next = word(i) >> extent.shift;
      held |= next << n_held;
      n_held += extent.width;
      if (n_held < 64) continue;
      put(held, 8);
      n_held -= 64;
      held = n_held == 0 ? 0 : next >> (extent.width - n_held);
    }
    put(held, (n_held + 7) / 8);
  }

  void put(std::uint64_t word, int n_bytes) {
    std::uint8_t lowest_first[8];
    for (int b = 0; b < 8; ++b) lowest_first[b] = static_cast<std::uint8_t>(word >> (8 * b));
    bytes.insert(bytes.end(), lowest_first, lowest_first + n_bytes);
  }
};

std::uint64_t bits(double number) { return std::bit_cast<std::uint64_t>(number); }
std::uint64_t bits(std::uint64_t number) { return number; }

class Packer {
 public:
  explicit Packer(const ForestArrays& arrays) : a_(arrays) {
    for (std::size_t t = 0; t + 1 < a_.tree_begin.size(); ++t) {
      const std::size_t begin = a_.tree_begin[t];
      std::size_t next_child = 1;
      for (std::size_t i = begin; i < a_.tree_begin[t + 1]; ++i) {
        const Node& node = a_.nodes[i];
        if (begin + node.left == i) {
          leaves_.push_back(i);
          continue;
        }
        inner_.push_back(i);
        level_order_ = level_order_ && node.left == next_child;
        next_child += 2;
        if ((node.feature & kCategorical) == 0) continue;
        sets_in_order_ = sets_in_order_ && bits(node.threshold) == bits(next_set_);
        next_set_ += 1;
      }
    }
  }

  std::vector<std::uint8_t> run() {
    const Sizes sizes = sizes_of();
    to_.bytes.assign(kMagic.begin(), kMagic.end());
    to_.bytes.push_back(kVersion);
    for (const std::uint64_t size : {sizes.flags, sizes.n_features, sizes.n_outputs, sizes.n_nodes,
                                     sizes.n_sets, sizes.n_words}) {
      to_.varint(size);
    }
    shape();
    features();
    to_.column(sizes.n_sets, 1,
               [&](std::size_t s) { return a_.set_begin[s + 1] - a_.set_begin[s]; });
    to_.column(sizes.n_words, 1, [&](std::size_t w) { return a_.set_words[w]; });
    numbers(a_.values, a_.n_outputs, sizes.flags & kValuesRolled);
    numbers(a_.gain, 1, false);
    numbers(a_.impurity, 1, false);
    numbers(a_.weight, 1, sizes.flags & kWeightRolled);
    numbers(a_.count, 1, sizes.flags & kCountRolled);
    const auto least = static_cast<std::size_t>(sizes.memory() / kMaxExpansion + 1);
    to_.bytes.resize(std::max(to_.bytes.size(), least), 0);
    return std::move(to_.bytes);
  }

 private:
  Sizes sizes_of() const {
    Sizes sizes{what_rolls_up(a_), a_.n_features,           a_.n_outputs,
                a_.nodes.size(),   a_.set_begin.size() - 1, a_.set_words.size()};
    if (level_order_) sizes.flags |= kLevelOrder;
    if (sets_in_order_) sizes.flags |= kSetsInOrder;
    if (!a_.gain.empty()) sizes.flags |= kHasGain;
    if (!a_.impurity.empty()) sizes.flags |= kHasImpurity;
    if (!a_.weight.empty()) sizes.flags |= kHasWeight;
    if (!a_.count.empty()) sizes.flags |= kHasCount;
    return sizes;
  }

  void shape() {
    // A leaf is what no split looks at: its threshold is infinite, that of a split never is.
    to_.words(a_.nodes.size(), [&](std::size_t i) {
      return std::uint64_t{a_.nodes[i].threshold == std::numeric_limits<double>::infinity()};
    });
    if (level_order_) return;
    to_.column(inner_.size(), 1, [&](std::size_t i) { return std::uint64_t{inner(i).left}; });
  }

  void features() {
    Distinct keys(1);
    std::vector<std::uint32_t> number(inner_.size());
    for (std::size_t i = 0; i < inner_.size(); ++i) {
      const std::uint64_t key = key_of(inner(i));
      number[i] = keys.number(&key);
    }
    to_.table(keys, number);
    to_.column(inner_.size(), 1, [&](std::size_t i) {
      return std::uint64_t{(inner(i).feature & kMissingLeft) != 0};
    });
    std::vector<std::vector<std::uint64_t>> of_key(keys.size());
    for (std::size_t i = 0; i < inner_.size(); ++i)
      of_key[number[i]].push_back(bits(inner(i).threshold));
    for (std::size_t k = 0; k < of_key.size(); ++k) {
      if (sets_in_order_ && (keys.words()[k] & kCategorical) != 0) continue;
      to_.column(of_key[k].size(), 1, [&](std::size_t i) { return of_key[k][i]; });
    }
  }

  template <class T>
  void numbers(const std::vector<T>& array, std::size_t width, bool rolled) {
    if (array.empty()) return;
    numbers(array, width, leaves_);
    if (!rolled) numbers(array, width, inner_);
  }

  template <class T>
  void numbers(const std::vector<T>& array, std::size_t width,
               const std::vector<std::size_t>& nodes) {
    if (width == 1) {
      to_.column(nodes.size(), 1, [&](std::size_t i) { return bits(array[nodes[i]]); });
    } else {
      to_.column(nodes.size(), width,
                 [&](std::size_t i) { return bits(array[nodes[i / width] * width + i % width]); });
    }
  }

  const Node& inner(std::size_t i) const { return a_.nodes[inner_[i]]; }

  const ForestArrays& a_;
  std::vector<std::size_t> leaves_, inner_;
  bool level_order_ = true, sets_in_order_ = true;
  double next_set_ = 0;
  Writer to_;
};

}  // namespace

std::vector<std::uint8_t> pack(const Forest& forest) { return Packer(forest.arrays()).run(); }

}  // namespace committee
