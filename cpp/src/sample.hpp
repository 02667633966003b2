// Which rows the cuts are taken from: the kCutSample rows with the smallest hash of (seed, row
// number). Such a bottom-k sample does not depend on the order in which rows are looked at, and
// samples of parts merge exactly.
#pragma once

#include "committee/parallel.hpp"
#include "committee/random.hpp"
#include "committee/types.hpp"

namespace committee {

class RowSample {
 public:
  RowSample(std::size_t n_rows, std::size_t size, std::uint64_t seed, const Context& context);

  bool all() const { return all_; }
  std::size_t size() const { return all_ ? n_rows_ : rows_.size(); }
  bool contains(std::size_t row) const { return all_ || key(row) <= largest_key_; }
  RowId row(std::size_t i) const { return all_ ? static_cast<RowId>(i) : rows_[i]; }
  std::span<const RowId> rows() const { return rows_; }  // ascending; empty when all()

 private:
  std::uint64_t key(std::size_t row) const { return mix(stream_, row); }
  std::vector<std::vector<RowId>> candidates(std::uint64_t bound, const Context& context) const;

  std::size_t n_rows_;
  std::uint64_t stream_;
  bool all_;
  std::uint64_t largest_key_ = 0;
  std::vector<RowId> rows_;
};

}  // namespace committee
