// The histogram kernel of rows that add several words to a bin.
#pragma once

#include "committee/base/types.hpp"

namespace committee {

/// out[(kApart8 f + code of feature f) * width + j] += words[row * width + j] for all features of
/// the rows; codes are one byte each, p a row, rows `stride` bytes apart.
void add_wide8(const std::uint8_t* codes, std::size_t stride, std::size_t p, const RowId* rows,
               std::size_t n_rows, const std::int64_t* words, std::size_t width, std::int64_t* out);

}  // namespace committee
