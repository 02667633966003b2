// Choosing a split: from a node's profiles to the best cut, under every rule a user can set.
//
// Candidates lie between neighbouring occupied bins (numeric) or between neighbours in an order of
// the levels (categorical). In multiway mode (C4.5) a categorical feature is judged by one branch
// per level; the tree, which is binary, then takes the levels off one by one: every node but the
// first of such a chain is bound to its feature. Missing rows are tried on both sides, or, in
// parts, left out of the question. Ties go to the lower feature (among drawn ones to the first
// drawn), then the lower cut, then missing to the right.
#pragma once

#include <memory>
#include <optional>

#include "committee/base/random.hpp"
#include "committee/bins/binning.hpp"
#include "committee/search/criterion.hpp"
#include "committee/sums/profile.hpp"
#include "committee/sums/side_sums.hpp"

namespace committee {

enum class SplitRule : std::uint8_t {
  best,
  random
};  // random: one uniform cut per drawn feature (extra trees)
enum class Growth : std::uint8_t { depth_first, best_first, level, symmetric };

/// Everything that shapes one tree; plain numbers, filled at the Python door.
struct TreeParams {
  Criterion criterion = Criterion::gini;
  SplitRule rule = SplitRule::best;
  Growth growth = Growth::depth_first;
  std::size_t max_depth = std::numeric_limits<std::uint32_t>::max();
  std::size_t max_leaves = std::numeric_limits<std::uint32_t>::max();
  std::size_t min_rows_split = 2;
  std::size_t min_rows_leaf = 1;
  double min_weight_leaf = 0;  // in the user's units
  double min_gain =
      -std::numeric_limits<double>::infinity();  // a split must gain more; in the user's units
  std::size_t node_features = 0;                 // drawn at each node; 0: all
  std::size_t tree_features = 0;                 // drawn once; 0: all
  std::size_t level_features = 0;                // of these, drawn for each level; 0: all
  bool multiway = false;                         // categorical: one branch a level (C4.5)
  bool in_parts = false;                         // missing rows go both ways, in parts (parts.hpp)
  bool charged_cuts = false;                     // gain ratio: numeric features pay for their cuts
  double l2 = 0;                                 // newton: -G / (H + l2), with
  double l1 = 0;                                 // the gradient drawn towards 0 by so much
  double least_hessian = 0;       // newton, several outputs: what each of them counts with at least
  std::vector<double> max_value;  // newton: of a leaf, either way, per output; or empty
  std::vector<std::int8_t> monotone;  // per feature -1, 0, 1; or empty
  std::vector<std::vector<std::uint32_t>>
      interactions;     // groups of features that may meet; or empty
  bool retire = false;  // a feature that gains nothing in a node is not tried below it
  std::uint64_t seed = 0;
  bool described = true;  // else no counts, no impurities, and values and weights of leaves alone
};

/// Weights are rounded to units; limits on them are taken with this much leave.
inline constexpr double kRounded = 1 - 0x1p-20;

/// A chosen split, with the sums of both sides.
struct Split {
  double quality = -std::numeric_limits<double>::infinity();  // what candidates were ranked by
  double gain = 0;  // decrease of weight * impurity, decoded units
  std::uint32_t feature = 0;
  std::uint32_t bin = 0;  // numeric: codes up to and including it go left
  double threshold = 0;
  bool categorical = false;
  bool missing_left = false;
  bool chained = false;               // multiway: the right side goes on with the same feature
  double middle = 0;                  // absolute error: between the medians of both sides
  std::vector<std::uint64_t> levels;  // categorical: bit c set, level c goes left
  SideSums left, right;               // raw sums; in parts: of the rows that are not missing

