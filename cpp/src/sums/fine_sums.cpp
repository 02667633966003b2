// Exact sums for leaf values: finer than what splits need, so that no rounding of theirs reaches a
// leaf.
#include <algorithm>

#include "committee/base/det_math.hpp"
#include "committee/sums/stats.hpp"
#include "sums/units.hpp"

namespace committee {

int Stats::square_exponent() const {
  return y_exponent_ - kYBits + (weight_.empty() ? kSquareBits : kRoundBits / 2);
}

/// Rows take turns at the copies: one that adds to what the row before it has just written, as most
/// do where a leaf holds most rows, would wait for it.
void Stats::add_fine(std::size_t begin, std::size_t end, const std::uint32_t* leaf_of,
                     std::int64_t* sums, std::size_t apart) const {
  const double g_scale = std::ldexp(1.0, fine_exponent_[0]);
  const double h_scale = std::ldexp(1.0, fine_exponent_[1]);
  const auto add = [&](auto row_at, auto hessian_units) {
    for (std::size_t i = begin; i < end; ++i) {
      const RowId r = row_at(i);
      std::int64_t* const own = sums + i % kFineCopies * apart + 2 * std::size_t{leaf_of[r]};
      own[0] += nearest(static_cast<double>(gradient32[r]) * g_scale);
      own[1] += hessian_units(r);
    }
  };
  const auto for_hessian = [&](auto row_at) {
    if (hessian32.empty()) {
      add(row_at, [](RowId) { return std::int64_t{1} << (kSquareBits - 1); });  // 1 = 2^-1 2^1
    } else {
      add(row_at, [&](RowId r) { return nearest(static_cast<double>(hessian32[r]) * h_scale); });
    }
  };
  if (rows_.empty()) {
    for_hessian([](std::size_t i) { return static_cast<RowId>(i); });
  } else {
    for_hessian([&](std::size_t i) { return rows_[i]; });
  }
}

/// The nearest integer as in gradient_stats.cpp.
void Stats::add_gradients(std::span<const RowId> some, __int128* fine) const {
  for (std::size_t m = 0; m < n_outputs; ++m) {
    const float* const gradients = gradient32.data() + m * n_rows;
    const float* const hessians = hessian32.empty() ? nullptr : hessian32.data() + m * n_rows;
    const double g_scale = std::ldexp(1.0, fine_exponent_[2 * m]);
    const double h_scale = std::ldexp(1.0, fine_exponent_[2 * m + 1]);
    for (std::size_t begin = 0; begin < some.size(); begin += kFineRun) {
      const auto run = some.subspan(begin, std::min(kFineRun, some.size() - begin));
      std::int64_t g = 0, h = 0;
      if (hessians == nullptr) {
        for (const RowId r : run) g += nearest(static_cast<double>(gradients[r]) * g_scale);
        h = static_cast<std::int64_t>(run.size()) << (kSquareBits - 1);  // 1 = 2^-1 2^1
      } else {
        for (const RowId r : run) {
          g += nearest(static_cast<double>(gradients[r]) * g_scale);
          h += nearest(static_cast<double>(hessians[r]) * h_scale);
        }
      }
      fine[2 * m] += g;
      fine[2 * m + 1] += h;
    }
  }
}

void Stats::add_fine(std::span<const RowId> some, __int128* fine) const {
  if (!gradient32.empty()) return add_gradients(some, fine);
  if (kind == SumKind::newton) {
    for (const RowId r : some) {
      fine[0] += to_units(gradient[r], fine_exponent_[0]);
      fine[1] += to_units(hessian[r], fine_exponent_[1]);
    }
    return;
  }
  if (kind == SumKind::classes) return;
  for (const RowId r : some) {
    const std::int64_t w = fine_weight(r);
    fine[2 * n_outputs] += w;
    for (std::size_t m = 0; m < n_outputs; ++m) {
      const double v = y[r * n_outputs + m];
      fine[m] += to_wide_units(v, fine_exponent_[0]) * w;
      if (centred_) {
        const std::int64_t q = to_units(v - centre_[m], square_exponent());
        fine[n_outputs + m] += static_cast<__int128>(q) * q * w;
      } else {
        fine[n_outputs + m] += static_cast<__int128>(to_units(x_log_x(v), fine_exponent_[1])) * w;
      }
    }
  }
}

double Stats::fine_value(const __int128* fine, std::size_t column) const {
  if (kind == SumKind::newton) return std::ldexp(to_double(fine[column]), -fine_exponent_[column]);
  return std::ldexp(to_double(divide_rounded(fine[column], fine[2 * n_outputs])),
                    -fine_exponent_[0]);
}

double Stats::fine_total(const __int128* fine) const {
  const double units = to_double(fine[2 * n_outputs]);
  return weight_.empty() ? units * weight_unit_ * weight_scale_
                         : std::ldexp(units, -fine_weight_exponent_);
}

double Stats::fine_impurity(const __int128* fine, std::size_t column) const {
  const double mean = fine_value(fine, column);
  const double square = to_double(fine[n_outputs + column]) / to_double(fine[2 * n_outputs]);
  if (!centred_) return std::max(0.0, std::ldexp(square, -fine_exponent_[1]) - x_log_x(mean));
  const double away = mean - centre_[column];
  return std::max(0.0, std::ldexp(square, -2 * square_exponent()) - away * away);
}

}  // namespace committee
