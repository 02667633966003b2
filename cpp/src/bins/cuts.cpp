// One greedy pass over ascending values chooses the cuts. Whole buckets in which no bin can end are
// passed over unsorted, by their mass.
#include "bins/cuts.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace committee {
namespace {

constexpr int kSumBits = 62;   // of all masses: twice a sum still fits 63
constexpr int kMassBits = 44;  // of one mass, where rows are few enough
constexpr int kTieBits = 28;   // finer than 2 kCutSample, coarser than the rounding of masses

class Greedy {
 public:
  Greedy(std::uint64_t total, std::size_t max_bins, bool all_seen)
      : left_(total), bins_left_(max_bins), all_seen_(all_seen) {
    set_bound();
  }

  std::size_t bins_left() const { return bins_left_; }  // the open bin among them

  /// No bin ends within or right after values of this mass, the value after them having at most
  /// next_mass.
  bool may_pass(std::uint64_t mass, std::uint64_t next_mass) const {
    return 2 * (open_ + mass) + next_mass <= bound_;
  }
  void pass(std::uint64_t mass) { open_ += mass; }

  /// The next value, what follows it, and how many distinct values do. The bin ends here when that
  /// is nearer to the target than to take the next value too: target - open < open + next_mass -
  /// target. Where values are no more than bins, each gets its own.
  void take(double value, std::uint64_t mass, double next, std::uint64_t next_mass,
            std::size_t n_after) {
    open_ += mass;
    if (2 * open_ + next_mass <= bound_ && n_after >= bins_left_) return;
    const double cut = cut_between(value, next);
    bins_.cuts.push_back(cut);
    bins_.gap_low.push_back(all_seen_ ? value : cut);
    bins_.gap_high.push_back(all_seen_ ? next : cut);
    left_ -= open_;
    open_ = 0;
    --bins_left_;
    set_bound();
  }

  void take_all(const Distinct& distinct) {
    const std::size_t n = distinct.value.size();
    for (std::size_t i = 0; i + 1 < n; ++i) {
      take(distinct.value[i], distinct.mass[i], distinct.value[i + 1], distinct.mass[i + 1],
           n - i - 1);
    }
  }

  FeatureBins finish() {
    bins_.n_bins = static_cast<std::uint32_t>(bins_.cuts.size() + 1);
    bins_.zero_bin = bin_of(bins_, 0.0);
    return std::move(bins_);
  }

 private:
  // Twice the target, and a little more: a tie among integer weights stays a tie when all of them
  // are multiplied by a number that is no power of two.
  void set_bound() {
    const std::uint64_t twice = 2 * left_ / bins_left_;
    bound_ = twice + (twice >> kTieBits);
  }

  FeatureBins bins_;
  std::uint64_t left_;  // mass of the open bin and everything above it
  std::uint64_t open_ = 0;
  std::uint64_t bound_ = 0;
  std::size_t bins_left_;
  bool all_seen_;
};

/// Equal values at the front of ascending elements.
template <class Element>
WeightedValue first_run(std::span<const Element> ascending, std::size_t& length) {
  WeightedValue run{value_of(ascending[0]), 0};
  for (length = 0; length < ascending.size() && value_of(ascending[length]) == run.value;
       ++length) {
    run.mass += mass_of(ascending[length]);
  }
  return run;
}

/// Takes every value of a bucket that is not the last; more distinct values follow than bins are
/// left.
template <class Element>
void take_bucket(Greedy& greedy, Buckets<Element>& buckets, std::size_t bucket) {
  constexpr std::size_t kMany = std::numeric_limits<std::size_t>::max();
  std::span<const Element> rest = buckets.sorted(bucket);
  std::size_t length = 0;
  WeightedValue run = first_run(rest, length);
  for (rest = rest.subspan(length); !rest.empty(); rest = rest.subspan(length)) {
    const WeightedValue next = first_run(rest, length);
    greedy.take(run.value, run.mass, next.value, next.mass, kMany);
    run = next;
  }
  const WeightedValue next = first_run(buckets.sorted(bucket + 1), length);
  greedy.take(run.value, run.mass, next.value, next.mass, kMany);
}

template <class Element>
FeatureBins bins_of_buckets(Buckets<Element>& buckets, std::size_t max_bins, bool all_seen) {
  std::uint64_t total = 0;
  for (std::size_t b = 0; b < buckets.size(); ++b) total += buckets.mass(b);
  Greedy greedy(total, max_bins, all_seen);
  std::size_t b = 0;
  // While more buckets follow than bins are left, so do distinct values.
  for (; buckets.size() - b > greedy.bins_left(); ++b) {
    if (greedy.may_pass(buckets.mass(b), buckets.mass(b + 1))) {
      greedy.pass(buckets.mass(b));
    } else {
      take_bucket(greedy, buckets, b);
    }
  }
  greedy.take_all(buckets.distinct_from(b));
  return greedy.finish();
}

}  // namespace

