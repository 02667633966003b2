#include "committee/growth/tree.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/large_pages.hpp"
#include "committee/growth/median.hpp"
#include "growth/branch.hpp"
#include "growth/leafwise.hpp"
#include "growth/leaves.hpp"
#include "growth/symmetric.hpp"

namespace committee {
namespace {

constexpr std::size_t kTaskRows =
    16384;  // of a subtree that one thread grows: some hundred microseconds at least

constexpr std::size_t kNamedRows = 65536;  // of a task that sums rows by the names of their leaves

/// Exact sums of each leaf's rows. Tasks have about as many rows each, not leaves: those of a
/// boosted tree are few and large.
std::vector<__int128> fine_sums(const Grower& grower, const Stats& stats,
                                const Partition& partition, const Context& context) {
  const std::size_t width = stats.fine_width();
  std::vector<__int128> fine(grower.size() * width, 0);
  if (width == 0) return fine;
  std::vector<NodeId> leaves;
  std::vector<std::size_t> begin{0};  // of the tasks, in leaves
  std::size_t rows = 0;
  for (NodeId id = 0; id < grower.size(); ++id) {
    if (grower.node(id).left != 0) continue;
    leaves.push_back(id);
    rows += grower.node(id).rows;
    if (rows < kTaskRows) continue;
    begin.push_back(leaves.size());
    rows = 0;
  }
  if (begin.back() < leaves.size()) begin.push_back(leaves.size());
  parallel_for(begin.size() - 1, context, [&](std::size_t k, int) {
    for (std::size_t i = begin[k]; i < begin[k + 1]; ++i) {
      const GrownNode& node = grower.node(leaves[i]);
      stats.add_fine(partition.rows(node.begin, node.rows), fine.data() + leaves[i] * width);
    }
  });
  return fine;
}

/// The same for trees of few nodes whose rows know their leaves: rows are read as they lie, where
/// those of a leaf would be gathered, each from a cache line of its own.
std::vector<__int128> fine_sums(const Grower& grower, const Stats& stats, const Context& context,
                                const std::uint32_t* leaf_of) {
  const std::vector<NodeId> order = grower.level_order();
  const std::size_t n = stats.n_counted(), n_tasks = (n + kNamedRows - 1) / kNamedRows;
  const std::size_t apart = 2 * order.size();
  std::vector<std::int64_t> sums(n_tasks * Stats::kFineCopies * apart, 0);
  parallel_for(n_tasks, context, [&](std::size_t k, int) {
    stats.add_fine(k * kNamedRows, std::min(n, (k + 1) * kNamedRows), leaf_of,
                   sums.data() + k * Stats::kFineCopies * apart, apart);
  });
  std::vector<__int128> fine(grower.size() * 2, 0);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::size_t index = i % apart;
    fine[2 * std::size_t{order[index / 2]} + index % 2] += sums[i];
  }
  return fine;
}

bool few_nodes(const Grower& grower, const Stats& stats) {
  return !stats.gradient32.empty() && stats.n_outputs == 1 && 16 * grower.size() <= kNamedRows;
}

/// Grows the subtrees a branch left over, side by side; they come home in order.
void grow_tasks(const TreeData& data, Branch& trunk, const Context& context) {
  std::vector<Branch::Task>& tasks = trunk.tasks();
  std::vector<std::unique_ptr<Grower>> grown(tasks.size());
  // The largest first: the last task to end is then a short one.
  std::vector<std::size_t> order(tasks.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return trunk.grower().node(tasks[a].node).rows > trunk.grower().node(tasks[b].node).rows;
  });
  // Rows cannot be told their leaf inside a task: its nodes are numbered anew when they come home.
  TreeData own = data;
  own.ordered = data.ordered || data.node_of != nullptr;
  parallel_for(order.size(), context, [&](std::size_t k, int) {
    Branch::Task& task = tasks[order[k]];
    Branch branch(own, trunk.grower().detach(task.node), 0);
    branch.grow(std::move(task.histogram), Context{1, context.poll});
    grown[order[k]] = std::make_unique<Grower>(std::move(branch.grower()));
  });
  for (std::size_t i = 0; i < tasks.size(); ++i)
    trunk.grower().graft(tasks[i].node, std::move(*grown[i]));
}

