// A row's bins with its gradient and hessian behind them, in one record that lies in one cache
// line: gathering the rows of a node then fetches one line a row, where bins and statistics apart
// would take two or three. What limits a gather is the memory it moves.
#pragma once

#include "committee/matrix.hpp"
#include "committee/stats.hpp"

namespace committee {

class RowRecords {
 public:
  /// Copies the bins of a dense8 matrix of at most 60 features; otherwise nothing is ever done.
  RowRecords(const BinnedMatrix& matrix, const Context& context);

  /// Puts the statistics into the records and tells `stats` of them, where they fit 16 bits each.
  void write(Stats& stats, const Context& context);

 private:
  std::uint8_t* base() {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data());
    return bytes_.data() + (64 - address % 64) % 64;
  }

  std::size_t n_rows_ = 0, size_ = 0;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace committee
