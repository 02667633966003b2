// Statistics in fixed point: what a row adds to the sums of its bin, as integers, so that sums are
// exact and the same in any order, on any number of threads, shards or workers.
//
// Classification adds a row's weight to its class; regression adds (weight * y, weight); Newton
// boosting adds (gradient, hessian). Where two sums are enough they are packed in one 64-bit word,
// (a << shift) + b, which is what the histogram kernel likes best. One rule (`pack`) decides, from
// the data alone:
//   - the sums over all rows fit the two fields: histograms are single words throughout;
//   - they fit for blocks of at least kMinBlock rows: blocks are summed packed, then widened to two
//   words;
//   - otherwise each sum has a word of its own from the start.
// y is taken from its median and keeps 30 bits of its range. Heavy tails (the typical distance
// would keep fewer than 14 bits) get a second limb of 30 bits. Units are powers of two, so a weight
// of k adds exactly what the row repeated k times would add.
#pragma once

#include <cstring>
#include <optional>

#include "committee/base/parallel.hpp"
#include "committee/base/types.hpp"

namespace committee {

enum class RowForm : std::uint8_t { packed, wide, one_hot };

/// What the sums of a bin mean once decoded to float64; criteria read them.
enum class SumKind : std::uint8_t {
  classes,     // per output, per class: weight
  regression,  // per output: weight * y; then the total weight
  newton,      // per output: gradient, hessian
};

/// Room for the statistics of rows behind their bins: four bytes every `stride` bytes; or none.
struct StatRoom {
  std::uint8_t* first = nullptr;
  std::size_t stride = 0;
};

/// The word of a row whose gradient and hessian have 16 bits each.
inline std::int64_t narrow_word(const std::uint8_t* at, unsigned shift) {
  std::uint32_t both;
  std::memcpy(&both, at, sizeof(both));
  const std::int64_t gradient = static_cast<std::int32_t>(both) >> 16;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(gradient) << shift) +
         static_cast<std::int64_t>(both & 0xffffU);
}

/// The packed word of each row: behind its bins, where whoever fetches those has it, too (bundled
/// rows are only fetched to be summed) ..
struct WordsBeside {
  StatRoom room;
  unsigned shift;
  std::int64_t operator()(std::size_t r) const {
    return narrow_word(room.first + r * room.stride, shift);
  }
  void prefetch(std::size_t) const {}
};
/// .. or in an array.
struct WordsApart {
  const std::int64_t* first;
  std::int64_t operator()(std::size_t r) const { return first[r]; }
  void prefetch(std::size_t r) const { __builtin_prefetch(first + r); }
};

class Stats {
 public:
  /// codes: n_rows * n_outputs class codes; n_classes per output. weight: empty or n_rows values >=
  /// 0. `counted`: rows must be counted per bin although their weights differ (min_samples_leaf >
  /// 1).
  static Stats classes(std::span<const std::uint32_t> codes,
                       std::span<const std::uint32_t> n_classes, std::span<const double> weight,
                       bool counted);

  /// Classes of one output under a distribution that is another one at every call (boosting), made
  /// in two quick passes. Weights are rounded to units of a power of two, of which the total has
  /// 2^29 to 2^30 before rounding and less than 2^31 after: two classes share one word, and splits
  /// that differ by less than that are tied, to be told apart by the fixed rule and not by noise.
  /// Every row counts, with one unit at least: a row that has become light is still led to its leaf
  /// (rows that are to be left out must not come here, though they weigh 0). Rows are not counted
  /// per bin. All weights times a power of two: the same words, and the same sums once decoded.
  /// Throws std::invalid_argument for codes out of range, weights that are negative or not finite
  /// or all zero, and more than 2^30 rows.
  static Stats shares(std::span<const std::uint32_t> codes,
                      std::span<const std::uint32_t> n_classes, std::span<const double> weight,
                      const Context& context = {});

  /// Classes of rows that may be divided (parts.hpp): units are as fine as they can be, and rows
  /// are counted, in parts too.
  static Stats divisible(std::span<const std::uint32_t> codes,
                         std::span<const std::uint32_t> n_classes, std::span<const double> weight);

  /// y: n_rows * n_outputs finite values; y and weight are borrowed for the life of the object.
  /// `centred` subtracts the median first (squared error: an outlier must not blur the rest;
  /// Poisson needs true sums and does not).
  static Stats regression(std::span<const double> y, std::size_t n_outputs,
                          std::span<const double> weight, bool centred, bool counted);

  /// gradient, hessian: n_rows each, borrowed. bits: 16 packs well; heavier tails than that go wide
  /// by the rule.
  static Stats newton(std::span<const double> gradient, std::span<const double> hessian,
                      unsigned bits, bool counted);

