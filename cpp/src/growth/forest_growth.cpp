#include "committee/growth/forest_growth.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <optional>

#include "committee/forest/pack.hpp"

namespace committee {
namespace {

/// Divides the weight of every class by its share of the bag, output after output, so that the
/// classes that occur weigh alike.
void balance(const Target& target, std::span<double> weight) {
  const std::size_t m = target.n_outputs;
  std::vector<double> factor(weight.size(), 1.0);
  for (std::size_t j = 0; j < m; ++j) {
    std::vector<double> sum(target.n_classes[j], 0.0);
    for (std::size_t r = 0; r < weight.size(); ++r) sum[target.codes[r * m + j]] += weight[r];
    const double total = std::accumulate(sum.begin(), sum.end(), 0.0);
    const auto present =
        static_cast<double>(std::count_if(sum.begin(), sum.end(), [](double s) { return s > 0; }));
    for (std::size_t r = 0; r < weight.size(); ++r) {
      if (weight[r] > 0) factor[r] *= total / (present * sum[target.codes[r * m + j]]);
    }
  }
  for (std::size_t r = 0; r < weight.size(); ++r) weight[r] *= factor[r];
}

struct Grown {
  ForestArrays tree;
  std::vector<double> importance;
};

/// Shares of the score that each feature's splits gained.
std::vector<double> importance_of(const ForestArrays& tree) {
  std::vector<double> sums(tree.n_features, 0.0);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    if (tree.nodes[i].left != i) sums[tree.nodes[i].feature & kFeatureMask] += tree.gain[i];
  }
  const double total = std::accumulate(sums.begin(), sums.end(), 0.0);
  if (total > 0) {
    for (double& s : sums) s /= total;
  }
  return sums;
}

class ForestGrower {
 public:
  ForestGrower(const BinnedMatrix& matrix, const BinMapper& mapper, const Target& target,
               const Bags& bags, const TreeParams& params)
      : matrix_(matrix), mapper_(mapper), target_(target), bags_(bags), params_(params) {}

  Grown member(std::uint64_t number, const Context& context) const {
    std::optional<Seen> own;
    if (!bags_.all_alike()) own = see(number);
    const Seen& seen = own ? *own : seen_by_all();
    TreeParams params = params_;
    params.seed = mix(params_.seed, number);
    params.described = false;
    params.min_weight_leaf *= seen.total;
    if (std::isfinite(params.min_gain)) params.min_gain *= seen.total;
    Grown grown{grow_tree(matrix_, mapper_, seen.stats, params, context), {}};
    grown.importance = importance_of(grown.tree);
    grown.tree.gain = {};
    roll_up(grown.tree);
    return grown;
  }

 private:
  /// The rows as a member sees them.
  struct Seen {
    double total;  // of their weights
    std::vector<double> weight;
    Stats stats;
  };

  Seen see(std::uint64_t number) const {
    std::vector<double> weight(matrix_.n_rows);
    bags_.draw(number, weight);
    if (target_.balanced) balance(target_, weight);
    for (std::size_t r = 0; r < target_.factor.size(); ++r) weight[r] *= target_.factor[r];
    const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
    const bool plain = std::all_of(weight.begin(), weight.end(), [](double w) { return w == 1; });
    if (plain) weight.clear();
    Stats stats = stats_of(weight);
    return {total, std::move(weight), std::move(stats)};
  }
  const Seen& seen_by_all() const {
    std::call_once(seen_made_, [&] { seen_ = see(0); });
    return *seen_;
  }
  Stats stats_of(std::span<const double> weight) const {
    const bool counted = params_.min_rows_leaf > 1;
    if (target_.kind == SumKind::classes)
      return Stats::classes(target_.codes, target_.n_classes, weight, counted);
    return Stats::regression(target_.y, target_.n_outputs, weight, target_.centred, counted);
  }

  const BinnedMatrix& matrix_;
  const BinMapper& mapper_;
  const Target& target_;
  const Bags& bags_;
  const TreeParams& params_;
  mutable std::once_flag seen_made_;
  mutable std::optional<Seen> seen_;
};

template <class T>
void append(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
  from = {};
}

/// Lays trees end to end while others still grow: each is appended, and freed, once all before it
/// are there.
class Joiner {
 public:
  Joiner(std::size_t n_members, std::size_t n_features)
      : members_(n_members), ready_(n_members, 0) {
    forest_.arrays.n_features = n_features;
  }

