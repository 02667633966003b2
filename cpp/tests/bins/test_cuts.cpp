// The parts below the bin mapper: cuts of long columns against the plain sorted rule, the guided
// search against std::lower_bound, and cuts taken from a sample of the rows.
#include <algorithm>
#include <functional>

#include "binning_data.hpp"
#include "bins/cuts.hpp"
#include "bins/sample.hpp"
#include "bins/search.hpp"
#include "check.hpp"
#include "committee/bins/row_keys.hpp"
#include "search/draw_table.hpp"

using namespace committee;
using namespace binning_test;

namespace {

using Draw = std::function<double(double)>;

/// Columns by inverse distribution function: smooth, heavy-tailed, of many magnitudes, with heavy
/// or few values.
std::vector<Draw> shapes() {
  return {[](double u) { return u; },
          [](double u) { return std::tan(3.14159 * (u - 0.5)); },
          [](double u) { return std::exp(60 * (u - 0.5)); },
          [](double u) { return static_cast<double>(static_cast<float>(std::log(u + 1e-9))); },
          [](double u) { return std::floor(u * 5000) - 2500; },
          [](double u) { return std::floor(u * 300); },
          [](double u) { return u < 0.4   ? 0.25
                                : u < 0.7 ? -0.0
                                          : u; },
          [](double u) { return u < 0.999 ? 7.0 : u; },
          [](double u) { return 1e9 + u * 1e-4; },
          [](double u) { return (u < 0.5 ? -1e308 : 1e308) * u; },
          [](double u) { return std::floor(u * 900) * 5e-324; }};
}

std::vector<double> column(const Draw& shape, std::size_t n) {
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = shape(static_cast<double>(mix(n, i) >> 11) * 0x1p-53);
  }
  return x;
}

Distinct plain_distinct(const std::vector<double>& value, const std::vector<std::uint64_t>& mass) {
  std::map<double, std::uint64_t> sum;
  for (std::size_t i = 0; i < value.size(); ++i) sum[value[i] + 0.0] += mass.empty() ? 1 : mass[i];
  Distinct distinct;
  for (const auto& [x, m] : sum) {
    distinct.value.push_back(x);
    distinct.mass.push_back(m);
  }
  return distinct;
}

void check_column(ColumnCuts& cuts, std::vector<double> value,
                  const std::vector<std::uint64_t>& mass) {
  const Distinct expected = plain_distinct(value, mass);
  for (const std::size_t max_bins : {2, 17, 255, 3000, 65535}) {
    cuts.load(value, mass);
    CHECK(same(cuts.equal_mass_bins(max_bins, true), equal_mass_bins(expected, max_bins, true)));
    CHECK(cuts.more_distinct_than(max_bins) == (expected.value.size() > max_bins));
  }
  const Distinct distinct = cuts.distinct();
  CHECK(distinct.value == expected.value && distinct.mass == expected.mass);
}

template <class Real>
void check_search(const std::vector<double>& ascending, const std::vector<double>& looked_up) {
  const std::vector<Real> x(looked_up.begin(), looked_up.end());
  for (const std::size_t n_searches : {1, 300, 1000000}) {
    const SearchTable<Real> table(ascending, n_searches);
    std::vector<std::uint16_t> below(x.size());
    table.count_below(x.data(), x.size(), below.data());
    bool all = true;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto at =
          std::lower_bound(ascending.begin(), ascending.end(), static_cast<double>(x[i]));
      all &= below[i] == at - ascending.begin();
    }
    CHECK(all);
  }
}

}  // namespace

TEST(lazily_sorted_cuts_equal_those_of_all_values) {
  ColumnCuts cuts;  // one for all: what a column leaves behind must not reach the next
  for (const Draw& shape : shapes()) {
    for (const std::size_t n : {0, 1, 2, 1000, 70001}) {
      const std::vector<double> value = column(shape, n);
      std::vector<std::uint64_t> mass(n);
      for (std::size_t i = 0; i < n; ++i)
        mass[i] = 1 + mix(9, i) % 5 * (mix(8, i) % 100 == 0 ? 1000 : 1);
      check_column(cuts, value, {});
      check_column(cuts, value, mass);
      std::vector<double> ascending(value);
      std::sort(ascending.begin(), ascending.end());
      check_column(cuts, ascending, {});
    }
  }
}

