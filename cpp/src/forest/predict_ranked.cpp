// Making the ranked form: sort the thresholds, then make each tree a circuit or a list of
// questions.
#include "forest/predict_ranked.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

namespace committee {
namespace {

/// Ranks of a block must stay near.
constexpr std::size_t kMaxColumns = 2048;
constexpr std::uint32_t kNone = 0xFFFFFFFFu;
/// Among the thresholds of a feature: many, but not so many that its guide does not stay near.
constexpr std::size_t kSearches = 4000;
/// A circuit takes as long for one row as for a block, so fewer rows than these are walked.
constexpr std::size_t kFewRows = 48;

std::uint32_t offset(std::size_t bytes) { return static_cast<std::uint32_t>(bytes); }

/// The thresholds of all used features, and where each node's feature is among them.
class Cuts {
 public:
  explicit Cuts(const Forest& forest)
      : forest_(forest), cuts_(forest.used_features().size()), column_(2 * cuts_.size(), kNone) {
    if (!forest.used_position().empty()) return;
    position_.assign(forest.arrays().n_features, 0);
    for (std::size_t u = 0; u < cuts_.size(); ++u) {
      position_[forest.used_features()[u]] = static_cast<std::uint32_t>(u);
    }
  }

  std::size_t position(std::size_t index) const {
    if (position_.empty()) return forest_.used_position()[index];
    return position_[forest_.arrays().nodes[index].feature & kFeatureMask];
  }

  /// False if a feature has too many.
  bool collect() {
    const ForestArrays& a = forest_.arrays();
    for (std::size_t i = 0; i < a.nodes.size(); ++i) {
      // Leaves alone have an infinite threshold.
      if (!(a.nodes[i].threshold < std::numeric_limits<double>::infinity())) continue;
      auto& cuts = cuts_[position(i)];
      cuts.push_back(a.nodes[i].threshold);
      column_[slot(i)] = 0;
      if (cuts.size() >= kCollected && !sort_unique(cuts)) return false;
    }
    return std::all_of(cuts_.begin(), cuts_.end(), sort_unique);
  }

  std::uint8_t code(std::size_t index) const {
    const auto& cuts = cuts_[position(index)];
    const double threshold = forest_.arrays().nodes[index].threshold;
    return static_cast<std::uint8_t>(std::lower_bound(cuts.begin(), cuts.end(), threshold) -
                                     cuts.begin());
  }

  std::uint32_t column(std::size_t index) const { return column_[slot(index)]; }

  void store(RankedForest& out) {
    out.n_planes = Circuit::kFirst;
    for (const std::vector<double>& cuts : cuts_) {
      out.floats.emplace_back(cuts, kSearches);
      out.doubles.emplace_back(cuts, kSearches);
    }
    for (std::size_t i = 0; i < column_.size(); ++i) {
      if (column_[i] == kNone) continue;
      column_[i] = static_cast<std::uint32_t>(out.columns.size());
      const auto n_cuts = static_cast<std::uint32_t>(cuts_[i / 2].size());
      out.columns.push_back(
          {static_cast<std::uint32_t>(i / 2), n_cuts, i % 2 == 0, offset(out.n_planes)});
      out.n_planes += n_cuts + 1;
    }
  }

 private:
  static constexpr std::size_t kCollected = 4096;  // thresholds before repeated ones are dropped

  static bool sort_unique(std::vector<double>& cuts) {
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    return cuts.size() <= RankedForest::kCuts;
  }

  /// Two columns a feature: missing left, missing right.
  std::size_t slot(std::size_t index) const {
    const bool left = (forest_.arrays().nodes[index].feature & kMissingLeft) != 0;
    return 2 * position(index) + (left ? 0 : 1);
  }

  const Forest& forest_;
  std::vector<std::uint32_t> position_;
  std::vector<std::vector<double>> cuts_;
  std::vector<std::uint32_t> column_;
};

/// Appends what finds the leaves of one tree.
class TreeCompiler {
 public:
  TreeCompiler(const Forest& forest, const Cuts& cuts, RankedForest& out)
      : forest_(forest),
        cuts_(cuts),
        out_(out),
        first_result_(static_cast<PlaneId>(out.n_planes)) {}

