#include "growth/symmetric.hpp"

#include <algorithm>

#include "committee/growth/tree.hpp"

namespace committee {
namespace {

constexpr std::size_t kSharedRows = 32768;  // of a node that all threads split
constexpr std::size_t kAloneRows = 8192;    // of nodes that one thread splits sooner
constexpr std::size_t kHistogramBytes = std::size_t{1} << 29;  // of all nodes of a level

/// Below so many rows a node keeps no histogram: all that do fit the memory for it.
std::size_t rows_without_sums(const BinnedMatrix& matrix, const Stats& stats) {
  const std::size_t room =
      std::max<std::size_t>(1, kHistogramBytes / (matrix.histogram_size() * stats.width * 8));
  const std::size_t crowded = stats.n_counted() / room;
  // The codes of a sparse row must be looked for: sums are cheaper as long as there is room.
  if (matrix.layout == Layout::sparse) return crowded;
  return std::max(crowded, block_rows(matrix, stats, false));
}

}  // namespace

void check_symmetric(const Stats& stats, const TreeParams& params) {
  const auto require = [](bool holds, const char* sentence) {
    if (!holds) throw std::invalid_argument(sentence);
  };
  require(params.criterion == Criterion::newton && stats.packed_histogram(),
          "symmetric trees are grown on gradients, two sums in one word");
  require(params.rule == SplitRule::best && params.described && !params.in_parts,
          "symmetric trees take the best cut of whole rows");
  require(params.monotone.empty(), "symmetric trees take no monotone constraints");
  require(params.max_depth <= kMaxSymmetricDepth, "symmetric trees are at most 16 levels deep");
}

Symmetric::Symmetric(const TreeData& data, const BinMapper& mapper, const SplitSearch& search,
                     Grower grower)
    : data_(data),
      mapper_(mapper),
      search_(search),
      grower_(std::move(grower)),
      small_rows_(rows_without_sums(data.matrix, data.stats)) {}

Histogram Symmetric::sum_rows(NodeId id, const Context& context) {
  const GrownNode& node = grower_.node(id);
  Histogram sums = data_.pool.take();
  accumulate(data_.matrix, data_.stats, data_.partition.rows(node.begin, node.rows), sums,
             data_.pool, context);
  fill_zero_bins(data_.matrix, grower_.sums(id), sums);
  return sums;
}

/// Hessian that a side of the node must have. Where sums do not count rows, its share of the
/// hessian tells that of the rows; leaves are counted at the end.
double Symmetric::least(NodeId id, double weight) const {
  const TreeParams& p = data_.params;
  const double least = p.min_weight_leaf / data_.stats.weight_scale() * kRounded;
  if (p.min_rows_leaf <= 1) return least;
  const auto rows = static_cast<double>(p.min_rows_leaf);
  const bool counted = data_.stats.counts_rows();
  return std::max(least,
                  counted ? rows : rows / static_cast<double>(grower_.node(id).rows) * weight);
}

LevelNode Symmetric::seen(NodeId id) const {
  const GrownNode& node = grower_.node(id);
  LevelNode out;
  if (!histograms_[id].empty()) out.sums = histograms_[id].data();
  out.rows = data_.partition.rows(node.begin, node.rows);
  data_.stats.decode(grower_.sums(id).data(), out.total);
  out.score = search_.plain_parent(node_score(Criterion::newton, search_.shape(), out.total));
  out.least = least(id, out.total[1]);
  const Stats& stats = data_.stats;
  if (data_.params.l1 == 0 && stats.small_sums() && out.least > 0) {
    out.newton.emplace(grower_.sums(id)[0], stats.shift, stats.unit(0), stats.unit(1),
                       data_.params.l2, out.least);
  }
  return out;
}

/// f(node, context): large nodes one after the other on all threads, the rest side by side.
template <class F>
void Symmetric::for_level(const Context& context, F f) {
  std::vector<NodeId> rest;
  std::size_t n_rows = 0;  // of the rest
  for (const NodeId id : level_) {
    if (grower_.node(id).rows >= kSharedRows) {
      f(id, context);
    } else {
      rest.push_back(id);
      n_rows += grower_.node(id).rows;
    }
  }
  const Context one{1, context.poll};
  parallel_for(rest.size(), n_rows < kAloneRows ? one : context,
               [&](std::size_t k, int) { f(rest[k], one); });
}

/// Parts the rows of a node whose children exist; returns how many went left.
std::size_t Symmetric::divide(NodeId id, const Split& split, const Context& context) {
  const GrownNode& node = grower_.node(id);
  return data_.partition.divide(node.begin, node.rows, data_.matrix, split, context);
}

/// The sums of a node's children, and what parting them gained, if both are large enough.
void Symmetric::sum_sides(NodeId id, const Split& split, std::size_t n_left) {
  const GrownNode& node = grower_.node(id);
  std::int64_t left = 0;
  if (!histograms_[id].empty()) {
    const std::int64_t* cells = histograms_[id].data() + data_.matrix.column_offset[split.feature];
    const std::uint32_t missing = data_.matrix.n_bins[split.feature];
    for (std::uint32_t code = 0; code <= missing; ++code) {
      if (split.goes_left(code, missing)) left += cells[code];
    }
  } else {
    data_.stats.with_words([&](auto word) {
      for (const RowId r : data_.partition.rows(node.begin, n_left)) left += word(r);
    });
  }
  const std::int64_t all = grower_.sums(id)[0], right = all - left;
  grower_.sums(node.left)[0] = left;
  grower_.sums(node.left + 1)[0] = right;
  double total[2], l[2], r[2];
  data_.stats.decode(&all, total);
  data_.stats.decode(&left, l);
  data_.stats.decode(&right, r);
  const double enough = least(id, total[1]);
  double parted = 0;
  search_.score_plain(&l[0], &l[1], 1, total, &parted);
  const double whole = search_.plain_parent(node_score(Criterion::newton, search_.shape(), total));
  const bool counts = node.open && l[1] >= enough && r[1] >= enough;
  grower_.node(id).gain = counts ? parted - whole : 0.0;
}

/// The smaller child is summed, the larger is what remains of the parent.
void Symmetric::open_children(NodeId id, const Context& context) {
  Histogram above = std::move(histograms_[id]);
  const NodeId left = grower_.node(id).left;
  const NodeId fewer = left + (grower_.node(left + 1).rows < grower_.node(left).rows ? 1 : 0);
  const NodeId more = fewer == left ? left + 1 : left;
  if (!above.empty() && (summed(left) || summed(left + 1))) {
    Histogram sums = sum_rows(fewer, context);
    if (summed(more)) {
      subtract(above, sums);
      histograms_[more] = std::move(above);
    }
    if (summed(fewer)) {
      histograms_[fewer] = std::move(sums);
    } else {
      data_.pool.give(std::move(sums));
    }
  }
  data_.pool.give(std::move(above));
}

void Symmetric::split_level(const Split& split, const Context& context) {
  for (const NodeId id : level_) grower_.apply(id, split);
  histograms_.resize(grower_.size());
  std::vector<std::size_t> n_left(grower_.size());
  for_level(context, [&](NodeId id, const Context& own) {
    n_left[id] = divide(id, split, own);
    sum_sides(id, split, n_left[id]);
  });
  std::vector<NodeId> next;
  for (const NodeId id : level_) {
    const GrownNode node = grower_.node(id);
    const std::size_t n[2] = {n_left[id], node.rows - n_left[id]};
    for (NodeId side = 0; side < 2; ++side) {
      const NodeId child = node.left + side;
      grower_.node(child).begin = static_cast<RowId>(node.begin + (side == 0 ? 0 : n[0]));
      const auto rows = data_.partition.rows(grower_.node(child).begin, n[side]);
      grower_.describe(child, row_facts(data_.stats, rows));
      next.push_back(child);
    }
  }
  grower_.wanted();
  for_level(context, [&](NodeId id, const Context& own) { open_children(id, own); });
  level_ = std::move(next);
}

void Symmetric::grow(const Context& context) {
  if (!grower_.node(0).open) return;
  level_ = {0};
  histograms_.resize(1);
  Histogram root = sum_rows(0, context);
  const LevelSearch search(data_.params, data_.matrix, mapper_, data_.stats, search_, root);
  if (summed(0)) {
    histograms_[0] = std::move(root);
  } else {
    data_.pool.give(std::move(root));
  }
  Split split;
  while (2 * level_.size() <= data_.params.max_leaves) {
    std::vector<LevelNode> nodes;
    for (const NodeId id : level_) {
      if (grower_.node(id).open) nodes.push_back(seen(id));
    }
    const NodeId first = level_.front();  // all nodes of a level have asked the same features
    const bool found = !nodes.empty() && search.best(nodes, grower_.candidates(first),
                                                     grower_.node(first).key, context, split);
    if (!found) break;
    split.left.assign(1, 0);
    split.right.assign(1, 0);
    split_level(split, context);
    check_interrupt(context);
  }
  for (Histogram& sums : histograms_) data_.pool.give(std::move(sums));
}

void Symmetric::lend_values(const TreeParams& params, const Stats& stats, ForestArrays& tree) {
  const std::uint64_t rows = std::max<std::size_t>(1, params.min_rows_leaf);
  const double weight = params.min_weight_leaf / stats.weight_scale() * kRounded;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const std::size_t left = tree.nodes[i].left;
    if (left == i) continue;
    for (const std::size_t child : {left, left + 1}) {
      if (tree.count[child] < rows || tree.weight[child] < weight) {
        tree.values[child] = tree.values[i];
      }
    }
  }
}

}  // namespace committee
