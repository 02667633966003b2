// The forest's gate: arrays come in from a grower or from an untrusted file, and whatever passes
// here can be walked without any further check. One pass over the nodes in order is enough, because
// children lie behind their parent; so nothing recurses and a tree may be as deep as it has nodes.
#include "committee/forest/forest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace committee {
namespace {

static_assert(sizeof(Node) == 16, "a node is 16 bytes in memory, in files and in numpy");
constexpr std::size_t kMaxTreeNodes = 0xFFFFFFFEu;
constexpr std::size_t kMaxFeatures = std::size_t{kFeatureMask} + 1;

std::string at(const char* array, std::size_t index) {
  return std::string(array) + "[" + std::to_string(index) + "]";
}

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument("forest: " + what);
}

void check_size(const char* array, std::size_t size, std::size_t expected, bool optional) {
  if (size == expected || (optional && size == 0)) return;
  refuse(std::string(array) + " has " + std::to_string(size) + " entries, must have " +
         std::to_string(expected) + (optional ? " or none" : ""));
}

/// Of the numbers [begin, end), where there are any.
void check_finite(const char* array, const std::vector<double>& numbers, std::size_t begin,
                  std::size_t end) {
  end = std::min(end, numbers.size());
  constexpr std::uint64_t kExponent = 0x7ff0000000000000ULL;
  std::uint64_t bad = 0;  // all in one pass, which vectorises
  for (std::size_t i = begin; i < end; ++i) {
    bad |= (std::bit_cast<std::uint64_t>(numbers[i]) & kExponent) == kExponent ? 1 : 0;
  }
  if (bad == 0) return;
  for (std::size_t i = begin; i < end; ++i) {
    if (!std::isfinite(numbers[i])) {
      refuse(at(array, i) + " is " + std::to_string(numbers[i]) + ", must be finite");
    }
  }
}

/// begin[0] = 0, strictly ascending, ending at `total`: every part has at least one entry.
void check_offsets(const char* array, const std::vector<std::uint64_t>& begin, std::size_t total) {
  if (begin.empty()) refuse(std::string(array) + " is empty, must have at least one entry");
  if (begin[0] != 0) refuse(at(array, 0) + " is " + std::to_string(begin[0]) + ", must be 0");
  for (std::size_t i = 1; i < begin.size(); ++i) {
    if (begin[i] <= begin[i - 1] || begin[i] > total) {
      refuse(at(array, i) + " is " + std::to_string(begin[i]) + ", must be greater than " +
             std::to_string(begin[i - 1]) + " and at most " + std::to_string(total));
    }
  }
  if (begin.back() != total) {
    refuse(at(array, begin.size() - 1) + " is " + std::to_string(begin.back()) + ", must be " +
           std::to_string(total));
  }
}

void check_sizes(const ForestArrays& a) {
  const std::size_t n_nodes = a.nodes.size();
  if (a.n_features > kMaxFeatures) {
    refuse("n_features is " + std::to_string(a.n_features) + ", must be at most " +
           std::to_string(kMaxFeatures));
  }
  if (a.n_outputs == 0) refuse("n_outputs is 0, must be at least 1");
  if (n_nodes != 0 && a.n_outputs > std::numeric_limits<std::size_t>::max() / n_nodes) {
    refuse("n_outputs is " + std::to_string(a.n_outputs) + ", too large for " +
           std::to_string(n_nodes) + " nodes");
  }
  check_size("values", a.values.size(), n_nodes * a.n_outputs, false);
  check_size("gain", a.gain.size(), n_nodes, true);
  check_size("impurity", a.impurity.size(), n_nodes, true);
  check_size("weight", a.weight.size(), n_nodes, true);
  check_size("count", a.count.size(), n_nodes, true);
  check_offsets("tree_begin", a.tree_begin, n_nodes);
  for (std::size_t t = 1; t < a.tree_begin.size(); ++t) {
    if (a.tree_begin[t] - a.tree_begin[t - 1] > kMaxTreeNodes) {
      refuse(at("tree_begin", t) + " gives tree " + std::to_string(t - 1) + " more than " +
             std::to_string(kMaxTreeNodes) + " nodes");
    }
  }
  check_offsets("set_begin", a.set_begin, a.set_words.size());
}