TEST(guided_search_equals_lower_bound) {
  for (const Draw& shape : shapes()) {
    for (const std::size_t n : {0, 1, 2, 3, 254, 1000, 20000}) {
      std::vector<double> ascending = column(shape, n);
      for (double& x : ascending) x += 0.0;
      std::sort(ascending.begin(), ascending.end());
      ascending.erase(std::unique(ascending.begin(), ascending.end()), ascending.end());
      std::vector<double> x = column(shape, 777);
      for (std::size_t i = 0; i < ascending.size(); i += 1 + ascending.size() / 500) {
        x.push_back(ascending[i]);
        x.push_back(std::nextafter(ascending[i], HUGE_VAL));
        x.push_back(std::nextafter(ascending[i], -HUGE_VAL));
      }
      for (const double extreme : {0.0, -0.0, 1e308, -1e308, 5e-324, -5e-324, 1e30, -1e-40}) {
        x.push_back(extreme);
      }
      check_search<double>(ascending, x);
      check_search<float>(ascending, x);
    }
  }
}

TEST(draw_table_counts_as_upper_bound_does) {
  std::vector<FeatureBins> features;
  for (const std::size_t n : {0, 1, 15, 16, 17, 240, 254, 255, 256, 257, 5000}) {
    FeatureBins bins;
    for (std::size_t b = 0; b < n; ++b) bins.cuts.push_back(std::sinh(static_cast<double>(b) - 3));
    bins.cuts.resize(std::min(bins.cuts.size(), std::size_t{600}));  // sinh overflows behind
    for (std::size_t b = bins.cuts.size(); b < n; ++b) bins.cuts.push_back(bins.cuts[b - 1] * 1.01);
    bins.gap_low = bins.gap_high = bins.cuts;
    bins.n_bins = static_cast<std::uint32_t>(n + 1);
    bins.zero_bin = bin_of(bins, 0.0);
    features.push_back(bins);
  }
  const DrawTable table{BinMapper(features)};
  for (std::size_t f = 0; f < features.size(); ++f) {
    const std::vector<double>& ends = features[f].gap_low;
    const auto check = [&](double t) {
      const auto n = std::upper_bound(ends.begin(), ends.end(), t) - ends.begin();
      CHECK(table.count(f, t) == static_cast<std::uint32_t>(n));
    };
    for (const double end : ends) {
      for (const double t : {end, std::nextafter(end, -HUGE_VAL), std::nextafter(end, HUGE_VAL)})
        check(t);
    }
    for (const double t : {-HUGE_VAL, -1e308, 0.0, 0.5, 1e308}) check(t);
  }
}

/// Contents by key: one row that holds it, the mass of all that do.
std::map<std::uint64_t, std::pair<std::size_t, std::uint64_t>> contents(
    const Input& input, const std::vector<double>& weight, std::uint64_t seed) {
  const std::vector<std::uint64_t> keys = table_keys(input, {}, 0, {});
  std::map<std::uint64_t, std::pair<std::size_t, std::uint64_t>> found;
  for (std::size_t r = keys.size(); r-- > 0;) {
    if (!weight.empty() && weight[r] == 0.0) continue;
    const std::uint64_t key = mix(mix(seed, static_cast<std::uint64_t>(Use::cut_sample)), keys[r]);
    found[key].first = r;
    found[key].second += weight.empty() ? 1 : static_cast<std::uint64_t>(weight[r]);
  }
  return found;
}

