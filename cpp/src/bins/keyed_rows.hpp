// What keys from codes and keys from values share.
#pragma once

#include <algorithm>
#include <bit>

#include "committee/bins/row_keys.hpp"

namespace committee {

inline constexpr std::size_t kKeyedRows = 8192;  // of one task

/// Calls body(begin, end) for ranges of at most kKeyedRows rows, in parallel.
template <class Body>
void for_row_ranges(std::size_t n_rows, const Context& context, const Body& body) {
  parallel_for((n_rows + kKeyedRows - 1) / kKeyedRows, context, [&](std::size_t task, int) {
    body(task * kKeyedRows, std::min(n_rows, (task + 1) * kKeyedRows));
  });
}

/// The bits of a number, with one zero and one NaN.
inline std::uint64_t canonical(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x + 0.0);
  const std::uint64_t missing = x != x ? ~0ULL : 0;
  return (bits & ~missing) | (0x7ff8000000000000ULL & missing);  // without a branch: vectorises
}

/// Throws std::invalid_argument unless there are n_outputs values for each row.
void check_target(std::size_t n_rows, std::span<const double> target, std::size_t n_outputs);

/// Makes keys of the rows' sums and targets.
void mix_target(std::span<std::uint64_t> keys, std::span<const double> target,
                std::size_t n_outputs, const Context& context);

}  // namespace committee
