// Reading a pack from anybody. Every read asks first whether its bytes are there; sizes are held
// against the bytes before memory is asked for; children are checked before anything follows them.
// What then passes Forest's constructor is a forest. The layout is in pack_format.hpp.
#include <algorithm>

#include "committee/forest/pack.hpp"
#include "forest/pack_format.hpp"

namespace committee {
namespace {

using namespace packing;

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument("packed forest: " + what);
}

class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  std::size_t left() const { return bytes_.size() - at_; }

  std::uint8_t byte() {
    if (left() == 0) refuse("ends early, after " + std::to_string(at_) + " bytes");
    return bytes_[at_++];
  }

  std::uint64_t varint() {
    std::uint64_t number = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint64_t part = byte();
      if (shift == 63 && part > 1) break;
      number |= (part & 127) << shift;
      if (part < 128) return number;
    }
    refuse("the number that ends at byte " + std::to_string(at_) + " has more than 64 bits");
  }

  /// sink(i, word) for n words; n is at most 128 times the bytes.
  template <class Sink>
  void words(std::size_t n, const Sink& sink) {
    const int shift = byte(), width = byte();
    if (shift + width > 64) {
      refuse("words of " + std::to_string(width) + " bits are shifted by " + std::to_string(shift) +
             " at byte " + std::to_string(at_));
    }
    if (width == 0) {
      for (std::size_t i = 0; i < n; ++i) sink(i, std::uint64_t{0});
      return;
    }
    const std::size_t n_bytes = (n * static_cast<std::size_t>(width) + 7) / 8;
    if (n_bytes > left()) {
      refuse("ends early: " + std::to_string(n_bytes) + " bytes are wanted at byte " +
             std::to_string(at_) + ", there are " + std::to_string(left()));
    }
    each_word(bytes_.subspan(at_, n_bytes), n, width,
              [&](std::size_t i, std::uint64_t word) { sink(i, word << shift); });
    at_ += n_bytes;
  }

  /// How many rows a table has: no more than its column.
  std::size_t table_size(std::size_t n_rows) {
    const std::uint64_t size = varint();
    if (size > n_rows) {
      refuse("a table of " + std::to_string(size) + " rows for a column of " +
             std::to_string(n_rows));
    }
    return static_cast<std::size_t>(size);
  }

  template <class Sink>
  void numbers(std::size_t n, std::size_t table_size, const Sink& sink) {
    words(n, [&](std::size_t i, std::uint64_t number) {
      if (number >= table_size) {
        refuse("row " + std::to_string(number) + " of a table of " + std::to_string(table_size));
      }
      sink(i, static_cast<std::size_t>(number));
    });
  }

  /// sink(i, k, word) for word k of each of n rows.
  template <class Sink>
  void column(std::size_t n, std::size_t width, const Sink& sink) {
    if (n == 0) return;
    const std::size_t size = table_size(n);
    if (size == 0) {
      std::size_t row = 0, k = 0;
      words(n * width, [&](std::size_t, std::uint64_t word) {
        sink(row, k, word);
        if (++k < width) return;
        ++row;
        k = 0;
      });
      return;
    }
    std::vector<std::uint64_t> table(size * width);
    words(table.size(), [&](std::size_t i, std::uint64_t word) { table[i] = word; });
    numbers(n, size, [&](std::size_t i, std::size_t number) {
      for (std::size_t k = 0; k < width; ++k) sink(i, k, table[number * width + k]);
    });
  }

 private:
  template <class Sink>
  static void each_word(std::span<const std::uint8_t> bytes, std::size_t n, int width,
                        const Sink& sink) {
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - width);
    std::size_t at = 0;
    std::uint64_t held = 0;
    int n_held = 0;
    for (std::size_t i = 0; i < n; ++i) {
      std::uint64_t word = held;
      if (n_held >= width) {
        held >>= width;
        n_held -= width;
      } else {
        const std::uint64_t next = up_to_eight(bytes.subspan(at));
        at = std::min(at + 8, bytes.size());
        word |= next << n_held;
        const int taken = width - n_held;
        held = taken == 64 ? 0 : next >> taken;
        n_held = 64 - taken;
      }
      sink(i, word & mask);
    }
  }

  static std::uint64_t up_to_eight(std::span<const std::uint8_t> bytes) {
    std::uint64_t word = 0;
    const std::size_t n = std::min<std::size_t>(8, bytes.size());
    for (std::size_t b = 0; b < n; ++b) word |= std::uint64_t{bytes[b]} << (8 * b);
    return word;
  }

  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

