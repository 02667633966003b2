// Small nodes, where a 255-bin scan would be wasted: their rows are copied once into a block,
// column by column, and profiles are made from the rows themselves, touching only the bins that
// occur. A whole subtree is grown inside the block, in the first caches. Deep unpruned trees spend
// most of their time here. Sparse rows of few bins have something better: few_rows.hpp.
#pragma once

#include "committee/growth/partition.hpp"
#include "committee/sums/profile.hpp"

namespace committee {

/// Rows of a node below which it is cheaper to read rows than to build the smaller child's
/// histogram and scan its bins. One tree on 100k x 28, seconds with 32, 64, 128 and 512 rows: 0.20,
/// 0.25, 0.26, 0.32; boosted trees on 1000 x 10, microseconds with 32, 48, 64 and 96: 93, 91, 91,
/// 103; on 5000 x 2000, milliseconds with 32, 64, 128, 256 and 512: 73, 78, 69, 85, 91. Histograms
/// that leave the second cache, or have many words a bin, lose much earlier where cuts cost more.
/// Blocks by row, which make no profiles, are good up to kMaxBlockRows.
std::size_t block_rows(const BinnedMatrix& matrix, const Stats& stats, bool by_row);
inline constexpr std::size_t kMaxBlockRows = 4096;     // whose sums one packed word holds
inline constexpr std::size_t kMaxBlockFeatures = 256;  // of a block by row

class Block final : public ProfileSource {
 public:
  /// by_row: rows are kept whole, as in the matrix. Then where values lie (`ends`) is found for all
  /// features in one pass, which is most of what a drawn cut needs. Needs a dense8 matrix.
  Block(const BinnedMatrix& matrix, const Stats& stats, bool by_row = false);

  /// Takes rows.size() <= kMaxBlockRows rows; they stay in this order until divided.
  void load(std::span<const RowId> rows);

  /// Profiles are of positions [begin, end) from now on.
  void focus(std::size_t begin, std::size_t end);
  void read(std::size_t feature, Profile& out) const override;
  std::uint64_t line_up(std::span<const std::uint32_t> features,
                        std::int64_t* words) const override;
  std::size_t n_in_line() const override;
  std::uint32_t bin_in_line(std::size_t feature, std::size_t which, std::size_t k) const override;
  Ends ends(std::size_t feature) const override;
  void sum_below(std::size_t feature, std::uint32_t bin, std::size_t width,
                 Profile& out) const override;
  void halves(std::size_t feature, std::uint32_t bin, std::size_t width,
              Profile& out) const override;
  bool sums_together() const override { return by_row_ && stats_.form == RowForm::packed; }
  bool sums_below(std::span<const DrawnCut> cuts, std::size_t width,
                  std::int64_t* sums) const override;
  const std::vector<std::uint32_t>* varying() const override;

  /// Divides positions [begin, end) by a split; returns how many go left.
  std::size_t divide(std::size_t begin, std::size_t end, const Split& split);
  RowId row(std::size_t position) const { return rows_[order_[position]]; }
  std::size_t size() const { return rows_.size(); }

 private:
  void load_bytes();
  void load_pairs();
  void load_rows();
  void load_sparse();
  void place_rows(std::size_t begin, std::size_t end);
  void add_to_cell(std::size_t position, std::int64_t* cell) const;
  void sum_focus();
  void read_sparse(std::size_t feature, Profile& out) const;
  std::size_t make_room(std::size_t n_bins, std::size_t n, Profile& out) const;
  void take_packed(std::size_t n_words, Profile& out) const;
  void take_wide(std::size_t n_words, Profile& out) const;
  void part_missing(std::size_t n_bins, Profile& out) const;
  template <class CodeAt>
  void read_packed(CodeAt code_at, std::size_t n_words, Profile& out) const;
  template <class CodeAt>
  void read_wide(CodeAt code_at, std::size_t n_words, Profile& out) const;
  template <class CodeAt>
  void read_rows(CodeAt code_at, std::size_t n_bins, Profile& out) const;
  bool complete(std::size_t feature) const;
  bool has_lines() const;
  const std::uint8_t* line_codes(std::size_t feature, std::uint8_t* room) const;
  void spread(std::int64_t word, std::size_t width, std::int64_t* raw) const;
  template <std::size_t kN>
  void add_below(const DrawnCut* cuts, std::int64_t* sums) const;
  void load_words();
  void count_below(std::span<const DrawnCut> cuts) const;
  bool counted(std::size_t feature, std::uint32_t bin) const;
  std::int64_t word_below(std::size_t feature) const;
  template <class CodeAt, class LeftOf, class Word>
  std::size_t divide_rows(CodeAt code_at, LeftOf left_of, std::size_t begin, std::size_t end,
                          Word* word, Word* spare_word);
  template <class CodeAt, class LeftOf>
  std::size_t divide_by(CodeAt code_at, LeftOf left_of, std::size_t begin, std::size_t end);
  template <class Use>
  auto with_column(std::size_t feature, Use use) const;
  std::uint32_t sparse_code(std::size_t feature, std::size_t local) const;

  const BinnedMatrix& matrix_;
  const Stats& stats_;
  std::vector<RowId> rows_;
  std::vector<std::uint16_t> order_, spare_order_;
  bool divided_ = false;  // else rows stand in the order in which they came
  std::vector<std::int64_t> words_, spare_words_;  // packed rows, in order; or, by row,
  bool two_worded_ = false;                        // where they are one of two,
  std::int64_t two_words_[2] = {};
  std::vector<std::uint8_t> second_, spare_second_;  // 0xff for the second, 0 for the first
  bool by_row_;
  std::size_t stride_;  // by row: bytes from row to row
  std::vector<std::uint8_t> rows8_;
  std::size_t apart_ = 0;  // by column: bytes from one to the next, zeros behind the rows
  std::vector<std::uint8_t> columns8_;
  std::vector<std::uint16_t> columns16_;
  mutable std::vector<std::uint8_t> line_place_;  // of the rows of each feature lined up last

  struct Entry {
    std::uint32_t feature;
    std::uint16_t code;
    std::uint16_t local;
  };
  std::vector<Entry> entries_;          // sparse: by feature, then local row
  std::vector<std::uint32_t> present_;  // features with entries, ascending
  std::vector<std::uint32_t> present_begin_;
  std::vector<std::uint16_t> place_;      // sparse: where each row stands in the order
  std::vector<std::int64_t> focus_sums_;  // sparse: of the rows of the focus
  mutable std::vector<std::int64_t> scratch_;
  std::size_t begin_ = 0, end_ = 0;
  mutable bool bounded_ = false;                  // low_ and high_ are of the focus
  mutable std::vector<std::uint8_t> low_, high_;  // by row: per feature
  // By row, two words: what the last cuts of the focus left below them, per feature.
  mutable std::vector<std::uint32_t> cut_features_;
  mutable std::vector<std::uint8_t> cut_, below_, above_;
  mutable std::vector<std::uint32_t> n_below_, n_second_below_;
  // Workspace of read(): always zero between calls. A block serves one thread.
  mutable std::vector<std::int64_t> cells_;
  mutable std::vector<std::uint64_t> seen_;  // a byte for each code, eight to a word
};

}  // namespace committee