void check_leaf(const Node& node, std::size_t index) {
  if (node.threshold != std::numeric_limits<double>::infinity()) {
    refuse(at("nodes", index) + ".threshold is " + std::to_string(node.threshold) +
           ", must be +infinity because the node is a leaf");
  }
  if (node.feature != 0) {
    refuse(at("nodes", index) + ".feature is " + std::to_string(node.feature) +
           ", must be 0 because the node is a leaf");
  }
}

void check_split(const ForestArrays& a, const Node& node, std::size_t index) {
  const std::uint32_t feature = node.feature & kFeatureMask;
  if (feature >= a.n_features) {
    refuse(at("nodes", index) + ".feature is " + std::to_string(feature) + ", must be below " +
           std::to_string(a.n_features));
  }
  if ((node.feature & kCategorical) == 0) {
    if (!std::isfinite(node.threshold)) {
      refuse(at("nodes", index) + ".threshold is " + std::to_string(node.threshold) +
             ", must be finite");
    }
    return;
  }
  const std::size_t n_sets = a.set_begin.size() - 1;
  const double set = node.threshold;
  if (!(set >= 0.0 && set < static_cast<double>(n_sets)) || set != std::floor(set)) {
    refuse(at("nodes", index) + ".threshold is " + std::to_string(set) +
           ", must be the index of one of " + std::to_string(n_sets) + " sets");
  }
}

/// One tree at a time; the two buffers are reused from tree to tree.
class TreeCheck {
 public:
  explicit TreeCheck(const ForestArrays& a) : a_(a) {}

  void run(std::size_t tree) {
    const std::size_t begin = a_.tree_begin[tree], size = a_.tree_begin[tree + 1] - begin;
    check_finite("values", a_.values, begin * a_.n_outputs, (begin + size) * a_.n_outputs);
    check_finite("gain", a_.gain, begin, begin + size);
    check_finite("impurity", a_.impurity, begin, begin + size);
    check_finite("weight", a_.weight, begin, begin + size);
    depth = 0;
    categorical = false;
    if (in_level_order(a_.nodes.data() + begin, size)) return;
    level_.assign(size, kNoParent);
    level_[0] = 0;
    depth = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const Node& node = a_.nodes[begin + i];
      if (level_[i] == kNoParent) refuse(at("nodes", begin + i) + " is the child of no node");
      depth = std::max(depth, level_[i]);
      if (node.left == i) {
        check_leaf(node, begin + i);
      } else {
        adopt(tree, i, size);
        check_split(a_, node, begin + i);
        categorical |= (node.feature & kCategorical) != 0;
      }
    }
  }

  std::uint32_t depth = 0;
  bool categorical = false;

 private:
  static constexpr std::uint32_t kNoParent = 0xFFFFFFFFu;

  /// Trees come from the grower level by level, the next two free nodes being the next children.
  /// That, and numeric splits only, is seen without a branch; false where anything else is found,
  /// right or wrong.
  bool in_level_order(const Node* tree, std::size_t size) {
    std::size_t next = 1;
    bool good = true;
    for (std::size_t i = 0; good && i < next && next <= size; ++depth) {
      for (const std::size_t level = next; i < level; ++i) {
        const Node& node = tree[i];
        const bool inner = node.left != i;
        const bool split = std::isfinite(node.threshold) &
                           ((node.feature & ~kMissingLeft) < a_.n_features) & (node.left == next);
        const bool leaf =
            (node.threshold == std::numeric_limits<double>::infinity()) & (node.feature == 0);
        good &= inner ? split : leaf;
        next += inner ? 2 : 0;
      }
    }
    --depth;
    return good && next == size;
  }

  /// Children lie behind their parent and have no other one. As every parent comes before its
  /// children, a node without a parent is found when the pass reaches it.
  void adopt(std::size_t tree, std::size_t i, std::size_t size) {
    const std::size_t index = a_.tree_begin[tree] + i;
    const std::size_t left = a_.nodes[index].left;
    if (left < i || left + 1 >= size) {
      refuse(at("nodes", index) + ".left is " + std::to_string(left) + ", must be greater than " +
             std::to_string(i) + " and below " + std::to_string(size - 1) + " in tree " +
             std::to_string(tree));
    }
    for (std::size_t child = left; child <= left + 1; ++child) {
      if (level_[child] != kNoParent) {
        refuse(at("nodes", index) + ".left is " + std::to_string(left) + ", but node " +
               std::to_string(child) + " of tree " + std::to_string(tree) +
               " has a parent already");
      }
      level_[child] = level_[i] + 1;
    }
  }

  const ForestArrays& a_;
  std::vector<std::uint32_t> level_;
};