void put(double& to, std::uint64_t word) { to = std::bit_cast<double>(word); }
void put(std::uint64_t& to, std::uint64_t word) { to = word; }

class Unpacker {
 public:
  explicit Unpacker(std::span<const std::uint8_t> bytes) : n_bytes_(bytes.size()), from_(bytes) {}

  Forest run() {
    read_sizes();
    read_shape();
    if ((sizes_.flags & kLevelOrder) == 0) read_left();
    read_features();
    read_sets();
    const std::uint64_t flags = sizes_.flags;
    numbers(a_.values, a_.n_outputs, flags & kValuesRolled);
    if ((flags & kHasGain) != 0) numbers(a_.gain, 1, false);
    if ((flags & kHasImpurity) != 0) numbers(a_.impurity, 1, false);
    if ((flags & kHasWeight) != 0) numbers(a_.weight, 1, flags & kWeightRolled);
    if ((flags & kHasCount) != 0) numbers(a_.count, 1, flags & kCountRolled);
    if ((flags & kWeightRolled) != 0) roll_weight(a_);
    if ((flags & kCountRolled) != 0) roll_count(a_);
    if ((flags & kValuesRolled) != 0) roll_values(a_);
    const auto least = static_cast<std::size_t>(sizes_.memory() / kMaxExpansion + 1);
    if (from_.left() > 0 && n_bytes_ > least) {
      refuse("has " + std::to_string(std::min(from_.left(), n_bytes_ - least)) + " bytes too many");
    }
    return Forest(std::move(a_));
  }

 private:
  void read_sizes() {
    for (const std::uint8_t expected : kMagic) {
      if (from_.byte() != expected) refuse("does not begin as one");
    }
    const std::uint8_t version = from_.byte();
    if (version != kVersion) {
      refuse("is of version " + std::to_string(version) + ", version " + std::to_string(kVersion) +
             " is read");
    }
    for (std::uint64_t* size : {&sizes_.flags, &sizes_.n_features, &sizes_.n_outputs,
                                &sizes_.n_nodes, &sizes_.n_sets, &sizes_.n_words}) {
      *size = from_.varint();
    }
    if (sizes_.flags > kAllFlags) refuse("has flags of no meaning");
    if (((sizes_.flags & kWeightRolled) != 0 && (sizes_.flags & kHasWeight) == 0) ||
        ((sizes_.flags & kCountRolled) != 0 && (sizes_.flags & kHasCount) == 0)) {
      refuse("has no leaves' weights or counts to add up");
    }
    if (sizes_.n_outputs == 0) refuse("n_outputs is 0, must be at least 1");
    constexpr std::uint64_t kMany = std::uint64_t{1} << 60;
    if (std::max({sizes_.n_nodes, sizes_.n_sets, sizes_.n_words}) >= kMany ||
        sizes_.memory() / kMaxExpansion >= n_bytes_) {
      refuse("promises more than its " + std::to_string(n_bytes_) + " bytes can hold");
    }
    a_.n_features = sizes_.n_features;
    a_.n_outputs = sizes_.n_outputs;
  }

  /// A tree ends where every child that was promised has come.
  void read_shape() {
    a_.nodes.resize(sizes_.n_nodes);
    std::size_t begin = 0, next_child = 1;
    from_.words(sizes_.n_nodes, [&](std::size_t i, std::uint64_t leaf) {
      if (leaf > 1) refuse("node " + std::to_string(i) + " is neither leaf nor split");
      (leaf == 1 ? leaves_ : inner_).push_back(i);
      const std::size_t left = leaf == 1 ? i - begin : next_child;
      a_.nodes[i] = {std::numeric_limits<double>::infinity(), 0, static_cast<std::uint32_t>(left)};
      if (leaf == 0) next_child += 2;
      if (i + 1 - begin < next_child) return;
      a_.tree_begin.push_back(i + 1);
      begin = i + 1;
      next_child = 1;
    });
    if (begin != sizes_.n_nodes) refuse("its last tree is not complete");
  }