  bool found() const { return quality > -std::numeric_limits<double>::infinity(); }
  /// Which side a code goes; `missing` is the feature's missing code.
  bool goes_left(std::uint32_t code, std::uint32_t missing) const {
    if (code == missing) return missing_left;
    return categorical ? (levels[code / 64] >> (code % 64) & 1) != 0 : code <= bin;
  }
};

/// The raw threshold between two occupied bins: of the cuts between them the one nearest to the
/// middle of the gap that the node's own rows leave. A forest thus has no more thresholds than
/// cuts.
double threshold_between(const FeatureBins& bins, std::uint32_t left, std::uint32_t right);

/// Sets of levels as bits: empty or full, then level by level.
std::vector<std::uint64_t> level_set(std::uint32_t n_levels, bool all);
void put_level(std::vector<std::uint64_t>& set, std::uint32_t level, bool in);

struct BinCounts;  // of rows (node_rows.hpp)

/// What the search knows of the node it works on.
struct NodeSums {
  std::span<const std::int64_t> raw;  // totals
  double lower =
      -std::numeric_limits<double>::infinity();  // monotone bounds on the node's value, decoded
  double upper = std::numeric_limits<double>::infinity();
  std::uint64_t key = 0;  // of its random draws
  std::size_t rows = 0;
  bool chained = false;                     // features holds the one it is bound to
  std::span<const std::uint32_t> features;  // candidates, ascending
  const BinCounts* counts = nullptr;        // where rows of both sides are to be counted
  std::span<std::uint64_t> retired = {};    // bits of features not to be tried; the search adds
                                            // those that gain nothing here. Empty: all are tried
  double floor = -std::numeric_limits<double>::infinity();  // Newton's score: a split that does not
                                                            // gain more is of no use
};

class DrawTable;       // where drawn thresholds fall
struct Candidate;      // a feature's best split, before it is spelt out
struct FeatureSearch;  // finds it
struct Found;          // the best of several
class NewtonTerms;
struct Scratch;

/// side[code] = 1 where the code goes left.
std::vector<std::uint8_t> side_table(const Split& split, std::uint32_t n_bins);

class SplitSearch {
 public:
  SplitSearch(const TreeParams& params, const BinMapper& mapper, const Stats& stats);
  ~SplitSearch();

  /// Sets `split` to the best split of a node, if there is one; its memory is used again.
  /// Deterministic for any number of threads.
  bool best(const NodeSums& node, const ProfileSource& profiles, const Context& context,
            Split& split) const;

  const SumShape& shape() const { return shape_; }
  /// The value a leaf of these decoded sums would have for monotone constraints; two sums only.
  double pair_value(double a, double b) const;
  /// The same without l1: by it levels are ordered, which a threshold would make equal.
  double pair_ratio(double a, double b) const;
  /// score_boundaries with the numbers of the parameters, l1 among them.
  void score_plain(const double* a, const double* b, std::size_t n, const double total[2],
                   double* out) const;
  /// What of the node's own score is to be taken from these: nothing where they are gains already.
  double plain_parent(double parent) const;
  /// Multiply a gain in decoded units by this and by Stats::weight_scale to have it in the user's.
  double score_scale() const;
  /// Whether a gain (decoded) satisfies the user's min_gain.
  bool enough(double gain) const;

 private:
  friend struct FeatureSearch;
  Candidate best_candidate(const NodeSums& node, const ProfileSource& profiles,
                           const Context& context, Scratch& scratch) const;
  Candidate search_features(const FeatureSearch& search, const ProfileSource& profiles,
                            const Context& context, Scratch& scratch) const;
  std::span<const std::uint32_t> undrawn(const NodeSums& node, const ProfileSource& profiles,
                                         Scratch& scratch) const;
  void try_drawn(const FeatureSearch& search, const ProfileSource& profiles, const Context& context,
                 Scratch& scratch, Found& found) const;
  void try_all(const FeatureSearch& search, const ProfileSource& profiles,
               std::span<const std::uint32_t> features, const Context& context, Scratch& scratch,
               Found& found) const;
  bool try_in_turn(const FeatureSearch& search, const ProfileSource& profiles,
                   std::span<const std::uint32_t> features, std::size_t first, Scratch& scratch,
                   Found& found) const;
  double charge_of(const NodeSums& node, const ProfileSource& profiles, const Candidate& c,
                   Scratch& scratch) const;
  Candidate best_ratio(const NodeSums& node, const ProfileSource& profiles, double parent,
                       std::vector<Candidate>& all, Scratch& scratch) const;
  std::optional<NewtonTerms> newton_terms(const NodeSums& node) const;
  std::vector<bool> find_two_bins() const;
  std::vector<bool> find_free() const;
  void spell(Scratch& scratch, const Candidate& c, Split& split) const;
  double parent_score(const Split& split) const;
  double node_weight(const NodeSums& node) const;
  double rounding(const NodeSums& node) const;
  /// Whether a gain (decoded) is one; `noise` is what rounding alone may bring.
  bool gains(double gain, double noise) const { return enough(gain) && gain > noise; }
  void materialise(const NodeSums& node, const ProfileSource& profiles, const Candidate& candidate,
                   Scratch& scratch, Split& split) const;

  const TreeParams& params_;
  const BinMapper& mapper_;
  const Stats& stats_;
  std::unique_ptr<const DrawTable> draw_table_;  // random rule
  std::vector<bool> free_;      // Newton's score: numeric features without a constraint
  std::vector<bool> two_bins_;  // of these, those of two bins; empty where none is
  SumShape shape_;
  double min_weight_;  // decoded
  bool pair_;          // two sums: the fast scan
  bool check_rows_;    // min_rows_leaf > 1, or parts of rows, of which one is not yet a row
};

}  // namespace committee