/// The features that splits look at, gathered tree by tree on several threads. Linear in the nodes:
/// flags when features are few beside nodes, else a list.
class UsedFeatures {
 public:
  explicit UsedFeatures(const ForestArrays& a)
      : a_(a), few_(a.n_features / 8 <= a.nodes.size()), seen_(few_ ? a.n_features + 1 : 0, 0) {}

  void add(std::size_t t) {
    const Node* tree = a_.nodes.data() + a_.tree_begin[t];
    const std::size_t size = a_.tree_begin[t + 1] - a_.tree_begin[t];
    for (std::size_t i = 0; i < size; ++i) {
      const bool inner = tree[i].left != i;
      const std::uint32_t feature = tree[i].feature & kFeatureMask;
      if (few_) {
        seen_[inner ? feature : a_.n_features] = 1;  // leaves say the last, which is none
      } else if (inner) {
        list_.push_back(feature);
      }
    }
  }

  /// Ascending, of all of them.
  static std::vector<std::uint32_t> merge(std::span<const UsedFeatures> parts) {
    std::vector<std::uint32_t> used;
    std::size_t most = 0;
    for (const UsedFeatures& part : parts) most += part.list_.size() + part.seen_.size();
    used.reserve(most);
    for (const UsedFeatures& part : parts) {
      used.insert(used.end(), part.list_.begin(), part.list_.end());
      for (std::size_t f = 0; f + 1 < part.seen_.size(); ++f) {
        if (part.seen_[f] != 0) used.push_back(static_cast<std::uint32_t>(f));
      }
    }
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    used.shrink_to_fit();
    return used;
  }

 private:
  const ForestArrays& a_;
  bool few_;
  std::vector<std::uint8_t> seen_;
  std::vector<std::uint32_t> list_;
};

std::vector<std::uint32_t> find_positions(const ForestArrays& a,
                                          std::span<const std::uint32_t> used) {
  std::vector<std::uint32_t> position(a.nodes.size(), 0);
  for (std::size_t i = 0; i < position.size() && !used.empty(); ++i) {
    const auto found =
        std::lower_bound(used.begin(), used.end(), a.nodes[i].feature & kFeatureMask);
    // A leaf looks at feature 0, which may be unused; any position does for it, and 0 is one.
    if (found != used.end()) position[i] = static_cast<std::uint32_t>(found - used.begin());
  }
  return position;
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from, std::size_t begin, std::size_t end) {
  if (from.empty()) return;
  to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(begin),
            from.begin() + static_cast<std::ptrdiff_t>(end));
}

/// Appends the trees [begin, end) of `from`, with the sets that they use, numbered anew in order of
/// first use.
void append_trees(ForestArrays& to, const ForestArrays& from, std::size_t begin, std::size_t end) {
  const std::size_t first = from.tree_begin[begin], last = from.tree_begin[end];
  const std::size_t shift = to.nodes.size();
  append(to.nodes, from.nodes, first, last);
  append(to.values, from.values, first * from.n_outputs, last * from.n_outputs);
  append(to.gain, from.gain, first, last);
  append(to.impurity, from.impurity, first, last);
  append(to.weight, from.weight, first, last);
  append(to.count, from.count, first, last);
  for (std::size_t t = begin; t < end; ++t) {
    to.tree_begin.push_back(from.tree_begin[t + 1] - first + shift);
  }
  constexpr double kNew = -1.0;
  std::vector<double> number(from.set_begin.size() - 1, kNew);
  for (std::size_t i = shift; !number.empty() && i < to.nodes.size(); ++i) {
    if ((to.nodes[i].feature & kCategorical) == 0) continue;
    const auto set = static_cast<std::size_t>(to.nodes[i].threshold);
    if (number[set] == kNew) {
      number[set] = static_cast<double>(to.set_begin.size() - 1);
      append(to.set_words, from.set_words, from.set_begin[set], from.set_begin[set + 1]);
      to.set_begin.push_back(to.set_words.size());
    }
    to.nodes[i].threshold = number[set];
  }
}

}  // namespace

