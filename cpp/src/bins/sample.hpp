// Which rows the cuts are taken from: one row of each of the `size` contents with the smallest hash
// of (seed, content), where equal rows are one content that carries their mass together. So a cut
// depends on what the rows hold, never on their order: a row of weight k is k rows, one of weight 0
// is none. Such bottom-k samples of parts merge exactly, whatever the parts.
#pragma once

#include "bins/cuts.hpp"
#include "committee/base/parallel.hpp"
#include "committee/base/random.hpp"

namespace committee {

class RowSample {
 public:
  /// weight: empty (all one) or n_rows values, those of weight zero stay out.
  RowSample(const Input& input, std::span<const double> weight, const MassScale& scale,
            std::size_t size, std::uint64_t seed, const Context& context);

  /// No more rows than asked for: the sample is all of them, equal or not, whatever their weight.
  bool every_row() const { return every_row_; }
  /// Every content is in the sample.
  bool every_content() const { return every_content_; }

  std::size_t size() const { return every_row_ ? n_rows_ : rows_.size(); }
  std::span<const RowId> rows() const { return rows_; }  // ascending; empty for every_row()
  /// Of each sampled row; empty: one each.
  std::span<const std::uint64_t> mass() const { return mass_; }

  bool contains(std::size_t row) const {
    return every_row_ || (taken_[row / 64] >> row % 64 & 1) != 0;
  }
  /// The position in rows() of a row that the sample contains.
  std::size_t position(std::size_t row) const;

 private:
  struct Content {
    std::uint64_t key, mass;
    RowId row;  // one of those that hold it
    friend std::uint64_t key_of(const Content& content) { return content.key; }
  };

  std::vector<Content> draw(std::span<const std::uint64_t> keys, std::span<const double> weight,
                            const MassScale& scale, std::size_t size, const Context& context);
  static std::vector<Content> merge(std::span<const Content> a, std::span<const Content> b,
                                    std::size_t most);
  void keep(std::span<const Content> drawn);

  std::size_t n_rows_;
  bool every_row_;
  bool every_content_;
  std::vector<RowId> rows_;
  std::vector<std::uint64_t> mass_;
  std::vector<std::uint64_t> taken_;   // a bit for each row
  std::vector<std::uint32_t> before_;  // rows taken before each word of taken_
};

}  // namespace committee
