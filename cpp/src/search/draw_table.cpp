#include "search/draw_table.hpp"

#include <algorithm>
#include <limits>

#include "committee/base/clones.hpp"

namespace committee {
namespace {

constexpr std::size_t kStep = 16;
constexpr double kEnd = std::numeric_limits<double>::infinity();

COMMITTEE_CLONES
std::uint32_t count_in_step(const double* value, double t) {
  std::uint64_t n = 0;
  for (std::size_t i = 0; i < kStep; ++i) n += value[i] <= t ? 1 : 0;
  return static_cast<std::uint32_t>(n);
}

}  // namespace

DrawTable::DrawTable(const BinMapper& mapper) {
  for (std::size_t f = 0; f < mapper.n_features(); ++f) {
    const std::vector<double>& ends = mapper.feature(f).gap_low;
    value_.insert(value_.end(), ends.begin(), ends.end());
    value_.resize((value_.size() + kStep) / kStep * kStep, kEnd);  // one end at least
    for (std::size_t step = 1; step <= kStep; ++step) {
      const std::size_t at = begin_[f] + step * kStep;
      first_.push_back(at < value_.size() ? value_[at] : kEnd);
    }
    begin_.push_back(value_.size());
  }
}

std::uint32_t DrawTable::count(std::size_t feature, double t) const {
  const double* value = value_.data() + begin_[feature];
  const std::size_t n = begin_[feature + 1] - begin_[feature];
  if (n > kStep * kStep) {  // sixteen steps do not hold them
    return static_cast<std::uint32_t>(std::upper_bound(value, value + n, t) - value);
  }
  const std::uint32_t step = count_in_step(first_.data() + feature * kStep, t);
  return static_cast<std::uint32_t>(step * kStep) + count_in_step(value + step * kStep, t);
}

}  // namespace committee