  /// The same in one word whatever the tails, made quickly on all threads: what boosting uses
  /// (gradient_stats.cpp). gradient and hessian are borrowed; an empty hessian is one for every
  /// row, and then counts the rows. Hessians must be >= 0. Throws std::invalid_argument, naming the
  /// row, where a number is not finite.
  /// Rows that add nothing do not count, unless all are so: a cut between them has no gain, and
  /// which side of it they lie on is for the threshold to say.
  /// `words` may hold memory to use again (that of an earlier one). `room` takes the statistics of
  /// each row instead, where they are narrow.
  static Stats gradients(std::span<const float> gradient, std::span<const float> hessian,
                         const Context& context = {}, std::vector<std::int64_t> words = {},
                         StatRoom room = {});
  /// The same of several outputs whose tree is one (vector_gradients.cpp): a word for each output a
  /// row. gradient: n_outputs * n_rows, one output after the other; hessian too, or empty.
  static Stats vector_gradients(std::span<const float> gradient, std::span<const float> hessian,
                                std::size_t n_outputs, const Context& context = {},
                                std::vector<std::int64_t> words = {});
  /// The same of some rows alone, ascending; the others do not count.
  void restrict_to(std::vector<RowId> rows);

  // --- shape ---
  std::size_t n_rows = 0;
  SumKind kind = SumKind::classes;
  RowForm form = RowForm::packed;
  std::size_t width = 1;   // int64 words per histogram bin
  std::size_t n_sums = 2;  // float64 sums per bin once decoded (without the count)
  std::size_t n_outputs = 1;
  std::vector<std::uint32_t> n_classes;  // per output; empty unless classes

  // --- row data ---
  std::vector<std::int64_t>
      words;  // packed: one a row; wide: width a row; one_hot: the weight of the row
  /// gradients(): where both numbers of every row fit 16 bits they stand behind the bins of spread
  /// or bundled rows (matrix.hpp), and `words` is not used.
  StatRoom beside;
  std::vector<std::uint32_t>
      slots;           // one_hot: n_outputs a row, index of the sum its weight goes to
  unsigned shift = 0;  // packed: b lies in the low bits
  std::size_t block_rows =
      0;  // packed: rows that cannot overflow the fields; n_rows or more: no blocks needed

  bool beside_bins() const { return beside.first != nullptr; }
  /// body(words), packed only: where words stand is asked once, not for every row.
  template <class Body>
  void with_words(Body body) const {
    if (beside_bins()) {
      body(WordsBeside{beside, shift});
    } else {
      body(WordsApart{words.data()});
    }
  }

  bool packed_histogram() const { return form == RowForm::packed && width == 1; }
  bool has_count() const { return count_word_ >= 0; }

  /// Rows counted by the sums themselves: unit weights, or a count kept beside.
  bool counts_rows() const { return unit_weight_ || has_count(); }

  /// raw[width] -> sums[n_sums], in the user's units of weight (up to a power of two that keeps
  /// extremes finite) and in units of y's half range.
  void decode(const std::int64_t* raw, double* sums) const {
    if (!packed_histogram()) return decode_wide(raw, sums);
    sums[0] = static_cast<double>(raw[0] >> shift) * unit_[0];
    sums[1] = static_cast<double>(raw[0] & ((std::int64_t{1} << shift) - 1)) * unit_[1];
  }
  double decode_count(const std::int64_t* raw) const;  // where counts_rows()

  double unit(std::size_t sum) const { return unit_[sum]; }
  /// Both packed sums of any set of rows are below 2^52: float64 holds them exactly.
  bool small_sums() const { return small_sums_; }

  /// The rows of positive weight, ascending.
  std::vector<RowId> counted_rows() const;
  bool counts(RowId r) const;
  bool counts_all() const { return rows_.empty(); }
  std::span<const RowId> some_rows() const { return rows_; }  // those; empty where all are
  std::size_t n_counted() const { return rows_.empty() ? n_rows : rows_.size(); }

  /// Whether rows may be divided, and a row in units: of weight, and of rows (0 where not counted
  /// apart).
  bool divides() const { return divides_; }
  std::int64_t count_units() const { return has_count() ? kCountUnits : 0; }
  /// Adds so much of row r to raw[width]; rows that may be divided only.
  void add_part(RowId r, std::int64_t weight, std::int64_t count, std::int64_t* raw) const {
    for (std::size_t m = 0; m < n_outputs; ++m) raw[slots[r * n_outputs + m]] += weight;
    if (has_count()) raw[count_word_] += count;
  }

  /// Adds row r to raw[width].
  void add_row(RowId r, std::int64_t* raw) const;
  /// raw[width] = the sums of all counted rows.
  void total(std::int64_t* raw) const;

  /// Total weight of decoded sums; newton: the hessian, of several outputs the mean.
  double weight_of(const double* sums) const;

  /// Multiply to get from decoded units back to the user's.
  double weight_scale() const { return weight_scale_; }
  double y_scale() const { return y_scale_; }

