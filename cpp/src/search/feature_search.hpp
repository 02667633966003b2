// One feature's best split in one node: numeric, random, by levels, or one branch a level.
#pragma once

#include "search/newton_scan.hpp"
#include "search/scan.hpp"

namespace committee {

inline double infinity() { return std::numeric_limits<double>::infinity(); }

/// A cut between two occupied bins, with the word left of it.
struct Halves {
  std::int64_t left;
  std::uint32_t below, above;
};

struct Candidate {
  Boundary boundary;
  double quality = -infinity();
  std::uint32_t feature = 0;
  std::size_t turn = 0;     // of the feature among those tried: the first of equal ones is taken
  std::size_t variant = 0;  // categorical: which order of the levels
  double threshold = std::numeric_limits<double>::quiet_NaN();  // random rule: the drawn one
  bool halved = false;  // the boundary is that of the profile's halves at `bin`
  std::uint32_t bin = 0;
  std::optional<Halves> halves;  // the boundary is theirs
  bool by_bin = false;  // the boundary lies behind the occupied bin `bin`, its index is not known
  bool multiway = false;
  double split_entropy = 0;  // multiway only
  double charge = 0;         // for the choice among the cuts of a numeric feature

  bool better_than(const Candidate& other) const {
    if (!boundary.found) return false;
    if (!other.boundary.found || quality > other.quality) return true;
    return quality == other.quality && turn < other.turn;
  }
};

/// What features that were tried have brought.
struct Found {
  Candidate best;
  std::size_t varying = 0;             // features that are not constant in the node
  std::vector<Candidate> every;        // C4.5 looks at the best of each before it chooses
  std::vector<std::uint32_t> retired;  // features that gain nothing, where it is asked
};

/// A thread's memory for the search, node after node.
struct Scratch {
  std::vector<double> sums, mean;          // of the node
  std::vector<std::uint32_t> drawn_order;  // of the node's features
  std::vector<std::uint64_t> varying;      // a bit for each feature that may vary
  std::vector<std::uint32_t> kept;         // of those to be tried, the ones that may vary
  std::vector<std::uint32_t> staying;      // and the ones that have not retired
  std::vector<std::uint32_t> rest;         // places among them, without those tried together
  std::vector<double> left, right;         // sums of the two sides
  Profile profile;
  std::vector<std::int64_t> known;   // in parts: the sums of the rows that are not missing
  std::vector<std::uint32_t> order;  // of the levels
  std::vector<double> ratio;
  std::vector<double> a, b, score;  // sums left of each boundary, and what they are worth
  struct {
    std::vector<double> a, b, score, weight;
  } vectors;  // the same of several outputs: memory of its own, since a and b are longer
  std::vector<Ends> ends;           // random rule: of the features whose
  std::vector<DrawnCut> cuts;       // cuts are drawn ahead, with
  std::vector<std::int64_t> below;  // what goes left of each, and
  std::vector<Boundary> drawn;      // what it gains
};

/// Scans one profile in one order with the criterion at hand.
struct FeatureSearch {
  const SplitSearch& s;
  const NodeSums& node;
  double parent;
  std::span<const double> mean;  // squared error: of the node, per output; zeros otherwise
  double perfect = infinity();   // a gain that no split exceeds; rounding is kept from exceeding it
  double weight = 0;             // of the node
  const Context* context = nullptr;     // asked between long stretches whether to go on
  const NewtonTerms* newton = nullptr;  // of the node, where all cuts can be scored at once
  double noise = -infinity();           // where features retire: a gain that is none