Forest::Forest(ForestArrays arrays, const Context& context) : a_(std::move(arrays)) {
  check_sizes(a_);
  depth_.resize(n_trees());
  categorical_.resize(n_trees());
  const auto n_slots = static_cast<std::size_t>(std::max(1, context.n_threads));
  std::vector<TreeCheck> checks(n_slots, TreeCheck(a_));
  std::vector<UsedFeatures> used(n_slots, UsedFeatures(a_));
  parallel_for(n_trees(), context, [&](std::size_t t, int slot) {
    TreeCheck& check = checks[static_cast<std::size_t>(slot)];
    check.run(t);
    used[static_cast<std::size_t>(slot)].add(t);
    depth_[t] = check.depth;
    categorical_[t] = check.categorical ? 1 : 0;
  });
  used_ = UsedFeatures::merge(used);
  // A row of all features costs nothing to speak of until there are many more of them than are
  // used.
  if (a_.n_features > 2 * used_.size() + 256) position_ = find_positions(a_, used_);
  cache_ = make_cache();
}

Forest Forest::concatenate(std::span<const Forest* const> forests) {
  if (forests.empty()) throw std::invalid_argument("concatenate: no forests");
  ForestArrays out;
  out.n_features = forests[0]->a_.n_features;
  out.n_outputs = forests[0]->a_.n_outputs;
  std::size_t n_nodes = 0;
  for (std::size_t i = 0; i < forests.size(); ++i) {
    const ForestArrays& a = forests[i]->a_;
    if (a.n_features != out.n_features || a.n_outputs != out.n_outputs) {
      throw std::invalid_argument("concatenate: forests[" + std::to_string(i) +
                                  "] differs from forests[0] in n_features or n_outputs");
    }
    n_nodes += a.nodes.size();
  }
  out.nodes.reserve(n_nodes);
  out.values.reserve(n_nodes * out.n_outputs);
  for (const Forest* forest : forests) append_trees(out, forest->a_, 0, forest->n_trees());
  if (out.gain.size() != n_nodes) out.gain.clear();
  if (out.impurity.size() != n_nodes) out.impurity.clear();
  if (out.weight.size() != n_nodes) out.weight.clear();
  if (out.count.size() != n_nodes) out.count.clear();
  return Forest(std::move(out));
}

Forest Forest::slice(std::size_t begin, std::size_t end) const {
  if (begin > end || end > n_trees()) {
    throw std::invalid_argument("slice: trees [" + std::to_string(begin) + ", " +
                                std::to_string(end) + ") of " + std::to_string(n_trees()));
  }
  ForestArrays out;
  out.n_features = a_.n_features;
  out.n_outputs = a_.n_outputs;
  append_trees(out, a_, begin, end);
  return Forest(std::move(out));
}

Forest Forest::votes(std::span<const std::uint32_t> n_classes) const {
  const bool none = std::count(n_classes.begin(), n_classes.end(), 0u) > 0;
  if (none || std::accumulate(n_classes.begin(), n_classes.end(), std::size_t{0}) != a_.n_outputs)
    throw std::invalid_argument(
        "n_classes must be positive and add up to the outputs of the forest");
  ForestArrays a;
  a.n_features = a_.n_features;
  a.n_outputs = a_.n_outputs;
  a.tree_begin = a_.tree_begin;
  a.nodes = a_.nodes;
  a.set_begin = a_.set_begin;
  a.set_words = a_.set_words;
  a.values.assign(a_.values.size(), 0.0);
  for (std::size_t at = 0; at < a_.values.size();) {
    for (const std::uint32_t k : n_classes) {
      const double* value = a_.values.data() + at;
      a.values[at + static_cast<std::size_t>(std::max_element(value, value + k) - value)] = 1.0;
      at += k;
    }
  }
  return Forest(std::move(a));
}

Forest Forest::revalued(std::span<const double> values, std::size_t n_outputs) const {
  if (n_outputs == 0) refuse("n_outputs is 0, must be at least 1");
  check_size("values", values.size(), n_nodes() * n_outputs, false);
  Forest out(*this);
  out.a_.n_outputs = n_outputs;
  out.a_.values.assign(values.begin(), values.end());
  check_finite("values", out.a_.values, 0, values.size());
  out.cache_ = make_cache();
  return out;
}

}  // namespace committee
