// A penalty alpha |value| on Newton's leaves (L1; Chen and Guestrin 2016, as XGBoost has it): the
// gradient of a leaf is drawn towards 0 by alpha before its square is taken. Scores of its own, so
// that fits without the penalty run what they always ran.
#pragma once

#include <cstddef>

namespace committee {

/// What minimises (x - a)^2 / 2 + l1 |x|.
inline double soft_threshold(double a, double l1) {
  return a > l1 ? a - l1 : a < -l1 ? a + l1 : 0.0;
}

namespace pair {

struct Thresholded {  // gradient, hessian
  double l1 = 0, l2 = 0;
  double operator()(double a, double b) const {
    const double h = b + l2, g = soft_threshold(a, l1);
    return h > 0 ? g * g / h : 0.0;
  }
};

}  // namespace pair

/// score_boundaries of it.
void score_thresholded(double l1, double l2, const double* a, const double* b, std::size_t n,
                       double total_a, double total_b, double* out);

}  // namespace committee
