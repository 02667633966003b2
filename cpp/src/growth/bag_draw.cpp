// The draws themselves. Each fills one amount for each slot and then hands it to the rows: random
// access into the small array of amounts only.
#include <algorithm>
#include <utility>

#include "committee/base/det_math.hpp"
#include "committee/growth/bag.hpp"

namespace committee {
namespace {

constexpr double kMaxRate = 500.0;  // exp(-kMaxRate) is a normal number

/// Uniform in (0, 1), 52 bits: neither end, so its logarithm is finite and below 0.
double open_uniform(KeyedStream& stream) {
  return (static_cast<double>(stream.next() >> 12) + 0.5) * 0x1.0p-52;
}

double exponential(KeyedStream& stream) { return -det_log(open_uniform(stream)); }

/// One Poisson count by inversion: the first k whose cumulative probability lies above a uniform.
/// The search also ends where rounding ends it, in the far tail.
double invert_poisson(KeyedStream& stream, double rate) {
  const double u = stream.uniform();
  double term = det_exp(-rate);
  double below = term;
  double k = 0.0;
  while (u >= below) {
    k += 1.0;
    term *= rate / k;
    const double next = below + term;
    if (next == below && k > rate) break;
    below = next;
  }
  return k;
}

/// A large rate goes in pieces: Poisson counts add up to a Poisson count.
double poisson(KeyedStream& stream, double rate) {
  double count = 0.0;
  for (; rate > kMaxRate; rate -= kMaxRate) count += invert_poisson(stream, kMaxRate);
  return count + invert_poisson(stream, rate);
}

void check_length(const char* name, std::size_t length, std::size_t wanted) {
  if (length != wanted) {
    throw std::invalid_argument(std::string(name) + " has " + std::to_string(length) +
                                " elements; it must have " + std::to_string(wanted));
  }
}

}  // namespace

template <class Length>
Bags::Slot Bags::Line<Length>::at(Length x) const {
  Slot slot = hint[static_cast<std::size_t>(static_cast<double>(x) * scale)];
  while (begin[slot + 1] <= x && slot + 2 < begin.size()) ++slot;
  return slot;
}

Bags::Slot Bags::slot_of_unit(std::uint64_t unit) const {
  return units_.begin.empty() ? static_cast<Slot>(unit) : units_.at(unit);
}

void Bags::draw_replace(KeyedStream stream, std::span<std::uint32_t> count) const {
  for (const Stratum& s : strata_) {
    if (!chance_.empty()) {
      const double begin = chances_.begin[s.begin];
      const double length = chances_.begin[s.end] - begin;
      for (std::uint64_t i = 0; i < s.size; ++i) {
        const Slot slot = chances_.at(begin + stream.uniform() * length);
        ++count[std::clamp(slot, s.begin, s.end - 1)];  // rounding may reach the end
      }
      continue;
    }
    const std::uint64_t begin = unit_begin(s.begin);
    const std::uint64_t n = unit_begin(s.end) - begin;
    for (std::uint64_t i = 0; i < s.size; ++i) ++count[slot_of_unit(begin + stream.below(n))];
  }
}

// Floyd's sample without replacement (Bentley & Floyd 1987): for j = n - size .. n - 1 take a
// uniform unit of 0 .. j, or j itself if that one was taken. A bit for each unit is all it needs.
void Bags::draw_subset(KeyedStream stream, std::span<std::uint32_t> count) const {
  std::vector<std::uint64_t> taken;
  for (const Stratum& s : strata_) {
    if (!chance_.empty()) {
      draw_smallest(stream, s, count);
      continue;
    }
    const std::uint64_t begin = unit_begin(s.begin);
    const std::uint64_t n = unit_begin(s.end) - begin;
    taken.assign((n + 63) / 64, 0);
    for (std::uint64_t j = n - s.size; j < n; ++j) {
      std::uint64_t unit = stream.below(j + 1);
      if ((taken[unit / 64] >> (unit % 64) & 1) != 0) unit = j;
      taken[unit / 64] |= std::uint64_t{1} << (unit % 64);
      ++count[slot_of_unit(begin + unit)];
    }
  }
}

// Draws in proportion to what is left are the smallest of Exp(1) / chance (Efraimidis & Spirakis
// 2006).
void Bags::draw_smallest(KeyedStream& stream, const Stratum& stratum,
                         std::span<std::uint32_t> count) const {
  std::vector<std::pair<double, Slot>> arrival;
  arrival.reserve(stratum.end - stratum.begin);
  for (Slot slot = stratum.begin; slot < stratum.end; ++slot) {
    arrival.emplace_back(exponential(stream) / chance_[slot], slot);
  }
  const auto end = arrival.begin() + static_cast<std::ptrdiff_t>(stratum.size);
  std::nth_element(arrival.begin(), end, arrival.end());
  for (auto at = arrival.begin(); at != end; ++at) ++count[at->second];
}

/// An empty bag would leave its member nothing to learn from: it is drawn again.
void Bags::draw_poisson(KeyedStream stream, std::span<double> amount) const {
  const auto size = static_cast<double>(size_);
  const double rate = size / static_cast<double>(n_units_);
  double total = 0;
  while (total == 0) {
    for (Slot slot = 0; slot < n_slots_; ++slot) {
      if (!chance_.empty()) {
        amount[slot] = poisson(stream, size * (chance_[slot] / chances_.begin.back()));
      } else {
        const std::uint64_t n = unit_begin(slot + 1) - unit_begin(slot);
        for (std::uint64_t i = 0; i < n; ++i) amount[slot] += poisson(stream, rate);
      }
      total += amount[slot];
    }
  }
}

void Bags::draw_exponential(KeyedStream stream, std::span<double> amount) const {
  for (Slot slot = 0; slot < n_slots_; ++slot) {
    if (!chance_.empty()) {
      amount[slot] = chance_[slot] * exponential(stream);
      continue;
    }
    const std::uint64_t n = unit_begin(slot + 1) - unit_begin(slot);
    for (std::uint64_t i = 0; i < n; ++i) amount[slot] += exponential(stream);
  }
}

/// Calls visit(weight_of) with the function from row to weight in the member's bag.
template <class Visit>
void Bags::visit_weights(std::uint64_t member, Visit visit) const {
  const auto spread = [&](const auto& amount) {
    if (factor_.empty()) {
      visit([&](std::size_t r) { return static_cast<double>(amount[slot_[r]]); });
    } else {
      visit([&](std::size_t r) { return factor_[r] * static_cast<double>(amount[slot_[r]]); });
    }
  };
  const KeyedStream stream(mix(seed_, member), Use::bag_draw);
  const std::size_t n = std::size_t{n_slots_} + 1;  // the last belongs to rows never drawn
  if (draw_ == Draw::all) {
    spread(std::vector<double>(1, 1.0));
  } else if (draw_ == Draw::replace || draw_ == Draw::subset) {
    std::vector<std::uint32_t> count(n);
    draw_ == Draw::replace ? draw_replace(stream, count) : draw_subset(stream, count);
    spread(count);
  } else {
    std::vector<double> amount(n);
    draw_ == Draw::poisson ? draw_poisson(stream, amount) : draw_exponential(stream, amount);
    spread(amount);
  }
}

void Bags::draw(std::uint64_t member, std::span<double> weight) const {
  check_length("weight", weight.size(), n_rows());
  visit_weights(member, [&](const auto& weight_of) {
    for (std::size_t r = 0; r < weight.size(); ++r) weight[r] = weight_of(r);
  });
}

void Bags::left_out(std::uint64_t member, std::span<std::uint8_t> bits) const {
  check_length("bits", bits.size(), (n_rows() + 7) / 8);
  if (draw_ == Draw::all) return std::fill(bits.begin(), bits.end(), std::uint8_t{0});
  visit_weights(member, [&](const auto& weight_of) {
    for (std::size_t byte = 0; byte < bits.size(); ++byte) {
      const std::size_t first = 8 * byte;
      const std::size_t n = std::min<std::size_t>(8, n_rows() - first);
      unsigned out = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const bool zero = weight_of(first + i) == 0.0;
        out |= static_cast<unsigned>(zero & (slot_[first + i] != n_slots_)) << i;
      }
      bits[byte] = static_cast<std::uint8_t>(out);
    }
  });
}

}  // namespace committee