  void read_left() {
    std::size_t tree = 0;
    from_.column(inner_.size(), 1, [&](std::size_t i, std::size_t, std::uint64_t left) {
      while (a_.tree_begin[tree + 1] <= inner_[i]) ++tree;
      const std::size_t self = inner_[i] - a_.tree_begin[tree];
      const std::size_t size = a_.tree_begin[tree + 1] - a_.tree_begin[tree];
      if (left <= self || left >= size - 1) {
        refuse("node " + std::to_string(inner_[i]) + " has its children at " +
               std::to_string(left) + " in a tree of " + std::to_string(size));
      }
      inner(i).left = static_cast<std::uint32_t>(left);
    });
  }

  void read_features() {
    const std::size_t n_keys = from_.table_size(inner_.size());
    std::vector<std::uint32_t> keys(n_keys);
    from_.words(n_keys, [&](std::size_t i, std::uint64_t key) {
      if ((key & ~std::uint64_t{kFeatureMask | kCategorical}) != 0) {
        refuse("there is no feature " + std::to_string(key));
      }
      keys[i] = static_cast<std::uint32_t>(key);
    });
    std::vector<std::size_t> end(n_keys + 1, 0);
    std::vector<std::uint32_t> number(inner_.size());
    from_.numbers(inner_.size(), n_keys, [&](std::size_t i, std::size_t key) {
      number[i] = static_cast<std::uint32_t>(key);
      inner(i).feature = keys[key];
      ++end[key + 1];
    });
    from_.column(inner_.size(), 1, [&](std::size_t i, std::size_t, std::uint64_t missing_left) {
      if (missing_left != 0) inner(i).feature |= kMissingLeft;
    });
    for (std::size_t k = 0; k < n_keys; ++k) end[k + 1] += end[k];
    read_thresholds(keys, number, std::move(end));
  }

  /// `next`: where the thresholds of each key begin, in the order of the keys.
  void read_thresholds(const std::vector<std::uint32_t>& keys,
                       const std::vector<std::uint32_t>& number, std::vector<std::size_t> next) {
    const bool in_order = (sizes_.flags & kSetsInOrder) != 0;
    std::vector<double> threshold(inner_.size());
    for (std::size_t k = 0; k < keys.size(); ++k) {
      if (in_order && (keys[k] & kCategorical) != 0) continue;
      from_.column(next[k + 1] - next[k], 1, [&](std::size_t i, std::size_t, std::uint64_t word) {
        put(threshold[next[k] + i], word);
      });
    }
    double next_set = 0;
    for (std::size_t i = 0; i < inner_.size(); ++i) {
      const bool implied = in_order && (keys[number[i]] & kCategorical) != 0;
      inner(i).threshold = implied ? next_set++ : threshold[next[number[i]]++];
    }
  }

  void read_sets() {
    a_.set_begin.resize(sizes_.n_sets + 1);
    from_.column(sizes_.n_sets, 1, [&](std::size_t i, std::size_t, std::uint64_t size) {
      a_.set_begin[i + 1] = a_.set_begin[i] + size;
    });
    a_.set_words.resize(sizes_.n_words);
    from_.column(sizes_.n_words, 1,
                 [&](std::size_t i, std::size_t, std::uint64_t word) { a_.set_words[i] = word; });
  }

  template <class T>
  void numbers(std::vector<T>& array, std::size_t width, bool rolled) {
    array.resize(sizes_.n_nodes * width);
    const auto read = [&](const std::vector<std::size_t>& nodes) {
      from_.column(nodes.size(), width, [&](std::size_t i, std::size_t k, std::uint64_t word) {
        put(array[nodes[i] * width + k], word);
      });
    };
    read(leaves_);
    if (!rolled) read(inner_);
  }

  Node& inner(std::size_t i) { return a_.nodes[inner_[i]]; }

  std::size_t n_bytes_;
  Sizes sizes_;
  Reader from_;
  ForestArrays a_;
  std::vector<std::size_t> leaves_, inner_;
};

}  // namespace

Forest unpack(std::span<const std::uint8_t> bytes) { return Unpacker(bytes).run(); }

}  // namespace committee
