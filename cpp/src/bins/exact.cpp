// Values already known are recognised by the branch-free search; the others wait in a list that is
// merged when it is long, so that the table is seldom rebuilt.
#include "bins/exact.hpp"

#include <algorithm>
#include <iterator>

namespace committee {
namespace {
constexpr std::size_t kChunk = 512;
constexpr std::size_t kUnknown = 4096;
}  // namespace

ExactValues::ExactValues(std::vector<double> known, std::size_t most)
    : known_(std::move(known)), most_(most), table_(known_, kUnknown) {}

void ExactValues::add(const double* x, std::size_t n) {
  for (std::size_t i = 0; i < n && !too_many_; i += kChunk) {
    collect_unknown(x + i, std::min(kChunk, n - i));
  }
}

void ExactValues::collect_unknown(const double* x, std::size_t n) {
  std::uint16_t at[kChunk];
  table_.count_below(x, n, at);
  const double* known = table_.padded();
  std::size_t strangers = 0;
  for (std::size_t i = 0; i < n; ++i) strangers += known[at[i]] != x[i] && x[i] == x[i] ? 1 : 0;
  if (strangers == 0) return;
  for (std::size_t i = 0; i < n; ++i) {
    if (known[at[i]] != x[i] && x[i] == x[i]) unknown_.push_back(x[i] + 0.0);
  }
  if (unknown_.size() >= kUnknown) merge();
}

void ExactValues::merge() {
  std::sort(unknown_.begin(), unknown_.end());
  unknown_.erase(std::unique(unknown_.begin(), unknown_.end()), unknown_.end());
  std::vector<double> both;
  std::set_union(known_.begin(), known_.end(), unknown_.begin(), unknown_.end(),
                 std::back_inserter(both));
  unknown_.clear();
  too_many_ = both.size() > most_;
  if (too_many_) return;
  known_ = std::move(both);
  table_ = SearchTable<double>(known_, kUnknown);
}

std::vector<double> ExactValues::take() {
  if (!too_many_) merge();
  return too_many_ ? std::vector<double>{} : std::move(known_);
}

}  // namespace committee
