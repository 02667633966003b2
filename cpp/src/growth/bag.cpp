// The plan of a bag, checked, and the order of what can be drawn: places are rows, slots are what
// is drawn as one, a row or a group.
#include "committee/growth/bag.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace committee {

/// A row that can be drawn, with what its place in the order depends on.
struct Bags::Place {
  std::uint64_t key = 0;  // of the row, or the code of its group
  std::uint32_t stratum = 0;
  RowId row = 0;
};

namespace {

constexpr std::uint64_t kMaxSize = kMaxRows;  // a count of draws fits 32 bits

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

void check_length(const char* name, std::size_t length, std::size_t n_rows) {
  if (length != 0 && length != n_rows) {
    refuse(std::string(name) + " has " + std::to_string(length) +
           " elements; it must be empty or have one for each of the " + std::to_string(n_rows) +
           " rows");
  }
}

void check_weight(const std::vector<double>& weight) {
  for (std::size_t r = 0; r < weight.size(); ++r) {
    if (!(weight[r] >= 0.0 && std::isfinite(weight[r]))) {
      refuse("weight of row " + std::to_string(r) + " is " + std::to_string(weight[r]) +
             "; it must be a finite number >= 0");
    }
  }
}

bool drawable(const BagPlan& plan, std::size_t row) {
  if (!plan.units.empty()) return plan.units[row] > 0;
  return plan.weight.empty() || plan.weight[row] > 0.0;
}

bool sized(Draw draw) { return draw != Draw::all && draw != Draw::exponential; }

void check_plan(std::size_t n_rows, const BagPlan& plan) {
  if (n_rows == 0 || n_rows > kMaxRows) {
    refuse("keys has " + std::to_string(n_rows) + " rows; it must have 1 to " +
           std::to_string(kMaxRows));
  }
  if (plan.draw > Draw::exponential) {
    refuse("draw is " + std::to_string(static_cast<int>(plan.draw)) +
           "; it must be all, replace, subset, poisson or exponential");
  }
  check_length("units", plan.units.size(), n_rows);
  check_length("weight", plan.weight.size(), n_rows);
  check_length("strata", plan.strata.size(), n_rows);
  check_length("groups", plan.groups.size(), n_rows);
  if (!plan.units.empty() && !plan.weight.empty()) {
    refuse("units and weight are both given; a row has one or the other");
  }
  check_weight(plan.weight);
  bool any = false;
  for (std::size_t r = 0; r < n_rows && !any; ++r) any = drawable(plan, r);
  if (!any) {
    refuse(std::string(plan.units.empty() ? "weight" : "units") +
           " is 0 for every row; at least one must be positive");
  }
  if (sized(plan.draw) && (plan.size == 0 || plan.size > kMaxSize)) {
    refuse("size is " + std::to_string(plan.size) + "; it must be 1 to " +
           std::to_string(kMaxSize));
  }
}

/// What the row multiplies into the bag when its chance does not depend on it.
std::vector<double> row_factors(const BagPlan& plan) {
  if (plan.draw != Draw::all && plan.groups.empty()) return {};
  if (!plan.units.empty()) return {plan.units.begin(), plan.units.end()};
  return plan.weight;
}

/// Sorts elements whose `key`s are mostly hashes: near enough by the top bits, then bucket by
/// bucket. The order is total, so it is the order of std::sort.
template <class Element, class Less>
void sort_by_hash(std::vector<Element>& elements, Less less) {
  const int bits = std::bit_width(elements.size()) - 3;
  if (bits <= 0) return std::sort(elements.begin(), elements.end(), less);
  const int shift = 64 - bits;
  std::vector<std::size_t> begin((std::size_t{1} << bits) + 1);
  for (const Element& e : elements) ++begin[(e.key >> shift) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  std::vector<Element> sorted(elements.size());
  for (const Element& e : elements) sorted[next[e.key >> shift]++] = e;
  for (std::size_t b = 0; b + 1 < begin.size(); ++b) {
    std::sort(sorted.begin() + static_cast<std::ptrdiff_t>(begin[b]),
              sorted.begin() + static_cast<std::ptrdiff_t>(begin[b + 1]), less);
  }
  elements = std::move(sorted);
}

/// Those who got nothing get one from whoever has most, as long as somebody has more than one.
void leave_none_out(std::vector<std::uint64_t>& given) {
  for (std::uint64_t& none : given) {
    if (none > 0) continue;
    const auto most = std::max_element(given.begin(), given.end());
    if (*most < 2) return;
    --*most;
    none = 1;
  }
}

/// Shares `size` in proportion to `mass` by largest remainder, ties to the lower index; whoever is
/// due more than its cap gets the cap, and the rest is shared anew among the others.
std::vector<std::uint64_t> share(std::uint64_t size, const std::vector<double>& mass,
                                 const std::vector<std::uint64_t>& cap) {
  std::vector<std::uint64_t> given(mass.size());
  std::vector<double> due(mass.size());
  std::vector<std::size_t> open(mass.size());
  std::iota(open.begin(), open.end(), std::size_t{0});
  for (bool again = true; std::exchange(again, false);) {
    double total = 0.0;
    for (const std::size_t i : open) total += mass[i];
    for (const std::size_t i : open) {
      due[i] = total > 0.0 ? static_cast<double>(size) * mass[i] / total : 0.0;
    }
    const auto over = [&](std::size_t i) { return due[i] > static_cast<double>(cap[i]); };
    const auto full = std::stable_partition(open.begin(), open.end(), std::not_fn(over));
    for (auto at = full; at != open.end(); ++at) {
      given[*at] = cap[*at];
      size -= cap[*at];
      again = true;
    }
    open.erase(full, open.end());
  }
  for (const std::size_t i : open) {
    given[i] = std::min(static_cast<std::uint64_t>(due[i]), size);
    size -= given[i];
    due[i] -= std::floor(due[i]);
  }
  std::stable_sort(open.begin(), open.end(),
                   [&](std::size_t a, std::size_t b) { return due[a] > due[b]; });
  for (std::size_t at = 0; size > 0; at = (at + 1) % open.size()) {
    if (given[open[at]] == cap[open[at]]) continue;
    ++given[open[at]];
    --size;
  }
  leave_none_out(given);
  return given;
}

}  // namespace

template <class Length>
void Bags::Line<Length>::build() {
  const std::size_t n = begin.size() - 1;
  scale = static_cast<double>(n) / static_cast<double>(begin[n]);
  hint.reserve(n + 2);
  for (std::size_t slot = 0; slot < n; ++slot) {
    const auto last = static_cast<std::size_t>(static_cast<double>(begin[slot + 1]) * scale);
    while (hint.size() <= last) hint.push_back(static_cast<Slot>(slot));
  }
}

Bags::Bags(std::span<const std::uint64_t> keys, BagPlan plan)
    : draw_(plan.draw), size_(plan.size), seed_(plan.seed) {
  check_plan(keys.size(), plan);
  factor_ = row_factors(plan);
  slot_.assign(keys.size(), 0);
  if (draw_ == Draw::all) return;
  const std::vector<Place> order = places(keys, plan);
  lay_out(order, plan);
  measure(order, plan);
  if (draw_ == Draw::replace || draw_ == Draw::subset) share_size();
}

std::vector<Bags::Place> Bags::places(std::span<const std::uint64_t> keys, const BagPlan& plan) {
  const bool grouped = !plan.groups.empty();
  std::vector<Place> order;
  order.reserve(keys.size());
  for (std::size_t r = 0; r < keys.size(); ++r) {
    if (!drawable(plan, r)) continue;
    order.push_back({grouped ? plan.groups[r] : keys[r], plan.strata.empty() ? 0 : plan.strata[r],
                     static_cast<RowId>(r)});
  }
  const auto weight = [&](RowId row) { return plan.weight.empty() ? 0.0 : plan.weight[row]; };
  sort_by_hash(order, [&](const Place& a, const Place& b) {
    if (a.key != b.key) return a.key < b.key;
    if (weight(a.row) != weight(b.row)) return weight(a.row) < weight(b.row);
    return a.row < b.row;
  });
  for (std::size_t i = 1; grouped && i < order.size(); ++i) {
    if (order[i].key == order[i - 1].key && order[i].stratum != order[i - 1].stratum) {
      refuse("groups has group " + std::to_string(order[i].key) + " in the strata " +
             std::to_string(order[i - 1].stratum) + " and " + std::to_string(order[i].stratum) +
             "; all rows of a group must lie in one stratum");
    }
  }
  if (!plan.strata.empty()) {
    std::stable_sort(order.begin(), order.end(),
                     [](const Place& a, const Place& b) { return a.stratum < b.stratum; });
  }
  return order;
}

void Bags::lay_out(std::span<const Place> places, const BagPlan& plan) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool new_stratum = i == 0 || places[i].stratum != places[i - 1].stratum;
    const bool same = !plan.groups.empty() && !new_stratum && places[i].key == places[i - 1].key;
    if (!same) ++n_slots_;
    if (new_stratum) strata_.push_back({n_slots_ - 1, 0, 0});
    strata_.back().end = n_slots_;
    slot_[places[i].row] = n_slots_ - 1;
  }
  for (std::size_t r = 0; r < slot_.size(); ++r) {
    if (!drawable(plan, r)) slot_[r] = n_slots_;
  }
}