TEST(sample_is_the_bottom_k_of_contents) {
  const std::size_t n = 200000, k = 3000;
  // How many values a feature has: few contents, about k, some rows equal, nearly none.
  for (const std::uint64_t n_values : {3, 55, 400, 1000000}) {
    Table t = table(n, 2);
    std::vector<double> weight(n);
    for (std::size_t r = 0; r < n; ++r) {
      t.at(r, 0) = static_cast<double>(mix(7, r) % n_values);
      t.at(r, 1) = static_cast<double>(mix(8, r) % n_values);
      weight[r] = static_cast<double>(mix(9, r) % 4);
    }
    const Dense<double> dense(t, Order::c);
    for (const bool weighted : {false, true}) {
      const std::vector<double> w = weighted ? weight : std::vector<double>{};
      const MassScale scale(w, n);
      const RowSample sample(dense.input, w, scale, k, 5, {2, nullptr});
      const auto expected = contents(dense.input, w, 5);
      CHECK(!sample.every_row() && sample.every_content() == (expected.size() <= k));
      CHECK(sample.size() == std::min(k, expected.size()));
      std::size_t i = 0, n_contained = 0;
      for (std::size_t r = 0; r < n; ++r) n_contained += sample.contains(r) ? 1 : 0;
      CHECK(n_contained == sample.size());
      for (auto at = expected.begin(); i < sample.size(); ++at, ++i) {
        const auto& [row, mass] = at->second;
        CHECK(sample.contains(row) && sample.rows()[sample.position(row)] == row);
        if (sample.mass().empty()) {
          CHECK(mass == expected.begin()->second.second);
        } else {
          CHECK(sample.mass()[sample.position(row)] == mass * (weighted ? scale(1.0) : 1));
        }
      }
    }
  }
  const Table small = table(k, 1);
  const Dense<double> dense(small, Order::c);
  CHECK(RowSample(dense.input, {}, MassScale({}, k), k, 5, {}).every_row());
}

TEST(cut_between_keeps_neighbours_apart) {
  const double tiny = 5e-324, huge = std::numeric_limits<double>::max();
  const double values[] = {-huge,         -1e308,        -1.0,     -1e-300, -3 * tiny,
                           -2 * tiny,     -tiny,         0.0,      tiny,    2 * tiny,
                           3 * tiny,      4 * tiny,      5 * tiny, 1e-300,  1.0,
                           1.0 + 0x1p-52, 1.0 + 0x1p-51, 1e308,    huge};
  for (const double a : values) {
    for (const double b : values) {
      if (!(a < b)) continue;
      const double cut = cut_between(a, b);
      CHECK(a <= cut && cut < b);
    }
  }
  CHECK(cut_between(1.0, 2.0) == 1.5);
}

TEST(sampled_cuts_are_near_the_quantiles) {
  const std::size_t n = kCutSample * 2 + 12345;
  Table t = table(n, 3);
  for (std::size_t r = 0; r < n; ++r) {
    const double u = static_cast<double>(mix(12, r) >> 11) * 0x1p-53;
    t.at(r, 0) = std::exp(10 * u);
    t.at(r, 1) = static_cast<double>(r % 3);  // few values, plus one that occurs once
    t.at(r, 2) = std::floor(u * 40000);       // too many values for 255 bins
  }
  const BinMapper before = fit(t);
  CHECK(before.feature(1).cuts == (std::vector<double>{0.5, 1.5}));
  for (std::size_t r = 0; r < 40; ++r) t.at(mix(3, r) % n, 1) = 100.0 + static_cast<double>(r);
  const BinMapper mapper = fit(Dense<double>(t, Order::c).input, 255, {}, {}, 2);
  CHECK(mapper.feature(1).n_bins == 43);
  CHECK(mapper.feature(1).gap_low[1] == 1.0 && mapper.feature(1).gap_high[1] == 2.0);
  for (const std::size_t f : {0, 2}) {
    const FeatureBins& bins = mapper.feature(f);
    CHECK(bins.n_bins >= 254 && bins.gap_low == bins.cuts && bins.gap_high == bins.cuts);
    std::vector<double> sorted(n);
    for (std::size_t r = 0; r < n; ++r) sorted[r] = t.at(r, f);
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t b = 0; b < bins.cuts.size(); ++b) {
      const auto below = std::upper_bound(sorted.begin(), sorted.end(), bins.cuts[b]);
      const double rank = static_cast<double>(below - sorted.begin()) / static_cast<double>(n);
      const double wanted = static_cast<double>(b + 1) / static_cast<double>(bins.n_bins);
      CHECK(std::abs(rank - wanted) <= 0.006);
    }
  }
  CHECK(same(fit(Dense<double>(t, Order::f).input), mapper));
  CHECK(same(fit(Sparse<double>(t, true).input), mapper));
  CHECK(same(fit(Sparse<double>(t, false).input), mapper));
}

