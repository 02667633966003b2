// The steps of the walk. Everything here is inlined into two functions, which are compiled once per
// instruction set.
#include "shap/shap_walk.hpp"

#include "committee/base/clones.hpp"
#include "forest/predict_walk.hpp"

namespace committee {

ShapScratch::ShapScratch(const ShapForest& forest, bool pairs)
    : product_((forest.depth + 1) * forest.n_points),
      sums_((forest.depth + 2) * 2 * forest.n_outputs * forest.n_points),
      term_(pairs ? forest.n_points : 0),
      go_(forest.n_splits),
      on_(forest.n_slots),
      frames_(forest.depth),
      known_(forest.n_slots),
      column_(forest.n_slots) {}

namespace {

/// go = 1 where a row goes left, of all splits before the walk: whole vectors of numbers that were
/// just written one by one would be waited for.
COMMITTEE_CLONES
void decide(const ForestArrays& arrays, const ShapTree& tree, const ShapLanes* columns,
            ShapLanes* go) {
  for (const ShapSplit& s : tree.splits) {
    const auto* x = reinterpret_cast<const double*>(columns + s.column);
    auto* to = reinterpret_cast<double*>(go++);
    const bool missing_left = (s.node.feature & kMissingLeft) != 0;
    if ((s.node.feature & kCategorical) != 0) {
      for (std::size_t l = 0; l < kShapLanes; ++l) {
        const auto code = level_of(arrays, s.node, x[l]);
        to[l] = (code ? in_set(arrays, s.node, *code) : missing_left) ? 1.0 : 0.0;
      }
      continue;
    }
    const double threshold = s.node.threshold;  // a missing value is not below it
    for (std::size_t l = 0; l < kShapLanes; ++l) to[l] = x[l] <= threshold ? 1.0 : 0.0;
    if (!missing_left) continue;
    for (std::size_t l = 0; l < kShapLanes; ++l) to[l] = x[l] != x[l] ? 1.0 : to[l];
  }
}

}  // namespace

/// One tree and eight rows. P, H, D, e, f: see shap_tree.hpp.
struct ShapWalk {
  const ForestArrays& arrays;
  const ShapTree& tree;
  const GaussRule& rule;
  const ShapLanes* columns;
  ShapScratch& scratch;
  ShapLanes* phi;
  ShapLanes* pair;
  std::size_t n_points, n_outputs;

  COMMITTEE_INLINE ShapLanes* product(std::size_t depth) const {
    return scratch.product_.data() + depth * n_points;
  }
  COMMITTEE_INLINE ShapLanes* sums(std::size_t depth, bool right, std::size_t output) const {
    return scratch.sums_.data() + ((depth * 2 + (right ? 1 : 0)) * n_outputs + output) * n_points;
  }
  COMMITTEE_INLINE const double* slope(const ShapSplit& s) const {
    if (s.repeated == kNoTable) return rule.point.data();
    return tree.slope.data() + std::size_t{2} * s.repeated * n_points;
  }
  COMMITTEE_INLINE const double* known(std::size_t split, bool right) const {
    return tree.known.data() + (2 * split + (right ? 1 : 0)) * n_points;
  }

  /// Where the rows go, and e.
  COMMITTEE_INLINE void look(const ShapStep& at, const ShapSplit& s,
                             ShapScratch::Frame& frame) const {
    frame.go = scratch.go_[at.split].v;
    frame.step = frame.go - s.share;
    if (s.repeated == kNoTable) return;
    frame.on = scratch.on_[s.slot].v;
    frame.step *= frame.on;
  }

  /// The state of the split's feature on one side.
  template <bool kPairs>
  COMMITTEE_INLINE void take_side(const ShapStep& at, const ShapSplit& s,
                                  const ShapScratch::Frame& frame, bool right) const {
    ShapVector on = frame.go;
    if (right) on = 1.0 - on;
    if (s.repeated != kNoTable) on *= frame.on;
    scratch.on_[s.slot].v = on;
    if constexpr (kPairs) {
      scratch.known_[s.slot] = known(at.split, right);
      scratch.column_[s.slot] = s.column;
    }
  }

  template <bool kPairs>
  COMMITTEE_INLINE void enter(const ShapStep& at, const ShapSplit& s) const {
    ShapScratch::Frame& frame = scratch.frames_[at.depth];
    look(at, s, frame);
    const ShapLanes* from = product(at.depth);
    ShapLanes* to = product(at.depth + 1);
    const double* tau = slope(s);
    take_side<kPairs>(at, s, frame, s.leaf_left);
    const ShapVector e = frame.step;
    if (s.leaf_left) {
      for (std::size_t q = 0; q < n_points; ++q)
        to[q].v = from[q].v - from[q].v * (s.share + tau[q] * e);
    } else {
      for (std::size_t q = 0; q < n_points; ++q) to[q].v = from[q].v * (s.share + tau[q] * e);
    }
  }

  template <bool kPairs>
  COMMITTEE_INLINE void turn(const ShapStep& at, const ShapSplit& s) const {
    const ShapLanes* from = product(at.depth);
    ShapLanes* to = product(at.depth + 1);
    for (std::size_t q = 0; q < n_points; ++q) to[q].v = from[q].v - to[q].v;
    take_side<kPairs>(at, s, scratch.frames_[at.depth], true);
  }