  /// False where numbers of leaves would be too large.
  bool run(std::size_t tree) {
    const ForestArrays& a = forest_.arrays();
    begin_ = a.tree_begin[tree];
    size_ = a.tree_begin[tree + 1] - begin_;
    nodes_ = a.nodes.data() + begin_;
    out_.trees.push_back(end());
    return emit_questions() || emit_circuit();
  }

  RankedForest::Tree end() const {
    return {out_.gates.size(), out_.bits.size(), out_.questions.size(), out_.leaf_node.size()};
  }
  std::size_t n_results() const { return n_results_; }
  bool any_circuit() const { return any_circuit_; }

 private:
  bool is_leaf(std::size_t i) const { return nodes_[i].left == i; }

  /// Of a symmetric tree, with its leaves from left to right; false, and nothing done, of another.
  bool emit_questions() {
    std::vector<RankedForest::Question> questions;
    std::vector<std::uint32_t> level{0}, below;
    while (!is_leaf(level[0])) {
      const auto asks = [&](std::uint32_t node) {
        const std::size_t index = begin_ + node;
        return std::pair(cuts_.column(index), cuts_.code(index));
      };
      const auto question = asks(level[0]);
      const auto same = [&](std::uint32_t n) { return !is_leaf(n) && asks(n) == question; };
      if (!std::all_of(level.begin(), level.end(), same)) return false;
      questions.push_back({offset(question.first * kRankRows), question.second});
      below.clear();
      for (const std::uint32_t node : level)
        below.insert(below.end(), {nodes_[node].left, nodes_[node].left + 1});
      level.swap(below);
    }
    if (!std::all_of(level.begin(), level.end(), [&](auto node) { return is_leaf(node); }))
      return false;
    out_.questions.insert(out_.questions.end(), questions.begin(), questions.end());
    store_leaves(level);
    return true;
  }

  bool emit_circuit() {
    any_circuit_ = true;
    condition_.assign(size_, 0);
    for (std::size_t i = 0; i < size_; ++i) {
      if (is_leaf(i)) continue;
      const std::uint32_t first = out_.columns[cuts_.column(begin_ + i)].first_plane;
      condition_[i] = static_cast<PlaneId>(first + 1 + cuts_.code(begin_ + i));
    }
    const Circuit circuit({nodes_, size_}, condition_, first_result_);
    if (circuit.bits().size() > RankedForest::kMaxBits) return false;
    n_results_ = std::max(n_results_, circuit.n_results());
    out_.gates.insert(out_.gates.end(), circuit.gates().begin(), circuit.gates().end());
    out_.bits.insert(out_.bits.end(), circuit.bits().begin(), circuit.bits().end());
    store_leaves(circuit.leaves());
    return true;
  }

  /// By number: nodes and their values. A leaf may have eight numbers, so values of several outputs
  /// stay where they are.
  void store_leaves(const std::vector<std::uint32_t>& leaves) {
    const ForestArrays& a = forest_.arrays();
    out_.leaf_node.insert(out_.leaf_node.end(), leaves.begin(), leaves.end());
    if (a.n_outputs > 1) return;
    for (const std::uint32_t leaf : leaves) out_.leaf_value.push_back(a.values[begin_ + leaf]);
  }

