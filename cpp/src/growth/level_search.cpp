#include "growth/level_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bins/column_codes.hpp"
#include "committee/base/clones.hpp"

namespace committee {
namespace {

constexpr std::size_t kSharedCells = 16384;  // to score before a second thread is worth waking

constexpr std::size_t kStrands = 16;  // of numbers that are looked at together

/// Of n numbers, or 0. In strands: a maximum waits for the one before it.
COMMITTEE_CLONES
double largest(const double* numbers, std::size_t n) {
  double top[kStrands] = {};
  std::size_t i = 0;
  for (; i + kStrands <= n; i += kStrands) {
    for (std::size_t k = 0; k < kStrands; ++k)
      top[k] = numbers[i + k] > top[k] ? numbers[i + k] : top[k];
  }
  for (; i < n; ++i) top[0] = std::max(top[0], numbers[i]);
  return *std::max_element(top, top + kStrands);
}

/// Raises `most` to x, unless another thread has raised it further.
void raise(std::atomic<double>& most, double x) {
  double known = most.load(std::memory_order_relaxed);
  while (x > known && !most.compare_exchange_weak(known, x, std::memory_order_relaxed)) {
  }
}

}  // namespace

struct LevelSearch::Cuts {
  Profile profile;                   // of the root: the bins that occur
  std::vector<std::uint32_t> order;  // positions in it, in the order of the cuts
  std::vector<std::uint32_t> bin;    // of each
  std::size_t n() const { return profile.n; }
  /// The last cut parts all that is there from what is missing.
  std::size_t end() const { return profile.has_missing ? profile.n : profile.n - 1; }
};

struct LevelSearch::Scratch {
  Cuts cuts;
  std::uint32_t missing = 0;        // the code of missing rows
  std::vector<std::int64_t> cells;  // of a small node
  std::vector<double> a, b, score;  // of one node: sums left of each cut, and what they are worth
  std::vector<double> gain[2];      // of the level so far: missing to the right, to the left
};

LevelSearch::LevelSearch(const TreeParams& params, const BinnedMatrix& matrix,
                         const BinMapper& mapper, const Stats& stats, const SplitSearch& search,
                         Histogram root)
    : params_(params),
      matrix_(matrix),
      mapper_(mapper),
      stats_(stats),
      search_(search),
      root_(std::move(root)) {}

/// False where there is nothing to cut.
bool LevelSearch::read_cuts(std::uint32_t feature, Cuts& cuts) const {
  Profile& profile = cuts.profile;
  read_cells(cells(root_, feature), matrix_.n_bins[feature], 1, profile);
  if (profile.n == 0 || profile.n + (profile.has_missing ? 1 : 0) < 2) return false;
  cuts.order.resize(profile.n);
  std::iota(cuts.order.begin(), cuts.order.end(), 0u);
  if (mapper_.feature(feature).categorical) {
    std::vector<double> ratio(profile.n);
    double sums[2];
    for (std::size_t i = 0; i < profile.n; ++i) {
      stats_.decode(profile.raw.data() + i, sums);
      ratio[i] = search_.pair_ratio(sums[0], sums[1]);
    }
    std::stable_sort(cuts.order.begin(), cuts.order.end(),
                     [&](std::uint32_t x, std::uint32_t y) { return ratio[x] < ratio[y]; });
  }
  cuts.bin.resize(profile.n);
  for (std::size_t i = 0; i < profile.n; ++i) cuts.bin[i] = profile.bin[cuts.order[i]];
  return true;
}

/// The cells of one feature, from the rows of a small node.
const std::int64_t* LevelSearch::sum_cells(std::span<const RowId> rows, std::uint32_t feature,
                                           Scratch& scratch) const {
  scratch.cells.assign(matrix_.n_bins[feature] + 1, 0);
  with_codes(matrix_, feature, [&](auto code) {
    stats_.with_words([&](auto word) {
      for (const RowId r : rows) scratch.cells[code(r)] += word(r);
    });
  });
  return scratch.cells.data();
}

/// Adds what the node gains by cuts [0, n), whose left sums stand in scratch, to the level's gains
/// of either side of the missing rows. Left sums grow from cut to cut, so that those with enough on
/// both sides lie together.
void LevelSearch::add_gains(const LevelNode& node, std::size_t n, bool right, bool left,
                            Scratch& scratch) const {
  const double *a = scratch.a.data(), *b = scratch.b.data();
  std::size_t begin = 0;
  while (begin < n && b[begin] < node.least) ++begin;
  while (n > begin && node.total[1] - b[n - 1] < node.least) --n;
  if (n == begin) return;
  double* const score = scratch.score.data();
  search_.score_plain(a + begin, b + begin, n - begin, node.total, score + begin);
  for (std::size_t i = begin; i < n; ++i) score[i] -= node.score;
  if (right) {
    for (std::size_t i = begin; i < n; ++i) scratch.gain[0][i] += score[i];
  }
  if (left) {
    for (std::size_t i = begin; i < n; ++i) scratch.gain[1][i] += score[i];
  }
}

void LevelSearch::add_node(const LevelNode& node, const std::int64_t* sums,
                           Scratch& scratch) const {
  const Cuts& cuts = scratch.cuts;
  const std::size_t end = cuts.end();
  const double unit_a = stats_.unit(0), unit_b = stats_.unit(1);
  const std::int64_t mask = (std::int64_t{1} << stats_.shift) - 1;
  std::int64_t below = 0;
  for (std::size_t i = 0; i < end; ++i) {
    below += sums[cuts.bin[i]];
    scratch.a[i] = static_cast<double>(below >> stats_.shift) * unit_a;
    scratch.b[i] = static_cast<double>(below & mask) * unit_b;
  }
  if (!cuts.profile.has_missing) return add_gains(node, end, true, false, scratch);
  // Where nothing is missing in this node both sides gain alike.
  const bool apart = sums[scratch.missing] != 0;
  add_gains(node, end, true, !apart, scratch);
  if (!apart) return;
  double missing[2];
  stats_.decode(sums + scratch.missing, missing);
  for (std::size_t i = 0; i + 1 < cuts.n(); ++i) {
    scratch.a[i] += missing[0];
    scratch.b[i] += missing[1];
  }
  add_gains(node, cuts.n() - 1, false, true, scratch);
}

const std::int64_t* LevelSearch::node_cells(const LevelNode& node, std::uint32_t feature,
                                            Scratch& scratch) const {
  return node.sums != nullptr ? node.sums + matrix_.column_offset[feature]
                              : sum_cells(node.rows, feature, scratch);
}

/// A numeric feature, whose cuts all nodes score on their histograms, empty bins among them: these
/// tie with the bin before, and of equal cuts the lowest wins. Before the first that is not empty
/// there is no cut, though missing rows alone may go left of it. Where the bin is, is only looked
/// up when the gain is not below `most`, the largest of any feature so far, which is raised.
LevelSearch::Best LevelSearch::try_bins(std::span<const LevelNode> nodes, std::uint32_t feature,
                                        std::atomic<double>& most, Scratch& scratch) const {
  const std::size_t n_bins = matrix_.n_bins[feature];
  const std::int64_t* const whole = cells(root_, feature);
  const bool any_missing = whole[n_bins] != 0;
  const std::size_t n_ways = any_missing ? 2 : 1;
  // With that of missing rows, cells may be a whole number of vectors; behind it is no cut.
  const std::size_t n_cells = n_bins + 1;
  for (std::size_t way = 0; way < n_ways; ++way) scratch.gain[way].assign(n_cells, 0.0);
  for (const LevelNode& node : nodes) {
    const std::int64_t* const sums = node_cells(node, feature, scratch);
    add_newton_gains(sums, n_cells, 0, *node.newton, scratch.gain[0].data());
    if (any_missing)
      add_newton_gains(sums, n_cells, sums[n_bins], *node.newton, scratch.gain[1].data());
  }
  const auto occupied = [](std::int64_t cell) { return cell != 0; };
  const auto first =
      static_cast<std::size_t>(std::find_if(whole, whole + n_bins, occupied) - whole);
  double top = 0;
  for (std::size_t way = 0; way < n_ways; ++way)
    top = std::max(top, largest(scratch.gain[way].data() + first, n_bins - first));
  Best best;
  best.gain = top * nodes[0].newton->unit();
  if (best.gain == 0 || best.gain < most.load(std::memory_order_relaxed)) return {};
  raise(most, best.gain);
  std::size_t at[2] = {n_bins, n_bins};
  for (std::size_t way = 0; way < n_ways; ++way) {
    const auto begin = scratch.gain[way].begin(), end = begin + n_bins;
    at[way] = std::find(begin + first, end, top) - begin;
  }
  best.missing_left = at[1] < at[0];
  best.index = std::min(at[0], at[1]);
  best.by_bin = true;
  return best;
}

LevelSearch::Best LevelSearch::try_feature(std::span<const LevelNode> nodes, std::uint32_t feature,
                                           std::atomic<double>& most, Scratch& scratch) const {
  const auto scored = [](const LevelNode& node) { return node.newton.has_value(); };
  if (!mapper_.feature(feature).categorical && std::all_of(nodes.begin(), nodes.end(), scored))
    return try_bins(nodes, feature, most, scratch);
  Best best;
  const Cuts& cuts = scratch.cuts;
  if (!read_cuts(feature, scratch.cuts)) return best;
  for (auto* column : {&scratch.a, &scratch.b, &scratch.score}) column->resize(cuts.n());
  for (auto& gain : scratch.gain) gain.assign(cuts.n(), 0.0);
  scratch.missing = matrix_.n_bins[feature];
  for (const LevelNode& node : nodes) add_node(node, node_cells(node, feature, scratch), scratch);
  for (std::size_t i = 0; i < cuts.end(); ++i) {
    for (const bool left : {false, true}) {
      if (left && (!cuts.profile.has_missing || i + 1 == cuts.n())) continue;
      if (scratch.gain[left][i] > best.gain) best = {scratch.gain[left][i], i, false, left};
    }
  }
  return best;
}

/// As many features as a split looks at. Constant ones count, but one that is not must be among
/// them.
std::vector<std::uint32_t> LevelSearch::drawn(std::span<const std::uint32_t> features,
                                              std::uint64_t key) const {
  std::vector<std::uint32_t> order(features.begin(), features.end());
  if (params_.node_features == 0 || params_.node_features >= order.size()) return order;
  KeyedStream stream(key, Use::node_features);
  Cuts cuts;
  bool varying = false;
  std::size_t n = 0;
  while (n < order.size() && (n < params_.node_features || !varying)) {
    std::swap(order[n], order[n + stream.below(order.size() - n)]);
    varying = varying || read_cuts(order[n], cuts);
    ++n;
  }
  order.resize(n);
  std::sort(order.begin(), order.end());
  return order;
}

bool LevelSearch::best(std::span<const LevelNode> nodes, std::span<const std::uint32_t> features,
                       std::uint64_t key, const Context& context, Split& split) const {
  const std::vector<std::uint32_t> tried = drawn(features, key);
  std::vector<Best> found(tried.size());
  std::atomic<double> most{0};
  const bool shared = nodes.size() * tried.size() * 256 >= kSharedCells;
  parallel_for(tried.size(), shared ? context : Context{1, context.poll}, [&](std::size_t k, int) {
    thread_local Scratch scratch;
    found[k] = try_feature(nodes, tried[k], most, scratch);
  });
  std::size_t at = 0;
  for (std::size_t k = 1; k < found.size(); ++k) {
    if (found[k].gain > found[at].gain) at = k;
  }
  if (found.empty() || !(found[at].gain > 0) || !search_.enough(found[at].gain)) return false;
  Best& best = found[at];
  if (best.by_bin) {
    const std::int64_t* const whole = cells(root_, tried[at]);
    const auto occupied = [](std::int64_t cell) { return cell != 0; };
    best.index = static_cast<std::size_t>(std::count_if(whole, whole + best.index, occupied));
  }
  spell(tried[at], best, split);
  return true;
}

/// Missing values first met after training follow the heavier side; so do levels absent here.
void LevelSearch::spell(std::uint32_t feature, const Best& best, Split& split) const {
  Cuts cuts;
  read_cuts(feature, cuts);
  const Profile& profile = cuts.profile;
  const FeatureBins& bins = mapper_.feature(feature);
  std::int64_t sides[2] = {0, 0};
  for (std::size_t i = 0; i < cuts.n(); ++i) {
    sides[i <= best.index ? 0 : 1] += profile.raw[cuts.order[i]];
  }
  if (profile.has_missing) sides[best.missing_left ? 0 : 1] += profile.missing[0];
  double left[2], right[2];
  stats_.decode(sides, left);
  stats_.decode(sides + 1, right);
  const bool left_heavier = left[1] >= right[1];
  split = Split{};
  split.quality = split.gain = best.gain;
  split.feature = feature;
  split.missing_left = profile.has_missing ? best.missing_left : left_heavier;
  split.categorical = bins.categorical;
  if (split.categorical) {
    split.levels = level_set(bins.n_bins, left_heavier);
    for (std::size_t i = 0; i < cuts.n(); ++i) {
      put_level(split.levels, cuts.bin[i], i <= best.index);
    }
  } else if (best.index + 1 == cuts.n()) {  // every value left, missing right
    split.bin = bins.n_bins - 1;
    split.threshold = std::numeric_limits<double>::max();
  } else {
    split.bin = cuts.bin[best.index];
    split.threshold = threshold_between(bins, split.bin, cuts.bin[best.index + 1]);
  }
}

}  // namespace committee
