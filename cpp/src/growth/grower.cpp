#include "committee/growth/grower.hpp"

#include <algorithm>

namespace committee {

/// Below a node only groups that hold every feature of its path stay open; candidates are their
/// union.
struct Grower::FeatureGroups {
  std::vector<std::uint8_t> open;
  std::vector<std::uint32_t> features;
};

namespace {

constexpr std::size_t kFewLeaves = 16;               // that a node of few rows could have at most
constexpr std::size_t kRoom = std::size_t{1} << 19;  // nodes that are made room for at once

}  // namespace

Grower::Grower(const TreeParams& params, const SplitSearch& search, const Stats& stats,
               std::size_t n_features)
    : params_(params),
      search_(search),
      stats_(stats),
      n_features_(n_features),
      columns_(params, n_features),
      retired_words_(params.retire ? (n_features + 63) / 64 : 0) {}

void Grower::start(std::span<const std::int64_t> totals, RowFacts facts) {
  GrownNode root;
  root.key = mix(params_.seed);
  root.rows = facts.rows;
  // Room for a full tree: untouched pages cost little, moving nodes as they grow in number does.
  std::size_t room = std::min(2 * std::min(facts.rows, params_.max_leaves), kRoom);
  if (params_.max_depth < 16) room = std::min(room, std::size_t{2} << params_.max_depth);
  nodes_.reserve(room);
  if (stats_.width <= 2) raw_.reserve(room * stats_.width);
  nodes_.push_back(root);
  if (ranged()) ranges_.resize(1);
  raw_.assign(totals.begin(), totals.end());
  retired_.assign(retired_words_, 0);
  columns_.reach(0);
  if (!params_.interactions.empty()) {
    auto groups = std::make_shared<FeatureGroups>();
    groups->open.assign(params_.interactions.size(), 1);
    for (const std::uint32_t f : columns_.of_level(0)) {
      for (const auto& group : params_.interactions) {
        if (std::find(group.begin(), group.end(), f) == group.end()) continue;
        groups->features.push_back(f);
        break;
      }
    }
    groups_.push_back(std::move(groups));
  }
  describe(0, facts);
}

bool Grower::may_split(const GrownNode& node, std::span<const std::int64_t> sums,
                       RowFacts facts) const {
  if (node.bound >= 0) return true;
  if (node.depth >= params_.max_depth || facts.rows < params_.min_rows_split || facts.rows < 2)
    return false;
  if (facts.rows < 2 * params_.min_rows_leaf || facts.constant_target) return false;
  double few[8];
  std::vector<double> many(stats_.n_sums > std::size(few) ? stats_.n_sums : 0);
  double* const decoded = many.empty() ? few : many.data();
  stats_.decode(sums.data(), decoded);
  if (stats_.weight_of(decoded) * stats_.weight_scale() < 2 * params_.min_weight_leaf * kRounded)
    return false;
  if (stats_.kind != SumKind::classes) return true;
  // Pure when every output has one class left.
  const double* s = decoded;
  for (const std::uint32_t k : stats_.n_classes) {
    if (std::count_if(s, s + k, [](double w) { return w > 0; }) > 1) return true;
    s += k;
  }
  return false;
}

void Grower::describe(NodeId child, RowFacts facts) {
  GrownNode& node = nodes_[child];
  node.rows = facts.rows;
  node.constant = facts.constant_target;
  node.row = facts.row;
  node.open = may_split(node, sums(child), facts);
  if (node.open) wanted_.push_back(child);
}

std::vector<NodeId> Grower::wanted() {
  std::vector<NodeId> nodes = std::move(wanted_);
  wanted_.clear();
  return nodes;
}

std::span<const std::uint32_t> Grower::candidates(NodeId id) const {
  if (groups_.empty()) return columns_.of_level(nodes_[id].depth);
  return groups_[id]->features;
}

/// Whether both sides have enough rows, where their sums do not count them. A row's hessian is at
/// most the largest, which tells most sides; the rest are counted.
bool Grower::admits(const GrownNode& node, const Split& split, const NodeRows* rows) const {
  const std::size_t least = params_.min_rows_leaf;
  if (least <= 1 || stats_.counts_rows() || rows == nullptr) return true;
  std::vector<double> sums(stats_.n_sums);
  const double sure = static_cast<double>(least) * stats_.most_hessian();
  const auto certain = [&](const SideSums& side) {
    stats_.decode(side.data(), sums.data());
    return stats_.weight_of(sums.data()) >= sure;
  };
  if (certain(split.left) && certain(split.right)) return true;
  const std::size_t n = rows->n_left(split);
  return n >= least && node.rows - n >= least;
}

bool Grower::find(NodeId id, const ProfileSource& profiles, const Context& context, Split& split,
                  const NodeRows* rows, double floor) {
  const GrownNode& node = nodes_[id];
  const NodeRange range = ranges_.empty() ? NodeRange{} : ranges_[id];
  NodeSums about{sums(id),  range.lower,     range.upper,   node.key,
                 node.rows, node.bound >= 0, candidates(id)};
  const auto bound = static_cast<std::uint32_t>(node.bound);
  if (about.chained) about.features = {&bound, 1};
  about.retired = {retired_.data() + id * retired_words_, retired_words_};
  if (params_.criterion == Criterion::newton) about.floor = floor;
  // Of few rows the best cut likely leaves too few on one side: these are counted beforehand.
  const bool asked = params_.min_rows_leaf > 1 && !stats_.counts_rows() && rows != nullptr;
  const bool few = node.rows < kFewLeaves * params_.min_rows_leaf;
  if (!asked || !few) {
    if (!search_.best(about, profiles, context, split)) return false;
    if (about.chained || admits(node, split, rows)) return true;
  }
  thread_local BinCounts counts;
  rows->count(counts);
  about.counts = &counts;
  return search_.best(about, profiles, context, split);
}

void Grower::feed(NodeId node, const ProfileSource& profiles, const Context& context,
                  const NodeRows* rows) {
  Split split;
  if (!find(node, profiles, context, split, rows)) return;
  if (params_.growth != Growth::best_first) {
    pending_.push_back({node, std::move(split)});
    return;
  }
  ranked_.insert({node, std::move(split)});
  // A split adds one leaf, so the last of too many can never be reached: those that come only add
  // to the ones before it.
  while (ranked_.size() > params_.max_leaves - n_leaves_) {
    given_up_.push_back(std::prev(ranked_.end())->node);
    ranked_.erase(std::prev(ranked_.end()));
  }
}

std::vector<NodeId> Grower::given_up() {
  std::vector<NodeId> nodes = std::move(given_up_);
  given_up_.clear();
  return nodes;
}

/// Depth-first takes the most recent, of two siblings the smaller; level by level takes all.
std::vector<NodeId> Grower::splits() {
  emitted_.clear();
  if (params_.growth == Growth::level) {
    emitted_ = std::move(pending_);
    pending_.clear();
    std::sort(emitted_.begin(), emitted_.end(),
              [](const Pending& a, const Pending& b) { return a.node < b.node; });
  } else if (!ranked_.empty()) {
    emitted_.push_back(std::move(ranked_.extract(ranked_.begin()).value()));
  } else if (!pending_.empty()) {
    const auto last = pending_.end() - 1;
    if (pending_.size() > 1 && (last - 1)->node + 1 == last->node &&
        nodes_[(last - 1)->node].rows < nodes_[last->node].rows) {
      std::swap(*(last - 1), *last);
    }
    emitted_.push_back(std::move(pending_.back()));
    pending_.pop_back();
  }
  std::vector<NodeId> nodes;
  for (const Pending& p : emitted_) {
    if (n_leaves_ >= params_.max_leaves) break;
    apply(p.node, p.split);
    nodes.push_back(p.node);
  }
  return nodes;
}

const Split& Grower::pending(NodeId id) const {
  const auto at = std::lower_bound(emitted_.begin(), emitted_.end(), id,
                                   [](const Pending& p, NodeId node) { return p.node < node; });
  if (at != emitted_.end() && at->node == id) return at->split;
  throw std::invalid_argument("node " + std::to_string(id) + " is not being split");
}

/// A split on a constrained feature puts the middle of the children's values between them.
void Grower::bound_children(NodeId parent, const Split& split) {
  const NodeRange above{ranges_[parent].lower, ranges_[parent].upper};
  ranges_.insert(ranges_.end(), 2, above);
  NodeRange &left = ranges_.end()[-2], &right = ranges_.back();
  const int sign = params_.monotone.empty() ? 0 : params_.monotone[split.feature];
  if (sign == 0) return;
  double middle = split.middle;
  if (params_.criterion != Criterion::absolute_error) {
    double l[2], r[2];
    stats_.decode(split.left.data(), l);
    stats_.decode(split.right.data(), r);
    middle = search_.pair_value(l[0], l[1]) / 2 + search_.pair_value(r[0], r[1]) / 2;
  }
  (sign > 0 ? left.upper : right.upper) = middle;
  (sign > 0 ? right.lower : left.lower) = middle;
}

/// Room for two more nodes, in which the features of their parent stay retired.
void Grower::retire_children(NodeId parent) {
  const std::size_t n = retired_.size();
  retired_.resize(n + 2 * retired_words_);
  const std::uint64_t* const above = retired_.data() + parent * retired_words_;
  for (std::size_t k = 0; k < 2 * retired_words_; ++k) retired_[n + k] = above[k % retired_words_];
}

/// Groups that a split on `feature` leaves open below it.
void Grower::group_children(NodeId parent, std::uint32_t feature) {
  auto groups = std::make_shared<FeatureGroups>(*groups_[parent]);
  groups->features.clear();
  for (const std::uint32_t f : columns_.of_level(nodes_[parent].depth + 1)) {
    bool candidate = false;
    for (std::size_t g = 0; g < groups->open.size(); ++g) {
      const auto& group = params_.interactions[g];
      const auto holds = [&](std::uint32_t x) {
        return std::find(group.begin(), group.end(), x) != group.end();
      };
      groups->open[g] = groups->open[g] && holds(feature);
      candidate = candidate || (groups->open[g] && holds(f));
    }
    if (candidate) groups->features.push_back(f);
  }
  groups_.push_back(groups);
  groups_.push_back(groups);
}

NodeId Grower::apply(NodeId id, const Split& split) {
  if (nodes_.size() + 2 > std::numeric_limits<NodeId>::max())
    throw std::length_error("a tree has too many nodes");
  const auto child = static_cast<NodeId>(nodes_.size());
  GrownNode left, right;
  GrownNode& parent = nodes_[id];
  parent.left = child;
  parent.feature = split.feature;
  parent.threshold = split.threshold;
  parent.missing_left = split.missing_left;
  parent.gain = split.gain;
  if (split.categorical) {
    parent.set = static_cast<std::int32_t>(sets_.size());
    sets_.push_back(split.levels);
  }
  // A multiway split is one level deep, however many nodes take it apart.
  left.depth = right.depth = parent.depth + 1;
  if (split.chained) {
    right.bound = static_cast<std::int32_t>(split.feature);
    right.depth = parent.depth;
  }
  left.key = mix(parent.key, 0);
  right.key = mix(parent.key, 1);
  if (!ranges_.empty()) bound_children(id, split);
  nodes_.push_back(left);
  nodes_.push_back(right);
  raw_.insert(raw_.end(), split.left.begin(), split.left.end());
  raw_.insert(raw_.end(), split.right.begin(), split.right.end());
  retire_children(id);
  columns_.reach(left.depth);
  if (!groups_.empty()) group_children(id, split.feature);
  ++n_leaves_;
  return child;
}

void Grower::cut(NodeId id) {
  GrownNode& node = nodes_[id];
  for (const NodeId child : {node.left, node.left + 1}) nodes_[child].rows = 0;
  node.left = 0;
  node.gain = 0;
  node.set = -1;
}

Grower Grower::detach(NodeId id) const {
  Grower branch(params_, search_, stats_, n_features_);
  branch.nodes_.push_back(nodes_[id]);
  branch.columns_.reach(nodes_[id].depth);
  if (!ranges_.empty()) branch.ranges_.push_back(ranges_[id]);
  const auto raw = sums(id);
  branch.raw_.assign(raw.begin(), raw.end());
  if (!groups_.empty()) branch.groups_.push_back(groups_[id]);
  const auto retired = retired_.begin() + static_cast<std::ptrdiff_t>(id * retired_words_);
  branch.retired_.assign(retired, retired + static_cast<std::ptrdiff_t>(retired_words_));
  return branch;
}

void Grower::graft(NodeId id, Grower&& branch) {
  const std::size_t shift = nodes_.size() - 1;  // node 0 of the branch takes the place of id
  const auto set_shift = static_cast<std::int32_t>(sets_.size());
  for (GrownNode& node : branch.nodes_) {
    if (node.left != 0) node.left += static_cast<NodeId>(shift);
    if (node.set >= 0) node.set += set_shift;
  }
  nodes_[id] = branch.nodes_[0];
  nodes_.insert(nodes_.end(), branch.nodes_.begin() + 1, branch.nodes_.end());
  if (!ranges_.empty())
    ranges_.insert(ranges_.end(), branch.ranges_.begin() + 1, branch.ranges_.end());
  raw_.insert(raw_.end(), branch.raw_.begin() + static_cast<std::ptrdiff_t>(stats_.width),
              branch.raw_.end());
  std::move(branch.sets_.begin(), branch.sets_.end(), std::back_inserter(sets_));
  if (!groups_.empty())
    groups_.insert(groups_.end(), branch.groups_.begin() + 1, branch.groups_.end());
  const auto retired = branch.retired_.begin() + static_cast<std::ptrdiff_t>(retired_words_);
  retired_.insert(retired_.end(), retired, branch.retired_.end());
  n_leaves_ += branch.n_leaves_ - 1;
}

}  // namespace committee