  /// From any thread; one of them appends, the others go on.
  void add(std::size_t i, Grown grown) {
    std::unique_lock lock(mutex_);
    members_[i] = std::move(grown);
    ready_[i] = 1;
    while (!appending_ && next_ < members_.size() && ready_[next_] != 0) {
      Grown member = std::move(members_[next_]);
      appending_ = true;
      lock.unlock();
      append_member(member);
      lock.lock();
      ++next_;
      appending_ = false;
    }
  }

  GrownForest take() { return std::move(forest_); }

 private:
  void append_member(Grown& member) {
    ForestArrays& a = forest_.arrays;
    ForestArrays& tree = member.tree;
    if (next_ == 0) reserve(tree);
    const auto n_sets = static_cast<double>(a.set_begin.size() - 1);
    for (Node& node : tree.nodes) {
      if ((node.feature & kCategorical) != 0) node.threshold += n_sets;
    }
    append(a.nodes, tree.nodes);
    append(a.values, tree.values);
    append(a.weight, tree.weight);
    a.tree_begin.push_back(a.nodes.size());
    for (std::size_t s = 1; s < tree.set_begin.size(); ++s)
      a.set_begin.push_back(a.set_words.size() + tree.set_begin[s]);
    append(a.set_words, tree.set_words);
    append(forest_.importances, member.importance);
  }

  /// For all trees, if they are like the first; room that is not used is never touched.
  void reserve(const ForestArrays& first) {
    ForestArrays& a = forest_.arrays;
    a.n_outputs = first.n_outputs;
    const std::size_t n_nodes = first.nodes.size() * members_.size() * 9 / 8;
    a.nodes.reserve(n_nodes);
    a.values.reserve(n_nodes * a.n_outputs);
    a.weight.reserve(n_nodes);
  }

  std::mutex mutex_;  // of all but the forest, which belongs to whoever appends
  std::vector<Grown> members_;
  std::vector<std::uint8_t> ready_;
  std::size_t next_ = 0;  // the member to append
  bool appending_ = false;
  GrownForest forest_;
};

void check_target(const Target& target, std::size_t n_rows) {
  const auto require = [](bool holds, const char* sentence) {
    if (!holds) throw std::invalid_argument(sentence);
  };
  require(target.kind == SumKind::classes || target.kind == SumKind::regression,
          "the target of a forest is classes or numbers");
  const std::size_t size = target.kind == SumKind::classes ? target.codes.size() : target.y.size();
  require(target.n_outputs > 0 && size == n_rows * target.n_outputs,
          "matrix and target differ in rows");
  require(target.factor.empty() || target.factor.size() == n_rows,
          "factor needs one value for each row");
  require(!target.balanced || target.kind == SumKind::classes, "only classes can be balanced");
}

}  // namespace

GrownForest grow_forest(const BinnedMatrix& matrix, const BinMapper& mapper, const Target& target,
                        const Bags& bags, const TreeParams& params, std::size_t begin,
                        std::size_t end, const Context& context) {
  check_target(target, matrix.n_rows);
  if (bags.n_rows() != matrix.n_rows) throw std::invalid_argument("matrix and bags differ in rows");
  if (begin > end) throw std::invalid_argument("begin must not exceed end");
  const ForestGrower grower(matrix, mapper, target, bags, params);
  const std::size_t n = end - begin, threads = static_cast<std::size_t>(context.n_threads);
  // As many whole rounds of the threads as there are; the rest shares them.
  const std::size_t n_apart = threads > 1 ? n - n % threads : n;
  Joiner joiner(n, matrix.n_features);
  parallel_for(n_apart, context, [&](std::size_t i, int) {
    joiner.add(i, grower.member(begin + i, Context{1, context.poll}));
  });
  for (std::size_t i = n_apart; i < n; ++i) joiner.add(i, grower.member(begin + i, context));
  return joiner.take();
}

}  // namespace committee