  const Forest& forest_;
  const Cuts& cuts_;
  RankedForest& out_;
  const Node* nodes_ = nullptr;
  std::size_t begin_ = 0, size_ = 0;
  PlaneId first_result_;
  std::size_t n_results_ = 0;
  bool any_circuit_ = false;
  std::vector<PlaneId> condition_;
};

bool suits(const Forest& forest) {
  if (forest.used_features().size() > kMaxColumns / 2) return false;
  for (std::size_t t = 0; t < forest.n_trees(); ++t) {
    if (forest.has_categorical(t)) return false;
  }
  return true;
}

bool any_large(const Forest& forest) {
  const auto& begin = forest.arrays().tree_begin;
  for (std::size_t t = 0; t < forest.n_trees(); ++t) {
    if (begin[t + 1] - begin[t] >= 2 * RankedForest::kMaxLeaves) return true;
  }
  return false;
}

void store_nodes(const Forest& forest, const Cuts& cuts, RankedForest& out) {
  const auto& nodes = forest.arrays().nodes;
  out.nodes.reserve(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool leaf = !(nodes[i].threshold < std::numeric_limits<double>::infinity());
    const auto column = static_cast<std::uint16_t>(leaf ? 0 : cuts.column(i));
    out.nodes.push_back({nodes[i].left, column, leaf ? RankedForest::kLeafCode : cuts.code(i), 0});
  }
}

/// The kinds of a tree's leaves, unless they are too many.
void store_kinds(const ForestArrays& a, std::size_t tree, RankedForest& out) {
  const std::size_t k = a.n_outputs, before = out.kind_value.size();
  for (std::size_t i = a.tree_begin[tree]; i < a.tree_begin[tree + 1]; ++i) {
    if (out.nodes[i].code != RankedForest::kLeafCode) continue;
    const double* value = a.values.data() + i * k;
    std::size_t at = before;
    while (at < out.kind_value.size() &&
           std::memcmp(value, out.kind_value.data() + at, k * sizeof(double)) != 0)
      at += k;
    if (at == before + RankedForest::kMaxKinds * k) {
      out.kind_value.resize(before);
      break;
    }
    if (at == out.kind_value.size()) out.kind_value.insert(out.kind_value.end(), value, value + k);
    out.nodes[i].kind = static_cast<std::uint8_t>((at - before) / k);
  }
  out.kind_begin.push_back(out.kind_value.size());
}

/// All trees as circuits or questions; false where walking is better.
bool compile(const Forest& forest, const Cuts& cuts, RankedForest& out) {
  if (out.n_planes > RankedForest::kMaxPlanes) return false;
  TreeCompiler compiler(forest, cuts, out);
  for (std::size_t t = 0; t < forest.n_trees(); ++t) {
    if (!compiler.run(t)) return false;
  }
  out.trees.push_back(compiler.end());
  out.n_planes = compiler.any_circuit() ? out.n_planes + compiler.n_results() : 0;
  return true;
}

}  // namespace

std::unique_ptr<const RankedForest> make_ranked(const Forest& forest) {
  if (!suits(forest)) return nullptr;
  Cuts cuts(forest);
  if (!cuts.collect()) return nullptr;
  auto out = std::make_unique<RankedForest>();
  cuts.store(*out);
  if (!any_large(forest) && compile(forest, cuts, *out)) return out;
  *out = {};
  cuts.store(*out);
  out->n_planes = 0;
  store_nodes(forest, cuts, *out);
  out->kind_begin.push_back(0);
  for (std::size_t t = 0; t < forest.n_trees(); ++t) store_kinds(forest.arrays(), t, *out);
  return out;
}

struct Forest::RankedCache {
  std::mutex making;
  std::atomic<bool> made{false};
  std::atomic<std::size_t> rows{0};
  std::unique_ptr<const RankedForest> form;
};

std::shared_ptr<Forest::RankedCache> Forest::make_cache() {
  return std::make_shared<RankedCache>();
}

const RankedForest* Forest::ranked(std::size_t n_rows) const {
  // Ranking a row costs at most half as much per feature as a tree saves.
  if (cache_ == nullptr || n_trees() == 0) return nullptr;
  if (n_rows < kFewRows || 2 * n_trees() < used_.size()) return nullptr;
  RankedCache& cache = *cache_;
  if (cache.made.load(std::memory_order_acquire)) return cache.form.get();
  // Making costs about as much per node as ten rows save per tree; as one row, where trees are
  // large.
  const std::size_t rows = cache.rows.fetch_add(n_rows, std::memory_order_relaxed) + n_rows;
  const std::size_t nodes = n_nodes() / n_trees();
  if (rows / (nodes < 2 * RankedForest::kMaxLeaves ? 10 : 1) < nodes) return nullptr;
  const std::lock_guard<std::mutex> lock(cache.making);
  if (!cache.made.load(std::memory_order_relaxed)) {
    cache.form = make_ranked(*this);
    cache.made.store(true, std::memory_order_release);
  }
  return cache.form.get();
}

}  // namespace committee