/// What is asked of the rows besides the tree; either may be null.
struct Wanted {
  LeafRows* rows;
  std::uint32_t* leaf_of;
  Workspace* workspace = nullptr;
};

ForestArrays grow(const BinnedMatrix& matrix, const BinMapper& mapper, const Stats& stats,
                  const TreeParams& params, const Context& context, const Wanted& wanted) {
  const SplitSearch search(params, mapper, stats);
  Workspace own;
  Workspace& space = wanted.workspace == nullptr ? own : *wanted.workspace;
  Partition partition = space.take_partition(stats, context);
  Grower grower(params, search, stats, matrix.n_features);
  std::vector<std::int64_t> totals(stats.width);
  stats.total(totals.data());
  grower.start(totals, row_facts(stats, partition.rows()));
  grower.forget_wanted();
  const auto finish = [&](Grower& grown) {
    if (wanted.leaf_of != nullptr) name_leaves(grown, partition, context, wanted.leaf_of);
    ForestArrays tree = grown.finish(wanted.leaf_of != nullptr && few_nodes(grown, stats)
                                         ? fine_sums(grown, stats, context, wanted.leaf_of)
                                         : fine_sums(grown, stats, partition, context));
    if (params.growth == Growth::symmetric) Symmetric::lend_values(params, stats, tree);
    if (wanted.rows != nullptr) *wanted.rows = rows_of_leaves(grown, partition);
    if (wanted.leaf_of != nullptr)
      lead_uncounted(tree, matrix, mapper, stats, context, wanted.leaf_of);
    space.give(std::move(partition));
    return tree;
  };
  if (params.criterion == Criterion::absolute_error) {
    grow_by_medians(matrix, mapper, stats, params, grower, partition, context);
    return finish(grower);
  }
  HistogramPool& pool = space.pool(matrix.histogram_size() * stats.width);
  const bool ordered = wanted.rows != nullptr || stats.fine_width() > 0;
  const TreeData data{matrix, stats, params, partition, pool, ordered, wanted.leaf_of};
  if (params.growth == Growth::symmetric) {
    Symmetric symmetric(data, mapper, search, std::move(grower));
    symmetric.grow(context);
    return finish(symmetric.grower());
  }
  if (params.growth == Growth::best_first && !matrix.few_drawn(params.node_features)) {
    Leafwise leafwise(data, std::move(grower));
    leafwise.grow(context);
    return finish(leafwise.grower());
  }
  const bool share = context.n_threads > 1 && params.growth == Growth::depth_first;
  Branch trunk(data, std::move(grower), share ? kTaskRows : 0);
  trunk.grow({}, context);
  grow_tasks(data, trunk, context);
  return finish(trunk.grower());
}

/// With the checks, and the order of growth that a bound on leaves asks for.
ForestArrays grow_checked(const BinnedMatrix& matrix, const BinMapper& mapper, const Stats& stats,
                          const TreeParams& params, const Context& context, const Wanted& wanted) {
  check_growth(matrix, mapper, stats, params);
  if (params.growth == Growth::depth_first && params.max_leaves < matrix.n_rows) {
    TreeParams bounded =
        params;  // which leaves are left when the bound is met must not depend on the order
    bounded.growth = Growth::best_first;
    return grow(matrix, mapper, stats, bounded, context, wanted);
  }
  return grow(matrix, mapper, stats, params, context, wanted);
}

}  // namespace

Partition Workspace::take_partition(const Stats& stats, const Context& context) {
  const std::size_t n = stats.n_counted();
  resize_on_large_pages(rows_, n, context);
  if (stats.counts_all()) {
    constexpr std::size_t kChunk = 65536;
    parallel_for((n + kChunk - 1) / kChunk, context, [&](std::size_t k, int) {
      const std::size_t first = k * kChunk, last = std::min(n, first + kChunk);
      for (std::size_t r = first; r < last; ++r) rows_[r] = static_cast<RowId>(r);
    });
  } else {
    rows_ = stats.counted_rows();
  }
  if (n_spare_ < n) {
    spare_ = std::make_unique_for_overwrite<RowId[]>(n);
    n_spare_ = n;
  }
  return {std::move(rows_), std::move(spare_)};
}