  /// Sums of both sides into those of the split, and the terms of its feature.
  template <bool kPairs, bool kRepeated, bool kLeafLeft, bool kLeafRight>
  COMMITTEE_INLINE void join(const ShapStep& at, const ShapSplit& s, const ShapVector& e) const {
    const ShapLanes* p = product(at.depth);
    const double* tau = slope(s);
    const double* omega = tau + n_points;  // of repeated splits only
    for (std::size_t k = 0; k < n_outputs; ++k) {
      const ShapLanes* left = sums(at.depth + 1, false, k);
      const ShapLanes* right = sums(at.depth + 1, true, k);
      ShapLanes* to = sums(at.depth, at.right, k);
      const ShapVector zero = {};
      ShapVector l = zero, r = zero, sum = zero;
      if constexpr (kLeafLeft) l = zero + tree.values[s.left_value + k];
      if constexpr (kLeafRight) r = zero + tree.values[s.right_value + k];
      for (std::size_t q = 0; q < n_points; ++q) {
        if constexpr (!kLeafLeft) l = left[q].v;
        if constexpr (!kLeafRight) r = right[q].v;
        const ShapVector d = l - r;
        ShapVector term = p[q].v * d;
        if constexpr (kRepeated) term *= omega[q];
        sum += term;
        to[q].v = r + (s.share + tau[q] * e) * d;
        if constexpr (kPairs) scratch.term_[q].v = term;
      }
      phi[s.column * n_outputs + k].v += e * sum;
      if constexpr (kPairs) add_pairs(s, e, k);
    }
  }

  /// The terms of a split with every other feature above it.
  COMMITTEE_INLINE void add_pairs(const ShapSplit& s, const ShapVector& e, std::size_t k) const {
    const ShapLanes* term = scratch.term_.data();
    const ShapVector zero = {};
    ShapVector off = zero;
    for (std::size_t q = 0; q < n_points; ++q) off += term[q].v * rule.off[q];
    for (std::size_t i = 0; i < s.n_slots; ++i) {
      if (i == s.slot) continue;
      const double* g = scratch.known_[i];
      ShapVector on = zero;
      for (std::size_t q = 0; q < n_points; ++q) on += term[q].v * g[q];
      // Chosen by factors of exactly 0 and 1.
      const ShapVector& let = scratch.on_[i].v;
      pair[shap_pair(s.column, scratch.column_[i]) * n_outputs + k].v +=
          e * (let * on + (1.0 - let) * off);
    }
  }

  template <bool kPairs, bool kLeafLeft, bool kLeafRight>
  COMMITTEE_INLINE void join(const ShapStep& at, const ShapSplit& s, const ShapVector& e) const {
    if (s.repeated == kNoTable) {
      join<kPairs, false, kLeafLeft, kLeafRight>(at, s, e);
    } else {
      join<kPairs, true, kLeafLeft, kLeafRight>(at, s, e);
    }
  }

  template <bool kPairs>
  COMMITTEE_INLINE void leave(const ShapStep& at, const ShapSplit& s) const {
    const ShapScratch::Frame& frame = scratch.frames_[at.depth];
    if (s.repeated != kNoTable) {
      scratch.on_[s.slot].v = frame.on;
      if constexpr (kPairs) scratch.known_[s.slot] = known(s.above_split, s.above_right);
    }
    if (s.leaf_left) {
      join<kPairs, true, false>(at, s, frame.step);
    } else if (s.leaf_right) {
      join<kPairs, false, true>(at, s, frame.step);
    } else {
      join<kPairs, false, false>(at, s, frame.step);
    }
  }

  template <bool kPairs>
  COMMITTEE_INLINE void run() const {
    using Kind = ShapStep::Kind;
    decide(arrays, tree, columns, scratch.go_.data());
    for (std::size_t q = 0; q < n_points; ++q) {
      const ShapVector zero = {};
      product(0)[q].v = zero + rule.weight[q];
    }
    for (const ShapStep& at : tree.steps) {
      const ShapSplit& s = tree.splits[at.split];
      if (at.kind == Kind::stump) {
        ShapScratch::Frame frame;
        look(at, s, frame);
        join<kPairs, true, true>(at, s, frame.step);
      } else if (at.kind == Kind::enter) {
        enter<kPairs>(at, s);
      } else if (at.kind == Kind::turn) {
        turn<kPairs>(at, s);
      } else {
        leave<kPairs>(at, s);
      }
    }
  }
};

COMMITTEE_CLONES
void add_shap_values(const ForestArrays& arrays, const ShapForest& forest, std::size_t tree,
                     const ShapLanes* columns, ShapScratch& scratch, ShapLanes* phi) {
  const ShapTree& t = forest.trees[tree];
  const ShapWalk walk{arrays,  t,          *forest.rules[t.n_points], columns, scratch, phi,
                      nullptr, t.n_points, forest.n_outputs};
  walk.run<false>();
}

COMMITTEE_CLONES
void add_shap_pairs(const ForestArrays& arrays, const ShapForest& forest, std::size_t tree,
                    const ShapLanes* columns, ShapScratch& scratch, ShapLanes* phi,
                    ShapLanes* pair) {
  const ShapTree& t = forest.trees[tree];
  const ShapWalk walk{arrays, t,          *forest.rules[t.n_points], columns, scratch, phi,
                      pair,   t.n_points, forest.n_outputs};
  walk.run<true>();
}

}  // namespace committee