  // --- exact leaf values ---
  /// Integers a leaf sums exactly. Regression: per output y, then per output its square (Poisson: y
  /// log y), then the weight units. Newton: per output gradient, hessian. Classes: none, their sums
  /// are exact already.
  std::size_t fine_width() const {
    if (kind == SumKind::classes) return 0;
    return 2 * n_outputs + (kind == SumKind::newton ? 0 : 1);
  }
  void add_fine(std::span<const RowId> rows, __int128* fine) const;
  /// gradients() of one output: adds the counted rows [begin, end), at most kFineRun of them, to
  /// sums[2 * leaf_of[row]] and its neighbour, in one pass over the rows as they lie; to one of
  /// kFineCopies such arrays, which begin `apart` numbers from each other.
  void add_fine(std::size_t begin, std::size_t end, const std::uint32_t* leaf_of,
                std::int64_t* sums, std::size_t apart) const;
  static constexpr std::size_t kFineCopies = 4;
  static constexpr std::size_t kFineRun = std::size_t{1} << 20;  // rows whose sums fit 64 bits
  double fine_value(const __int128* fine,
                    std::size_t column) const;  // the weighted mean, or the sum for newton
  /// Regression: the variance of y, or where y is not centred (Poisson) the mean half deviance.
  double fine_impurity(const __int128* fine, std::size_t column) const;
  double fine_total(const __int128* fine) const;  // regression: the weight, in the user's units
  double centre(std::size_t output) const { return centre_[output]; }

  std::span<const double> y;         // regression: borrowed
  std::span<const double> gradient;  // newton: borrowed
  std::span<const double> hessian;
  std::span<const float> gradient32, hessian32;  // of gradients(): borrowed
  /// gradients(): no row's hessian exceeds it once rounded, decoded; of several outputs the mean.
  double most_hessian() const { return most_hessian_; }
  /// gradients(): what a split of so many rows that are all alike may seem to gain, because each is
  /// rounded by a unit at random, and sums by the last bit of float64 all alike. `weight` is the
  /// hessian of the rows.
  double gain_noise(double rows, double weight) const;

  /// Integer weight of a row in units (1 where unweighted); not kept by newton and shares.
  std::int64_t weight_units(RowId r) const { return weight_units_.empty() ? 1 : weight_units_[r]; }
  /// y of one output in units of 2^-30 or 2^-60 of y_scale (regression).
  std::int64_t y_units(RowId r, std::size_t output, std::size_t limbs = 1) const;

 private:
  static constexpr std::int64_t kCountUnits = 1 << 20;  // of a row that may be divided

  void decode_wide(const std::int64_t* raw, double* sums) const;
  void add_gradients(std::span<const RowId> some, __int128* fine) const;
  void release_rows();
  void leave_out_idle();
  void refine_weights();
  void store_one_hot(std::span<const std::uint32_t> codes, bool counted);
  void set_shares(std::span<const std::uint32_t> codes, std::uint32_t n_classes_of,
                  std::span<const double> weight, double scale, int exponent,
                  const Context& context);
  void use_weights(std::span<const double> weight, std::size_t n, int limit_bits);
  /// a(row), b(row): the two sums of a row; words are made of them without a copy in between.
  template <class A, class B>
  void pack(A a, B b);
  void store_wide(std::span<const std::vector<std::int64_t>> columns);
  void scale_targets(bool centred);
  bool heavy_tailed() const;
  std::int64_t fine_weight(RowId r) const;
  int square_exponent() const;

  std::vector<RowId> rows_;   // those of positive weight; once built, empty where all are
  std::vector<double> unit_;  // per decoded sum: one unit of it, a power of two
  double weight_scale_ = 1;   // decoded weight to the user's
  double y_scale_ = 1;        // decoded y to the user's
  bool unit_weight_ = true;   // every counted row weighs one unit of 1.0
  bool small_sums_ = false;
  std::optional<std::int64_t> total_;       // packed in one word, where known already
  std::size_t limbs_ = 1;                   // words per y
  int count_word_ = -1;                     // where the count lies in a wide bin
  bool divides_ = false;                    // counts are in units
  double weight_unit_ = 1;                  // one unit of weight, decoded
  std::vector<std::int64_t> weight_units_;  // empty where unweighted
  std::span<const double>
      weight_;  // the user's, borrowed, where units had to round them; else empty
  int fine_weight_exponent_ = 0;
  std::vector<double> centre_;  // per output
  bool centred_ = true;
  double most_hessian_ = 0;
  double square_unit_ = 0, square_most_ = 0;  // gradients(): squares of the unit and the largest
  int y_exponent_ = 0;                        // y in units: rint((y - centre) * 2^y_exponent)
  std::vector<int> fine_exponent_ = {0, 0};   // fine columns: rint(value * 2^fine_exponent)
};

}  // namespace committee
