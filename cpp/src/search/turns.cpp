// Which features a node tries, and in which turn: all that it may use, or those that are drawn for
// it. The best is chosen alike whether one thread tries them in turn or several share them.
#include <algorithm>
#include <iterator>

#include "search/feature_search.hpp"

namespace committee {
namespace {

constexpr std::size_t kParallelCells = 65536;  // bins worth waking a second thread for
constexpr std::size_t kChunkFeatures = 32;     // of one task that searches
constexpr std::size_t kChunksPerThread = 32;   // at most, where features are many
constexpr std::size_t kAheadRows = 3;          // two are parted by the first cut that is drawn

/// Those of the features, in their order, that have not retired above the node.
void keep_staying(std::span<const std::uint32_t> features, const NodeSums& node,
                  std::vector<std::uint32_t>& kept) {
  kept.resize(features.size());
  std::size_t n = 0;
  for (const std::uint32_t f : features) {  // without a branch, which nobody could foresee
    kept[n] = f;
    n += (node.retired[f / 64] >> (f % 64) & 1) ^ 1;
  }
  kept.resize(n);
}

/// Those of the drawn features, in their order, that may vary; where features retire, the others
/// do.
void keep(std::span<const std::uint32_t> drawn, std::span<const std::uint32_t> varying,
          std::size_t n_features, bool retire, Scratch& scratch, Found& found) {
  std::vector<std::uint64_t>& bits = scratch.varying;
  bits.assign((n_features + 63) / 64, 0);
  for (const std::uint32_t f : varying) bits[f / 64] |= std::uint64_t{1} << (f % 64);
  scratch.kept.clear();
  for (const std::uint32_t f : drawn) {
    if ((bits[f / 64] >> (f % 64) & 1) != 0) {
      scratch.kept.push_back(f);
    } else if (retire) {
      found.retired.push_back(f);
    }
  }
}

}  // namespace

/// A keyed shuffle of the node's features, as far as it is asked for.
class FeatureDraw {
 public:
  FeatureDraw(std::vector<std::uint32_t>& order, std::uint64_t key)
      : order_(order), stream_(key, Use::node_features) {}

  void extend(std::size_t n) {
    for (; n_ < n; ++n_) std::swap(order_[n_], order_[n_ + stream_.below(order_.size() - n_)]);
  }