void Workspace::give(Partition&& partition) { std::tie(rows_, spare_) = partition.release(); }

HistogramPool& Workspace::pool(std::size_t size) {
  if (pool_ == nullptr || pool_size_ != size) pool_ = std::make_unique<HistogramPool>(size);
  pool_size_ = size;
  return *pool_;
}

void check_growth(const BinnedMatrix& matrix, const BinMapper& mapper, const Stats& stats,
                  const TreeParams& params) {
  const auto require = [](bool holds, const char* sentence) {
    if (!holds) throw std::invalid_argument(sentence);
  };
  const bool absolute = params.criterion == Criterion::absolute_error;
  const SumKind kind = for_classes(params.criterion)           ? SumKind::classes
                       : params.criterion == Criterion::newton ? SumKind::newton
                                                               : SumKind::regression;
  require(matrix.n_features == mapper.n_features(), "matrix and bin mapper differ in features");
  require(matrix.n_rows == stats.n_rows, "matrix and statistics differ in rows");
  require(std::isfinite(params.l2) && params.l2 >= 0, "l2 must be finite and >= 0");
  require(std::isfinite(params.l1) && params.l1 >= 0, "l1 must be finite and >= 0");
  require(std::isfinite(params.least_hessian) && params.least_hessian >= 0,
          "least_hessian must be finite and >= 0");
  require(params.max_value.empty() || params.max_value.size() == stats.n_outputs,
          "max_value needs one number per output");
  for (const double most : params.max_value) require(most > 0, "max_value must be above 0");
  require(kind == stats.kind, "the criterion does not fit the kind of statistics");
  require(!absolute || stats.n_outputs == 1,
          "absolute_error takes one output: a median of vectors is not defined");
  require(params.monotone.empty() || params.monotone.size() == matrix.n_features,
          "monotone needs one sign per feature");
  require(params.monotone.empty() || stats.n_sums == 2,
          "monotone constraints need one output and at most two classes");
  for (const auto& group : params.interactions) {
    for (const std::uint32_t f : group) {
      require(f < matrix.n_features, "an interaction group names a feature out of range");
    }
  }
  require(params.rule == SplitRule::best || params.min_rows_leaf <= 1 || stats.counts_rows() ||
              stats.gradient32.empty(),
          "drawn cuts of boosting need min_rows_leaf = 1: rows are not counted there");
  require(params.min_rows_leaf <= 1 || absolute || stats.counts_rows() || stats.most_hessian() > 0,
          "min_rows_leaf needs counted statistics");
  if (params.growth == Growth::symmetric) check_symmetric(stats, params);
}

RowFacts row_facts(const Stats& stats, std::span<const RowId> rows) {
  RowFacts facts{rows.size(), false, rows.empty() ? 0 : rows[0]};
  if (stats.kind != SumKind::regression) return facts;
  const std::size_t m = stats.n_outputs;
  const auto same = [&](RowId r) {
    return std::equal(stats.y.begin() + static_cast<std::ptrdiff_t>(r * m),
                      stats.y.begin() + static_cast<std::ptrdiff_t>((r + 1) * m),
                      stats.y.begin() + static_cast<std::ptrdiff_t>(rows[0] * m));
  };
  facts.constant_target = std::all_of(rows.begin(), rows.end(), same);
  return facts;
}

ForestArrays grow_tree(const BinnedMatrix& matrix, const BinMapper& mapper, const Stats& stats,
                       const TreeParams& params, const Context& context, LeafRows* leaf_rows) {
  return grow_checked(matrix, mapper, stats, params, context, {leaf_rows, nullptr});
}

ForestArrays grow_tree_with_leaves(const BinnedMatrix& matrix, const BinMapper& mapper,
                                   const Stats& stats, const TreeParams& params,
                                   const Context& context, std::span<std::uint32_t> leaf_of,
                                   Workspace* workspace) {
  if (leaf_of.size() != matrix.n_rows)
    throw std::invalid_argument("leaf_of needs one entry per row");
  return grow_checked(matrix, mapper, stats, params, context, {nullptr, leaf_of.data(), workspace});
}

}  // namespace committee
