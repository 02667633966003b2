// Keys of rows: 64 bits that are equal for equal content. Whatever is drawn by them does not depend
// on the order of rows.
#pragma once

#include "committee/base/parallel.hpp"
#include "committee/bins/input.hpp"
#include "committee/bins/matrix.hpp"

namespace committee {

/// A hash of each row's codes and target values (n_rows x n_outputs, row-major): equal for equal
/// rows, in any layout and for any number of threads.
std::vector<std::uint64_t> row_keys(const BinnedMatrix& matrix, std::span<const double> target,
                                    std::size_t n_outputs, const Context& context);

/// The same from the values themselves, as float64: the keys do not depend on the number type, on
/// the order in memory, or on which zeros are stored. -0 is 0 and all NaN are one.
std::vector<std::uint64_t> table_keys(const Input& input, std::span<const double> target,
                                      std::size_t n_outputs, const Context& context);

}  // namespace committee
