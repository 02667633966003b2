// A feature's profile in a node: its occupied bins, ascending, with the sums of each, and the
// missing rows apart. The split search reads nothing else, so it decides alike wherever the sums
// came from: a histogram of a large node, the rows of a small one, or shards far away.
#pragma once

#include "committee/bins/matrix.hpp"
#include "committee/sums/histogram.hpp"
#include "committee/sums/stats.hpp"

namespace committee {

struct Profile {
  std::size_t n = 0;               // occupied bins without the missing one
  std::vector<std::uint32_t> bin;  // n of them, ascending
  std::vector<std::int64_t> raw;   // n * width
  bool has_missing = false;
  std::vector<std::int64_t> missing;  // width

  void reserve(std::size_t bins, std::size_t width);
};

/// The smallest and the largest occupied bin of a feature.
struct Ends {
  std::uint32_t low = 0, high = 0;
  bool present = false;  // else no bin is occupied
  bool missing = false;
};

/// A cut that was drawn: codes up to `bin` go left.
struct DrawnCut {
  std::size_t turn = 0;  // of its feature among those tried
  std::uint32_t feature = 0, bin = 0;
  double threshold = 0;
};

inline constexpr std::size_t kLineRows = 64;  // of a line of words, at most

/// Where a node's profiles come from. Several threads may ask at once, of different features.
class ProfileSource {
 public:
  virtual ~ProfileSource() = default;
  virtual void read(std::size_t feature, Profile& out) const = 0;
  /// The sums of all bins of a feature as they lie in memory, missing rows last, where the source
  /// has them; else null.
  virtual const std::int64_t* cells(std::size_t) const { return nullptr; }
  /// The sums of few rows in the order of the bins of some features, at most 64, where the source
  /// can tell them sooner than profiles: kLineRows apart, a word for each bin, behind which may
  /// stand words of no row. A bit for each feature that was lined up: none of its rows is missing.
  virtual std::uint64_t line_up(std::span<const std::uint32_t>, std::int64_t*) const { return 0; }
  /// How many words each that was lined up has, at most kLineRows.
  virtual std::size_t n_in_line() const { return 0; }
  /// The bin of a feature's k-th word, which has rows; it was the `which`-th of those that were
  /// lined up last.
  virtual std::uint32_t bin_in_line(std::size_t, std::size_t, std::size_t) const { return 0; }
  /// Three questions that need no whole profile, for a cut that is known: where values lie; the
  /// sums of all that is at most `bin`, as the first cell of a profile of two (only that cell and
  /// the missing ones need be filled); and the same with the occupied bins next to the cut as names
  /// of the cells, both of which must be occupied.
  virtual Ends ends(std::size_t feature) const;
  virtual void sum_below(std::size_t feature, std::uint32_t bin, std::size_t width,
                         Profile& out) const;
  virtual void halves(std::size_t feature, std::uint32_t bin, std::size_t width,
                      Profile& out) const;
  /// Whether several cuts are summed together; if so, the first cells of `sum_below` for each,
  /// `width` words, or false where a row is missing.
  virtual bool sums_together() const { return false; }
  virtual bool sums_below(std::span<const DrawnCut>, std::size_t, std::int64_t*) const {
    return false;
  }
  /// These features are going to be read first: a source may sum them together.
  virtual void expect(std::span<const std::uint32_t>) const {}
  /// Features that may vary in the node, ascending, where the source knows; null: any may.
  virtual const std::vector<std::uint32_t>* varying() const { return nullptr; }
};

/// A profile from the sums of all bins: (n_bins + 1) * width words, the missing ones last.
void read_cells(const std::int64_t* sums, std::size_t n_bins, std::size_t width, Profile& out);
/// A profile joined to the two cells of `halves`, in place.
void halve(Profile& profile, std::uint32_t bin, std::size_t width);

class HistogramProfiles final : public ProfileSource {
 public:
  HistogramProfiles(const BinnedMatrix& matrix, const Stats& stats, const Histogram& histogram)
      : matrix_(matrix), width_(stats.width), histogram_(histogram) {}
  /// Zero bins of sparse rows are filled when they are read, from the sums of the node.
  HistogramProfiles(const BinnedMatrix& matrix, const Stats& stats, Histogram& histogram,
                    std::span<const std::int64_t> totals)
      : matrix_(matrix), width_(stats.width), histogram_(histogram), totals_(totals) {
    if (matrix.layout == Layout::sparse) unfilled_ = &histogram;
  }
  void read(std::size_t feature, Profile& out) const override;
  void halves(std::size_t feature, std::uint32_t bin, std::size_t width,
              Profile& out) const override;
  const std::int64_t* cells(std::size_t feature) const override {
    if (unfilled_ != nullptr) fill_zero_bin(matrix_, totals_, feature, *unfilled_);
    return histogram_.data() + matrix_.column_offset[feature] * width_;
  }

 private:
  const BinnedMatrix& matrix_;
  std::size_t width_;
  const Histogram& histogram_;
  std::span<const std::int64_t> totals_;
  Histogram* unfilled_ = nullptr;
};

}  // namespace committee
