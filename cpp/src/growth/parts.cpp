#include "committee/growth/parts.hpp"

#include <algorithm>

#include "committee/growth/grower.hpp"
#include "committee/growth/tree.hpp"

namespace committee {
namespace {

constexpr std::size_t kFewParts = 4;  // bins a part at which sorting is cheaper than clearing

/// So much of a row, in units.
struct Part {
  RowId row;
  std::int64_t weight;
  std::int64_t count;
};
using Parts = std::vector<Part>;

/// `whole` times left / (left + right), rounded to the nearest.
std::int64_t share_of(std::int64_t whole, std::int64_t left, std::int64_t right) {
  const __int128 both = static_cast<__int128>(left) + right;
  return static_cast<std::int64_t>((2 * static_cast<__int128>(whole) * left + both) / (2 * both));
}

/// Profiles straight from the parts of a node.
class PartProfiles final : public ProfileSource {
 public:
  PartProfiles(const BinnedMatrix& matrix, const Stats& stats, const Parts& parts)
      : matrix_(matrix), stats_(stats), parts_(parts) {}

  void read(std::size_t feature, Profile& out) const override {
    if (parts_.size() * kFewParts < matrix_.n_bins[feature]) return read_sorted(feature, out);
    thread_local std::vector<std::int64_t> cells;
    cells.assign((matrix_.n_bins[feature] + std::size_t{1}) * stats_.width, 0);
    for (const Part& part : parts_) {
      const std::size_t code = matrix_.code(part.row, feature);
      stats_.add_part(part.row, part.weight, part.count, cells.data() + code * stats_.width);
    }
    read_cells(cells.data(), matrix_.n_bins[feature], stats_.width, out);
  }

 private:
  /// Few parts among many bins.
  void read_sorted(std::size_t feature, Profile& out) const {
    thread_local std::vector<std::pair<std::uint32_t, std::uint32_t>> sorted;  // code, part
    sorted.clear();
    for (std::uint32_t i = 0; i < parts_.size(); ++i)
      sorted.emplace_back(matrix_.code(parts_[i].row, feature), i);
    std::sort(sorted.begin(), sorted.end());
    out.reserve(parts_.size(), stats_.width);
    std::fill_n(out.missing.begin(), stats_.width, 0);
    out.has_missing = false;
    out.n = 0;
    for (const auto& [code, i] : sorted) {
      std::int64_t* cell = out.missing.data();
      if (code == matrix_.n_bins[feature]) {
        out.has_missing = true;
      } else {
        cell = out.raw.data() + out.n * stats_.width;
        if (out.n > 0 && out.bin[out.n - 1] == code) {
          cell -= stats_.width;
        } else {
          std::fill_n(cell, stats_.width, 0);
          out.bin[out.n++] = code;
        }
      }
      stats_.add_part(parts_[i].row, parts_[i].weight, parts_[i].count, cell);
    }
  }

  const BinnedMatrix& matrix_;
  const Stats& stats_;
  const Parts& parts_;
};

/// Drives a grower over rows in parts.
class PartedTree {
 public:
  PartedTree(const BinnedMatrix& matrix, const Stats& stats, Grower& grower, const Context& context)
      : matrix_(matrix), stats_(stats), grower_(grower), context_(context) {}

  void grow() {
    parts_.emplace_back();
    for (const RowId r : stats_.counted_rows())
      parts_[0].push_back({r, stats_.words[r], stats_.count_units()});
    std::vector<std::int64_t> totals(stats_.width, 0);
    add(parts_[0], totals);
    grower_.start(totals, facts(0, totals));
    feed();
    for (auto nodes = grower_.splits(); !nodes.empty(); nodes = grower_.splits()) {
      check_interrupt(context_);
      for (const NodeId id : nodes) divide(id);
    }
  }

 private:
  void add(const Parts& parts, std::span<std::int64_t> sums) const {
    for (const Part& part : parts) stats_.add_part(part.row, part.weight, part.count, sums.data());
  }

  RowFacts facts(NodeId id, std::span<const std::int64_t> sums) const {
    const Parts& parts = parts_[id];
    const double rows = stats_.decode_count(sums.data());
    return {static_cast<std::size_t>(rows / kRounded), false, parts.empty() ? 0 : parts[0].row};
  }

  void feed() {
    for (const NodeId id : grower_.wanted())
      grower_.feed(id, PartProfiles(matrix_, stats_, parts_[id]), context_);
    for (const NodeId hopeless : grower_.given_up()) Parts().swap(parts_[hopeless]);
  }

  std::int64_t weight_of(std::span<const std::int64_t> sums) const {
    std::int64_t weight = 0;
    for (std::size_t k = 0; k < stats_.n_classes[0]; ++k) weight += sums[k];
    return weight;
  }

  void divide(NodeId id) {
    const Split& split = grower_.pending(id);
    const std::int64_t to_left = weight_of(split.left), to_right = weight_of(split.right);
    const std::uint32_t missing = matrix_.n_bins[split.feature];
    Parts sides[2];
    const auto put = [&](int side, const Part& part) {
      if (part.weight > 0) sides[side].push_back(part);
    };
    for (const Part& part : parts_[id]) {
      const std::uint32_t code = matrix_.code(part.row, split.feature);
      if (code != missing) {
        put(split.goes_left(code, missing) ? 0 : 1, part);
        continue;
      }
      const Part left{part.row, share_of(part.weight, to_left, to_right),
                      share_of(part.count, to_left, to_right)};
      put(0, left);
      put(1, {part.row, part.weight - left.weight, part.count - left.count});
    }
    Parts().swap(parts_[id]);
    parts_.resize(grower_.size());
    for (NodeId side = 0; side < 2; ++side) {
      const NodeId child = grower_.node(id).left + side;
      parts_[child] = std::move(sides[side]);
      const std::span<std::int64_t> sums = grower_.sums(child);
      std::fill(sums.begin(), sums.end(), 0);
      add(parts_[child], sums);
      grower_.describe(child, facts(child, sums));
      if (!grower_.node(child).open) Parts().swap(parts_[child]);
    }
    feed();
  }

  const BinnedMatrix& matrix_;
  const Stats& stats_;
  Grower& grower_;
  const Context& context_;
  std::vector<Parts> parts_;  // by node; of open ones
};

}  // namespace

ForestArrays grow_tree_in_parts(const BinnedMatrix& matrix, const BinMapper& mapper,
                                const Stats& stats, const TreeParams& params,
                                const Context& context) {
  check_growth(matrix, mapper, stats, params);
  if (!params.in_parts || !stats.divides())
    throw std::invalid_argument("growing in parts needs in_parts and divisible statistics");
  TreeParams own = params;
  // Which leaves are left when a bound is met must not depend on the order.
  if (own.growth == Growth::depth_first &&
      own.max_leaves < std::numeric_limits<std::uint32_t>::max()) {
    own.growth = Growth::best_first;
  }
  const SplitSearch search(own, mapper, stats);
  Grower grower(own, search, stats, matrix.n_features);
  PartedTree(matrix, stats, grower, context).grow();
  return grower.finish(std::vector<__int128>(grower.size() * stats.fine_width(), 0));
}

}  // namespace committee
