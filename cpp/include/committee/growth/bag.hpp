// Bags: which rows each member of a committee sees, and how much of each.
//
// A bag is a function of (seed, member, content of the rows). What is drawn are units: a row, or as
// many as its whole-number weight says, or a group of rows. Units are numbered in the order
// (stratum, key of the row), where the key is a hash of the row's content. So shuffling the rows
// shuffles the bag and nothing else, and k copies of a row, which stand side by side, are together
// drawn exactly as often as one row of k units.
#pragma once

#include "committee/base/random.hpp"
#include "committee/base/types.hpp"

namespace committee {

enum class Draw : std::uint8_t {
  all,         // every row, as it is
  replace,     // `size` draws with replacement: the bootstrap (Efron 1979)
  subset,      // `size` draws without replacement
  poisson,     // each unit Poisson(size / number of units) times (Oza & Russell 2001)
  exponential  // each unit weighs Exp(1): wagging (Bauer & Kohavi 1999), the Bayesian bootstrap
};

/// How bags are drawn. The vectors are empty or have one element for each row.
struct BagPlan {
  Draw draw = Draw::replace;
  std::uint64_t size = 0;  // of the bag, in units; at least 1, but all and exponential do not ask
  std::uint64_t seed = 0;

  /// The row stands for this many units, 0 for none. Not together with weight.
  std::vector<std::uint32_t> units;

  /// The row's relative chance, any finite number >= 0 (then each row is one unit): replace draws
  /// in proportion, subset one after another in proportion to what is left, poisson has the rate
  /// weight * size / sum, exponential weighs weight * Exp(1).
  std::vector<double> weight;

  /// replace and subset draw within each stratum: sizes in proportion to its units (sum of weights)
  /// by largest remainder, ties to the lower stratum, but one at least as long as there are as many
  /// draws as strata; a weighted stratum that has fewer rows than its share gives all, and the
  /// others share the rest. The independent units of poisson and exponential keep the proportions
  /// by themselves. Any codes.
  std::vector<std::uint32_t> strata;

  /// The rows of one group are drawn together: each group is one unit, in the order of the codes
  /// (any), whatever its rows weigh; units or weight then only multiply the row's weight in the
  /// bag. Groups whose rows all have units (weight) 0 are never drawn. With strata, a group lies in
  /// one stratum.
  std::vector<std::uint32_t> groups;
};

class Bags {
 public:
  /// One key for each row, as of row_keys.hpp. O(n log n). Throws std::invalid_argument, naming
  /// the argument, for anything the plan's contract does not allow.
  Bags(std::span<const std::uint64_t> keys, BagPlan plan);

  std::size_t n_rows() const { return slot_.size(); }
  std::uint64_t size() const { return size_; }
  bool all_alike() const { return draw_ == Draw::all; }  // every member has the same bag

  /// How often (how much) each row is in the member's bag; 0 where it is not. For Draw::all the
  /// row's units or weight, or 1. A Poisson bag that came out empty is drawn again. Any thread may
  /// ask, in any order: O(n_rows + size) and, except for replace, O(n_units).
  void draw(std::uint64_t member, std::span<double> weight) const;

  /// The rows of weight 0 in that bag: bit r % 8 of byte r / 8 is 1 where row r is left out, for
  /// (n_rows + 7) / 8 bytes. Rows that can never be drawn are not left out.
  void left_out(std::uint64_t member, std::span<std::uint8_t> bits) const;

 private:
  /// A place in the order of what can be drawn: one row (or group) with its units or its chance.
  using Slot = std::uint32_t;

  struct Stratum {
    Slot begin = 0, end = 0;
    std::uint64_t size = 0;  // of the bag
  };

  /// Slots side by side on a line, each as long as its units or chance: which one holds x? O(1) on
  /// average for a uniform x, by a table of where to begin (Chen & Asau 1974).
  template <class Length>
  struct Line {
    std::vector<Length> begin;  // one more than slots
    std::vector<Slot> hint;
    double scale = 0;

    void build();
    Slot at(Length x) const;
  };

  struct Place;

  static std::vector<Place> places(std::span<const std::uint64_t> keys, const BagPlan& plan);
  void lay_out(std::span<const Place> places, const BagPlan& plan);
  void measure(std::span<const Place> places, const BagPlan& plan);
  void share_size();
  std::uint64_t unit_begin(Slot slot) const {
    return units_.begin.empty() ? slot : units_.begin[slot];
  }
  Slot slot_of_unit(std::uint64_t unit) const;
  void draw_replace(KeyedStream stream, std::span<std::uint32_t> count) const;
  void draw_subset(KeyedStream stream, std::span<std::uint32_t> count) const;
  void draw_smallest(KeyedStream& stream, const Stratum& stratum,
                     std::span<std::uint32_t> count) const;
  void draw_poisson(KeyedStream stream, std::span<double> amount) const;
  void draw_exponential(KeyedStream stream, std::span<double> amount) const;
  template <class Visit>
  void visit_weights(std::uint64_t member, Visit visit) const;

  Draw draw_;
  std::uint64_t size_;
  std::uint64_t seed_;
  std::uint64_t n_units_ = 0;
  Slot n_slots_ = 0;
  std::vector<Slot> slot_;       // of each row; n_slots_ for rows that are never drawn
  std::vector<double> factor_;   // of each row, times what is drawn; empty: 1
  std::vector<Stratum> strata_;  // in the order of their codes; one when there are none
  Line<std::uint64_t> units_;    // empty: each slot is one unit
  Line<double> chances_;         // empty: units decide
  std::vector<double> chance_;   // of each slot, in units of the largest; empty: units decide
};

}  // namespace committee
