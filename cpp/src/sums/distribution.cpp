#include "committee/sums/distribution.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "committee/base/clones.hpp"
#include "committee/base/det_math.hpp"

namespace committee {
namespace {

constexpr std::size_t kChunkRows = 16384;  // fixed: the order of additions must not vary
constexpr std::size_t kLanes = 8;          // sums side by side, in any instruction set

COMMITTEE_CLONES
double largest(const double* x, std::size_t n) {
  double most = -std::numeric_limits<double>::infinity();
  bool is_number = true;
  for (std::size_t i = 0; i < n; ++i) {
    most = x[i] > most ? x[i] : most;
    is_number &= x[i] == x[i];
  }
  return is_number ? most : std::numeric_limits<double>::quiet_NaN();
}

COMMITTEE_CLONES
double write_exponentials(const double* x, std::size_t n, double most, double* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = det_exp(x[i] - most);
  double sums[kLanes] = {};
  const std::size_t whole = n - n % kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) sums[k] += out[i + k];
  }
  for (std::size_t i = whole; i < n; ++i) sums[i - whole] += out[i];
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

COMMITTEE_CLONES
void divide(double* x, std::size_t n, double by) {
  for (std::size_t i = 0; i < n; ++i) x[i] /= by;
}

}  // namespace

void distribution(std::span<const double> log_weight, std::span<double> out,
                  const Context& context) {
  const std::size_t n = log_weight.size(), n_chunks = (n + kChunkRows - 1) / kChunkRows;
  std::vector<double> parts(n_chunks);
  const auto over_chunks = [&](auto body) {
    parallel_for(n_chunks, context, [&](std::size_t k, int) {
      body(k, k * kChunkRows, std::min(kChunkRows, n - k * kChunkRows));
    });
  };
  over_chunks([&](std::size_t k, std::size_t first, std::size_t size) {
    parts[k] = largest(log_weight.data() + first, size);
  });
  double most = -std::numeric_limits<double>::infinity();
  for (const double part : parts) most = !(part <= most) ? part : most;  // NaN stays
  if (!(most - most == 0)) {
    throw std::invalid_argument(
        "logarithms of weights must be numbers below infinity, not all -infinity");
  }
  over_chunks([&](std::size_t k, std::size_t first, std::size_t size) {
    parts[k] = write_exponentials(log_weight.data() + first, size, most, out.data() + first);
  });
  double total = 0;
  for (const double part : parts) total += part;
  over_chunks([&](std::size_t, std::size_t first, std::size_t size) {
    divide(out.data() + first, size, total);
  });
}

}  // namespace committee