 private:
  std::vector<std::uint32_t>& order_;
  KeyedStream stream_;
  std::size_t n_ = 0;
};

Candidate SplitSearch::search_features(const FeatureSearch& search, const ProfileSource& profiles,
                                       const Context& context, Scratch& scratch) const {
  Found found;
  const std::size_t n_drawn = params_.node_features;
  if (n_drawn != 0 && n_drawn < search.node.features.size()) {
    try_drawn(search, profiles, context, scratch, found);
  } else {
    try_all(search, profiles, undrawn(search.node, profiles, scratch), context, scratch, found);
  }
  for (const std::uint32_t f : found.retired)
    search.node.retired[f / 64] |= std::uint64_t{1} << (f % 64);
  if (params_.criterion != Criterion::gain_ratio) return found.best;
  return best_ratio(search.node, profiles, search.parent, found.every, scratch);
}

/// The node's features that may vary and have not retired, ascending.
std::span<const std::uint32_t> SplitSearch::undrawn(const NodeSums& node,
                                                    const ProfileSource& profiles,
                                                    Scratch& scratch) const {
  const std::vector<std::uint32_t>* const varying = profiles.varying();
  std::span<const std::uint32_t> features = node.features;
  if (varying != nullptr && node.features.size() == mapper_.n_features()) {
    features = *varying;
  } else if (varying != nullptr) {
    scratch.kept.clear();
    std::set_intersection(node.features.begin(), node.features.end(), varying->begin(),
                          varying->end(), std::back_inserter(scratch.kept));
    features = scratch.kept;
  }
  if (node.retired.empty()) return features;
  keep_staying(features, node, scratch.staying);
  return scratch.staying;
}

/// Drawn features that are constant here count, but one that is not must be among them.
void SplitSearch::try_drawn(const FeatureSearch& search, const ProfileSource& profiles,
                            const Context& context, Scratch& scratch, Found& found) const {
  const NodeSums& node = search.node;
  std::vector<std::uint32_t>& order = scratch.drawn_order;
  order.assign(node.features.begin(), node.features.end());
  if (!node.retired.empty()) keep_staying(node.features, node, order);
  FeatureDraw draw(order, node.key);
  // Two rows are parted by the first feature that varies.
  const bool few = params_.rule == SplitRule::random && node.rows < kAheadRows;
  const std::size_t n_drawn = std::min(params_.node_features, order.size());
  const std::size_t n_ahead = few && profiles.sums_together() ? 0 : n_drawn;
  draw.extend(n_ahead);
  std::span<const std::uint32_t> drawn(order.data(), n_ahead);
  if (const auto* const varying = profiles.varying(); varying != nullptr) {
    keep(drawn, *varying, mapper_.n_features(), !node.retired.empty(), scratch, found);
    drawn = scratch.kept;
  }
  if (n_ahead > 0) try_all(search, profiles, drawn, context, scratch, found);
  for (std::size_t turn = n_ahead; turn < order.size(); ++turn) {
    if (turn >= params_.node_features && found.varying > 0) break;
    draw.extend(turn + 1);
    if (try_in_turn(search, profiles, {&order[turn], 1}, turn, scratch, found)) break;
  }
}

/// In chunks on all threads where features are many.
void SplitSearch::try_all(const FeatureSearch& search, const ProfileSource& profiles,
                          std::span<const std::uint32_t> features, const Context& context,
                          Scratch& scratch, Found& found) const {
  profiles.expect(features);
  const bool ratio = params_.criterion == Criterion::gain_ratio;
  if (features.size() * 256 < kParallelCells || ratio || context.n_threads <= 1) {
    try_in_turn(search, profiles, features, 0, scratch, found);
    return;
  }
  const std::size_t n_most = kChunksPerThread * static_cast<std::size_t>(context.n_threads);
  const std::size_t chunk = std::max<std::size_t>(kChunkFeatures, features.size() / n_most);
  std::vector<Found> parts((features.size() + chunk - 1) / chunk);
  parallel_for(parts.size(), context, [&](std::size_t k, int) {
    thread_local Scratch own;
    const std::size_t first = k * chunk, n = std::min(chunk, features.size() - first);
    try_in_turn(search, profiles, features.subspan(first, n), first, own, parts[k]);
  });
  for (const Found& part : parts) {
    found.varying += part.varying;
    if (part.best.better_than(found.best)) found.best = part.best;
    found.retired.insert(found.retired.end(), part.retired.begin(), part.retired.end());
  }
}

/// One feature after the other; true once nothing can be better. `first` is the turn of the first.
bool SplitSearch::try_in_turn(const FeatureSearch& search, const ProfileSource& profiles,
                              std::span<const std::uint32_t> features, std::size_t first,
                              Scratch& scratch, Found& found) const {
  const bool ratio = params_.criterion == Criterion::gain_ratio;
  const bool two = search.node.rows == 2 && !params_.in_parts;
  Candidate candidate;
  std::size_t next = 0;
  scratch.cuts.clear();
  if (params_.rule == SplitRule::random && search.node.rows >= kAheadRows)
    search.draw_ahead(profiles, features, scratch);
  bool some = search.take_two_bins(profiles, features, first, scratch, found);
  some = search.take_free(profiles, features, first, some, scratch, found);
  const std::size_t n = some ? scratch.rest.size() : features.size();
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t i = some ? scratch.rest[k] : k;
    if (next < scratch.cuts.size() && scratch.cuts[next].turn == i) {
      ++found.varying;
      const Boundary& drawn = scratch.drawn[next++];
      if (!ratio && found.best.boundary.found && !(drawn.score > found.best.quality)) continue;
      search.take_drawn(next - 1, scratch, candidate);
    } else {
      found.varying +=
          search.try_feature(profiles, features[i], scratch, found.best, candidate) ? 1 : 0;
      if (search.idle(candidate)) found.retired.push_back(features[i]);
    }
    candidate.turn = first + i;
    if (ratio && candidate.boundary.found) found.every.push_back(candidate);
    if (!candidate.better_than(found.best)) continue;
    found.best = candidate;
    // Ties go to features already seen; two rows part in one way only, unless they are parts of
    // many.
    if (!ratio && (found.best.quality >= search.perfect || two)) return true;
  }
  return false;
}

}  // namespace committee