void Bags::measure(std::span<const Place> places, const BagPlan& plan) {
  n_units_ = n_slots_;
  if (plan.groups.empty() && !plan.units.empty()) {
    units_.begin.assign(1, 0);
    for (const Place& p : places) {
      units_.begin.push_back(units_.begin.back() + plan.units[p.row]);
    }
    n_units_ = units_.begin.back();
    if (draw_ != Draw::replace && n_units_ > kMaxSize) {
      refuse("units add up to " + std::to_string(n_units_) + "; they must be at most " +
             std::to_string(kMaxSize) + " unless drawn with replacement");
    }
    n_units_ == n_slots_ ? units_.begin.clear() : units_.build();
  }
  if (plan.groups.empty() && !plan.weight.empty()) {
    // Relative to the largest, no sum overflows and no weight is too small to divide by.
    const double largest = *std::max_element(plan.weight.begin(), plan.weight.end());
    chances_.begin.assign(1, 0.0);
    for (const Place& p : places) {
      chance_.push_back(draw_ == Draw::exponential ? plan.weight[p.row]
                                                   : plan.weight[p.row] / largest);
      chances_.begin.push_back(chances_.begin.back() + chance_.back());
    }
    if (draw_ == Draw::replace) chances_.build();
  }
}

void Bags::share_size() {
  std::vector<double> mass;
  std::vector<std::uint64_t> cap;
  std::uint64_t most = 0;
  for (const Stratum& s : strata_) {
    const std::uint64_t units = unit_begin(s.end) - unit_begin(s.begin);
    mass.push_back(chance_.empty()
                       ? static_cast<double>(units)
                       : std::accumulate(chance_.begin() + s.begin, chance_.begin() + s.end, 0.0));
    cap.push_back(draw_ == Draw::subset ? units : size_);
    most += cap.back();
  }
  if (size_ > most) {
    refuse("size is " + std::to_string(size_) + "; without replacement it must be at most " +
           std::to_string(most) + ", the number of units that can be drawn");
  }
  const std::vector<std::uint64_t> sizes = share(size_, mass, cap);
  for (std::size_t i = 0; i < sizes.size(); ++i) strata_[i].size = sizes[i];
}

}  // namespace committee
