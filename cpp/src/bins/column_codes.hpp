// One feature's codes, row by row: from its column where the matrix keeps columns, else from the
// rows.
#pragma once

#include <algorithm>

#include "committee/bins/matrix.hpp"

namespace committee {

/// A sparse feature's codes of rows, which are asked for in ascending order, or nearly so: the next
/// entry is most often one of the next few.
class SparseColumn {
 public:
  SparseColumn(const BinnedMatrix& m, std::size_t feature)
      : row_(m.column_row.data()),
        code_(m.column_code.data()),
        begin_(m.column_begin[feature]),
        end_(m.column_begin[feature + 1]),
        at_(begin_),
        zero_(m.zero_bin[feature]) {}

  std::uint32_t operator()(RowId r) {
    const std::size_t near = std::min(end_, at_ + kNear);
    if (at_ > begin_ && row_[at_ - 1] >= r) at_ = find(begin_, at_, r);
    while (at_ < near && row_[at_] < r) ++at_;
    if (at_ == near) at_ = find(near, end_, r);
    return at_ < end_ && row_[at_] == r ? code_[at_] : zero_;
  }

 private:
  static constexpr std::size_t kNear = 8;
  std::size_t find(std::size_t begin, std::size_t end, RowId r) const {
    return static_cast<std::size_t>(std::lower_bound(row_ + begin, row_ + end, r) - row_);
  }

  const RowId* row_;
  const std::uint16_t* code_;
  std::size_t begin_, end_, at_;
  std::uint32_t zero_;
};

/// f(code of a row), by the matrix's layout.
template <class F>
auto with_codes(const BinnedMatrix& m, std::size_t feature, F f) {
  const std::size_t p = m.n_features;
  switch (m.layout) {
    case Layout::dense8: {
      if (!m.columns8.empty()) {
        const std::uint8_t* column = m.columns8.data() + feature * m.n_rows;
        return f([=](RowId r) { return column[r]; });
      }
      const std::uint8_t* codes = m.rows8() + feature;
      return f([codes, stride = m.stride8()](RowId r) { return codes[r * stride]; });
    }
    case Layout::dense16: {
      const std::uint16_t* codes = m.codes16.data() + feature;
      return f([=](RowId r) { return codes[r * p]; });
    }
    default:
      if (!m.column_begin.empty()) return f(SparseColumn(m, feature));
      return f([&](RowId r) { return m.code(r, feature); });
  }
}

}  // namespace committee