  /// False when the feature is constant in the node; else `out` is its best split, if any is
  /// admissible. Where that would be no better than `beside`, it may be another one or none.
  bool try_feature(const ProfileSource& profiles, std::uint32_t feature, Scratch& scratch,
                   const Candidate& beside, Candidate& out) const;
  /// Whether a feature with this best split is to retire.
  bool idle(const Candidate& best) const {
    return !node.retired.empty() && !(best.boundary.found && s.gains(best.boundary.gain, noise));
  }
  /// Newton's score: tries all features of two bins together, and leaves the places of the others
  /// in scratch.rest; false where none is. `first` is the turn of the first feature.
  bool take_two_bins(const ProfileSource& profiles, std::span<const std::uint32_t> features,
                     std::size_t first, Scratch& scratch, Found& found) const;
  /// The same of free numeric features, in one scan; only `some` of the features, those in
  /// scratch.rest, are left.
  bool take_free(const ProfileSource& profiles, std::span<const std::uint32_t> features,
                 std::size_t first, bool some, Scratch& scratch, Found& found) const;
  /// Random rule: draws the cuts of the first features, and sums them together where the source
  /// can; else scratch.cuts stays empty. Constant features and categories are left out.
  void draw_ahead(const ProfileSource& profiles, std::span<const std::uint32_t> features,
                  Scratch& scratch) const;
  /// The k-th of them, with what it gains.
  void take_drawn(std::size_t k, const Scratch& scratch, Candidate& out) const;
  /// Writes to scratch the order in which levels are cut; `variant` below n_variants().
  void order_levels(Scratch& scratch, std::uint32_t feature, std::size_t variant) const;

 private:
  void read_words(const ProfileSource& profiles, std::span<const std::uint32_t> features,
                  std::int64_t* room, NewtonWords* words) const;
  void take_best(const ProfileSource& profiles, std::span<const std::uint32_t> features,
                 std::size_t first, std::span<const NewtonWords> words, const std::uint32_t* place,
                 Found& found) const;
  Halves halves_at(const ProfileSource& profiles, std::uint32_t feature, std::size_t which,
                   const NewtonWords& words, std::size_t k) const;
  NewtonChoice best_in_scan(std::span<const NewtonWords> words, const Candidate& beside) const;
  void draw_levels(Scratch& scratch, Candidate& out) const;
  bool sides_drawn() const;
  void draw_sides(Scratch& scratch, std::uint32_t feature) const;
  Limits limits(std::uint32_t feature) const;
  Limits limits_of(std::uint32_t feature, const Profile& profile, const std::uint32_t* order) const;
  template <class RowsAt>
  BinRange rows_range(RowsAt rows_at, std::size_t n, std::size_t left, std::size_t right) const;
  std::size_t n_variants() const;
  std::size_t heaviest_level(const Profile& profile) const;
  bool try_profile(Scratch& scratch, double floor, Candidate& out) const;
  bool hides_missing(const Profile& profile) const {
    return s.params_.in_parts && profile.has_missing;
  }
  FeatureSearch among_known(Scratch& scratch, NodeSums& known) const;
  void try_numeric(Scratch& scratch, double floor, Candidate& out) const;
  bool parts_rows(std::uint32_t feature) const;
  void retire_idle(std::span<const std::int64_t> left, const std::uint32_t* place,
                   std::span<const std::uint32_t> features, Found& found) const;
  Boundary newton_cut(const std::int64_t* words, std::size_t n, std::int64_t missing,
                      const Limits& limits, double floor) const;
  bool try_cells(const std::int64_t* cells, double floor, Candidate& out) const;
  bool try_random(const ProfileSource& profiles, Scratch& scratch, Candidate& out) const;
  void draw(std::span<const Ends> ends, std::span<DrawnCut> cuts) const;
  void take_cut(const DrawnCut& cut, Candidate& out) const;
  void score_ahead(Scratch& scratch) const;
  void scan_ahead(Scratch& scratch) const;
  void try_levels(Scratch& scratch, Candidate& out) const;
  void try_multiway(Scratch& scratch, Candidate& out) const;

  bool plain(const Limits& limits) const;
  bool vectors() const { return s.stats_.kind == SumKind::newton && s.stats_.n_outputs > 1; }
  void add_up_vectors(Scratch& scratch, const std::uint32_t* order, std::size_t end) const;
  void scan_vectors(Scratch& scratch, const std::uint32_t* order, std::size_t end,
                    const Limits& limits, Boundary& best) const;
  void scan_plain(Scratch& scratch, const std::uint32_t* order, std::size_t end,
                  const Limits& limits, Boundary& best) const;
  void best_of(Scratch& scratch, std::size_t n, const double total[2], const Limits& limits,
               bool missing_left, Boundary& best) const;
  void scan_any(const Profile& profile, const std::uint32_t* order, std::size_t begin,
                std::size_t end, const Limits& limits, Boundary& best) const;
  template <class C, class M>
  void scan_with(C pair_criterion, M many_criterion, const Profile& profile,
                 const std::uint32_t* order, std::size_t begin, std::size_t end,
                 const Limits& limits, Boundary& best) const;
};

}  // namespace committee
