#include "committee/search/soft_threshold.hpp"

#include "committee/base/clones.hpp"

namespace committee {

COMMITTEE_CLONES
void score_thresholded(double l1, double l2, const double* a, const double* b, std::size_t n,
                       double total_a, double total_b, double* out) {
  const pair::Thresholded s{l1, l2};
  for (std::size_t i = 0; i < n; ++i) out[i] = s(a[i], b[i]) + s(total_a - a[i], total_b - b[i]);
}

}  // namespace committee