TEST(rows_of_weight_zero_outside_the_sample_do_not_count) {
  const std::size_t n = kCutSample + 5000;
  Table t = table(n, 2);
  std::vector<double> weight(n);
  for (std::size_t r = 0; r < n; ++r) {
    const bool odd = mix(2, r) % 2 == 1;
    weight[r] = odd ? 1.5 : mix(4, r) % 3 == 0 ? 1.0 : 0.0;
    t.at(r, 0) = weight[r] == 0.0 ? static_cast<double>(r) : odd ? 1.0 : 3.0;
    t.at(r, 1) = static_cast<double>(r % 1000 * (weight[r] == 0.0 ? 0 : 1));
  }
  const BinMapper mapper = fit(t, 255, weight);
  CHECK(mapper.feature(0).cuts == std::vector<double>{2.0});
  CHECK(same(fit(Sparse<double>(t, true).input, 255, weight), mapper));
  CHECK(same(fit(Sparse<double>(t, false).input, 255, weight), mapper));
}

TEST(cuts_of_a_sample_know_copies_by_their_weight) {
  const std::size_t n = kCutSample + 20000;
  Table t = table(n, 3), copies = table(0, 3);
  std::vector<double> weight(n);
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t f = 0; f < 3; ++f) {
      const double u = static_cast<double>(mix(f, r) >> 11) * 0x1p-53;
      t.at(r, f) = f == 0 ? u : u < 0.6 ? 0.0 : std::exp(8 * u);
    }
    weight[r] = static_cast<double>(mix(5, r) % 4);  // 0 to 3
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t r = (i * 7919 + 17) % n;  // another order; 7919 does not divide n
    for (std::size_t k = 0; k < static_cast<std::size_t>(weight[r]); ++k) {
      for (std::size_t f = 0; f < 3; ++f) copies.x.push_back(t.at(r, f));
      ++copies.n_rows;
    }
  }
  CHECK(n % 7919 != 0 && copies.n_rows > kCutSample);
  const BinMapper mapper = fit(t, 255, weight);
  CHECK(mapper.feature(0).n_bins == 255);
  CHECK(same(fit(copies), mapper));
  CHECK(same(fit(Sparse<double>(copies, true).input), mapper));
  CHECK(same(fit(Sparse<double>(t, false).input, 255, weight, {}, 2), mapper));
}

TEST(more_values_than_the_sample_saw_fall_back_to_its_cuts) {
  const std::size_t n = kCutSample * 2;
  Table t = table(n, 2);
  for (std::size_t r = 0; r < n; ++r) {
    t.at(r, 0) =
        mix(6, r) % 1000 == 0 ? static_cast<double>(r) + 0.5 : -1.0 - static_cast<double>(r % 2);
    t.at(r, 1) = static_cast<double>(r);  // so no two rows are equal
  }
  CHECK(fit(t, 3).feature(0).n_bins == 3);
  const FeatureBins exact = fit(t, 65535).feature(0);  // about 520 values, all found
  CHECK(exact.n_bins == masses(t, 0).size());
  CHECK(exact.gap_low[0] == -2.0 && exact.gap_high[0] == -1.0);
  // The sample sees about half of the rare values: some number of bins lies between what it and the
  // column hold.
  const FeatureBins cut = fit(t, 400).feature(0);
  CHECK(cut.gap_low == cut.cuts && cut.n_bins <= 400 && cut.n_bins > 200);
}