double cut_between(double a, double b) {
  const double middle = a / 2 + b / 2;
  return middle > a && middle < b ? middle : a;
}

FeatureBins equal_mass_bins(const Distinct& distinct, std::size_t max_bins, bool all_seen) {
  std::uint64_t total = 0;
  for (const std::uint64_t mass : distinct.mass) total += mass;
  Greedy greedy(total, max_bins, all_seen);
  greedy.take_all(distinct);
  return greedy.finish();
}

void add_mass(Distinct& distinct, double value, std::uint64_t mass) {
  const auto at = std::lower_bound(distinct.value.begin(), distinct.value.end(), value);
  const auto position = at - distinct.value.begin();
  if (at != distinct.value.end() && *at == value) {
    distinct.mass[static_cast<std::size_t>(position)] += mass;
    return;
  }
  distinct.value.insert(at, value);
  distinct.mass.insert(distinct.mass.begin() + position, mass);
}

void ColumnCuts::load(std::span<double> value, std::span<const std::uint64_t> mass) {
  bool narrow = true;
  for (double& x : value) {
    x += 0.0;  // -0.0 becomes 0.0
    narrow &= static_cast<double>(static_cast<float>(x)) == x;
  }
  kind_ = !mass.empty() ? Kind::weighted : narrow ? Kind::narrow : Kind::wide;
  if (kind_ == Kind::weighted) {
    weighted_.resize(value.size());
    for (std::size_t i = 0; i < value.size(); ++i) weighted_[i] = {value[i], mass[i]};
    weighted_buckets_.load(weighted_);
  } else if (kind_ == Kind::narrow) {
    narrow_.assign(value.begin(), value.end());
    narrow_buckets_.load(narrow_);
  } else {
    wide_buckets_.load(value);
  }
}

template <class F>
auto ColumnCuts::with_buckets(const F& use) {
  if (kind_ == Kind::weighted) return use(weighted_buckets_);
  if (kind_ == Kind::narrow) return use(narrow_buckets_);
  return use(wide_buckets_);
}

Distinct ColumnCuts::distinct() {
  return with_buckets([](auto& buckets) { return buckets.distinct_from(0); });
}

bool ColumnCuts::more_distinct_than(std::size_t n) {
  return with_buckets([&](auto& buckets) {
    return buckets.size() > n || buckets.distinct_from(0).value.size() > n;
  });
}

FeatureBins ColumnCuts::equal_mass_bins(std::size_t max_bins, bool all_seen) {
  return with_buckets([&](auto& buckets) { return bins_of_buckets(buckets, max_bins, all_seen); });
}

MassScale::MassScale(std::span<const double> weight, std::size_t n_rows)
    : n_counting_(weight.empty() ? n_rows : 0) {
  double largest = 0.0;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    if (!(weight[i] >= 0.0) || std::isinf(weight[i])) {
      throw std::invalid_argument("weight must be finite and >= 0, got " +
                                  std::to_string(weight[i]) + " at row " + std::to_string(i));
    }
    largest = std::max(largest, weight[i]);
    n_counting_ += weight[i] > 0.0 ? 1 : 0;
    uniform_ &= weight[i] == weight[0] && weight[i] > 0.0;
  }
  const int bits = std::min(kMassBits, kSumBits - static_cast<int>(std::bit_width(n_counting_)));
  if (largest > 0.0) exponent_ = bits - 1 - std::ilogb(largest);
}

std::uint64_t MassScale::operator()(double weight) const {
  if (weight == 0.0) return 0;
  return std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::llrint(std::ldexp(weight, exponent_))));
}

}  // namespace committee
