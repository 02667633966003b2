// Statistics in fixed point: which form the data get, what sums decode to, exact leaf values.
#include "check.hpp"
#include "growth_data.hpp"

using namespace growth_test;

namespace {

std::vector<double> sums_of(const Stats& stats, std::span<const RowId> rows) {
  std::vector<std::int64_t> raw(stats.width, 0);
  for (const RowId r : rows) stats.add_row(r, raw.data());
  std::vector<double> sums(stats.n_sums);
  stats.decode(raw.data(), sums.data());
  return sums;
}
std::vector<double> sums_of(const Stats& stats) { return sums_of(stats, stats.counted_rows()); }

const std::uint32_t kTwo[] = {2};
const std::uint32_t kThree[] = {3};

std::vector<double> normal(std::size_t n, std::uint64_t seed) {
  std::vector<double> y(n);
  for (std::size_t i = 0; i < n; ++i) y[i] = noise(seed, i);
  return y;
}

/// The mean in long double of the rows, and that of the fine sums.
double mean_error(const Stats& stats, std::span<const RowId> rows, std::span<const double> weight) {
  long double sum = 0, total = 0;
  for (const RowId r : rows) {
    const long double w = weight.empty() ? 1.0L : weight[r];
    sum += w * stats.y[r];
    total += w;
  }
  const double value = mean_of(stats, rows);
  const double scale = std::max(1e-300, std::abs(static_cast<double>(sum / total)));
  return std::abs(static_cast<double>(value - sum / total)) / scale;
}

}  // namespace

TEST(stats_two_classes_pack_in_one_word) {
  const std::uint32_t codes[] = {0, 1, 1, 0, 1};
  const Stats s = Stats::classes(codes, kTwo, {}, true);
  CHECK(s.form == RowForm::packed && s.width == 1 && s.n_sums == 2 && s.packed_histogram());
  CHECK(s.counts_rows() && !s.has_count());
  CHECK((sums_of(s) == std::vector<double>{2, 3}));
  const std::int64_t one[] = {s.words[0] + s.words[1]};
  CHECK(s.decode_count(one) == 2);
  CHECK(s.weight_of(sums_of(s).data()) == 5);
}

TEST(stats_more_classes_are_one_hot) {
  const std::uint32_t codes[] = {0, 2, 1, 2};
  const double weight[] = {1, 0.5, 0, 2};
  const Stats plain = Stats::classes(codes, kThree, {}, false);
  CHECK(plain.form == RowForm::one_hot && plain.width == 3);
  CHECK((sums_of(plain) == std::vector<double>{1, 1, 2}));
  const Stats s = Stats::classes(codes, kThree, weight, true);
  CHECK(s.width == 4 && s.has_count() && s.counted_rows().size() == 3);
  CHECK((sums_of(s) == std::vector<double>{1, 0, 2.5}));
  std::vector<std::int64_t> raw(4, 0);
  for (const RowId r : s.counted_rows()) s.add_row(r, raw.data());
  CHECK(s.decode_count(raw.data()) == 3);
}

TEST(stats_several_outputs) {
  const std::uint32_t codes[] = {0, 2, 1, 0, 1, 1};
  const std::uint32_t n_classes[] = {2, 3};
  const Stats s = Stats::classes(codes, n_classes, {}, false);
  CHECK(s.n_rows == 3 && s.n_sums == 5 && s.form == RowForm::one_hot);
  CHECK((sums_of(s) == std::vector<double>{1, 2, 1, 1, 1}));
  CHECK(s.weight_of(sums_of(s).data()) == 3);
  const double y[] = {1, 10, 2, 20, 3, 60};
  const Stats r = Stats::regression(y, 2, {}, true, false);
  CHECK(r.n_sums == 3 && r.form == RowForm::wide && r.width == 3);
  CHECK(mean_of(r, r.counted_rows(), 0) == 2 && mean_of(r, r.counted_rows(), 1) == 30);
  CHECK(close(impurity_of(r, r.counted_rows(), 0), 2.0 / 3) &&
        close(impurity_of(r, r.counted_rows(), 1), 1400.0 / 3));
}

TEST(stats_regression_units_by_hand) {
  const double y[] = {0, 2, 4, 8};  // median 2, reach 6: decoded units of 8
  const Stats s = Stats::regression(y, 1, {}, true, false);
  CHECK(s.y_scale() == 8 && s.centre(0) == 2 && s.form == RowForm::packed && s.width == 1);
  CHECK(s.y_units(0, 0) == -(std::int64_t{1} << 28) && s.y_units(3, 0) == std::int64_t{3} << 28);
  CHECK((sums_of(s) == std::vector<double>{0.75, 4}));
  const Stats poisson = Stats::regression(y, 1, {}, false, false);
  CHECK(poisson.centre(0) == 0);
  CHECK(sums_of(poisson)[0] * poisson.y_scale() == 14);
}

TEST(stats_zero_weights_are_dropped) {
  const std::uint32_t codes[] = {0, 1, 1, 0};
  const double weight[] = {1, 0, 1, 0}, none[] = {0, 0, 0, 0};
  const Stats s = Stats::classes(codes, kTwo, weight, true);
  CHECK((s.counted_rows() == std::vector<RowId>{0, 2}));
  CHECK(s.counts_rows());
  CHECK_THROWS(Stats::classes(codes, kTwo, none, false), std::invalid_argument);
  const double y[] = {1, 1e300, 3, -1e300};
  const Stats r = Stats::regression(y, 1, weight, true, false);
  CHECK(r.y_scale() <= 4);  // ignored rows do not widen the range
  CHECK(mean_of(r, r.counted_rows()) == 2);
}

TEST(stats_weight_is_repetition) {
  const std::size_t n = 300;
  const std::vector<double> y = normal(n, 3), weight = make_weight(n, 5, true);
  std::vector<double> repeated;
  std::vector<std::uint32_t> codes(n), repeated_codes;
  for (std::size_t r = 0; r < n; ++r) {
    codes[r] = static_cast<std::uint32_t>(mix(r) % 3);
    for (int k = 0; k < static_cast<int>(weight[r]); ++k) {
      repeated.push_back(y[r]);
      repeated_codes.push_back(codes[r]);
    }
  }
  const Stats a = Stats::regression(y, 1, weight, true, false),
              b = Stats::regression(repeated, 1, {}, true, false);
  CHECK(sums_of(a) == sums_of(b));
  CHECK(mean_of(a, a.counted_rows()) == mean_of(b, b.counted_rows()));
  CHECK(impurity_of(a, a.counted_rows()) == impurity_of(b, b.counted_rows()));
  CHECK(sums_of(Stats::classes(codes, kThree, weight, false)) ==
        sums_of(Stats::classes(repeated_codes, kThree, {}, false)));
  std::vector<double> halves = weight;
  for (double& w : halves) w /= 2;
  const std::vector<double> s = sums_of(Stats::regression(y, 1, halves, true, false));
  CHECK(s[0] * 2 == sums_of(a)[0] && s[1] * 2 == sums_of(a)[1]);
}

TEST(stats_extreme_weights_stay_finite) {
  const std::uint32_t codes[] = {0, 1, 1, 0};
  const double y[] = {1, 2, 3, 4};
  const double sets[][4] = {{1e300, 1e-300, 1e300, 1},
                            {5e-324, 1e-310, 5e-324, 2e-320},
                            {1e-300, 1e-300, 2e-300, 1e-300},
                            {1e300, 1e300, 2e300, 1e300},
                            {1.7e308, 1, 1, 1},
                            {1e-20, 1e20, 1, 1e10}};
  for (const auto& weight : sets) {
    double highest = 0;
    for (const double w : weight) highest = std::max(highest, w);
    for (const bool classes : {true, false}) {
      const Stats s = classes ? Stats::classes(codes, kTwo, weight, false)
                              : Stats::regression(y, 1, weight, true, false);
      const std::vector<double> sums = sums_of(s);
      for (const double v : sums) CHECK(std::isfinite(v) && std::isfinite(v * v));
      CHECK(std::isfinite(s.weight_scale()) && s.weight_scale() > 0);
      CHECK(s.weight_of(sums.data()) * s.weight_scale() >= 0.99 * highest);
      for (const RowId r : s.counted_rows()) CHECK(s.weight_units(r) >= 1);
    }
  }
}

TEST(stats_extreme_targets_stay_finite) {
  const double sets[][4] = {
      {1.7e308, -1.7e308, 0, 1}, {5e-324, 0, 1e-323, 0}, {1e15, 1e15 + 1, 1e15 + 0.125, 1e15}};
  for (const auto& y : sets) {
    const Stats s = Stats::regression(y, 1, {}, true, false);
    CHECK(std::isfinite(s.y_scale()) && s.y_scale() > 0);
    for (RowId r = 0; r < 4; ++r) {
      const RowId one[] = {r};
      const double largest = std::max(std::abs(y[0]), std::abs(y[2]));
      CHECK(std::abs(mean_of(s, one) - y[r]) <= largest * 0x1p-53);
      CHECK(std::isfinite(impurity_of(s, one)));
    }
  }
}

TEST(stats_newton_packs_by_size) {
  const std::size_t n = 1000000;
  std::vector<double> g = normal(n, 1), h(n);
  for (std::size_t r = 0; r < n; ++r) h[r] = 0.25 - 0.01 * std::abs(g[r]);
  const Stats s = Stats::newton(g, h, 16, false);
  CHECK(s.form == RowForm::packed && s.width == 2 && s.block_rows >= 4096 && s.block_rows < n);
  const std::vector<double> sums = sums_of(s);
  long double exact[2] = {0, 0};
  for (std::size_t r = 0; r < n; ++r) exact[0] += g[r], exact[1] += h[r];
  CHECK(std::abs(static_cast<double>(sums[0] - exact[0])) < 1.0);
  CHECK(std::abs(static_cast<double>(sums[1] / exact[1] - 1)) < 1e-4);
  CHECK(close(mean_of(s, s.counted_rows(), 0), static_cast<double>(exact[0]), 1e-6));
  CHECK(close(mean_of(s, s.counted_rows(), 1), static_cast<double>(exact[1]), 1e-9));
  const Stats few = Stats::newton(std::span(g).first(1000), std::span(h).first(1000), 16, false);
  CHECK(few.form == RowForm::packed && few.width == 1);
  g[0] = 1e9;
  const Stats heavy = Stats::newton(g, h, 16, false);
  CHECK(heavy.form == RowForm::wide && heavy.width == 2);
  const Stats counted = Stats::newton(g, h, 16, true);
  CHECK(counted.width == 3 && counted.has_count() && counted.counts_rows());
}

TEST(stats_heavy_tails_keep_typical_bits) {
  std::vector<double> y = normal(2000, 7);
  const Stats plain = Stats::regression(y, 1, {}, true, false);
  CHECK(plain.form == RowForm::packed);
  for (const double outlier : {1e9, -1e9, 1e12}) {
    y[17] = outlier;
    const Stats s = Stats::regression(y, 1, {}, true, false);
    CHECK(s.form == RowForm::wide && s.width == 3);  // two limbs
    // The sums of two ordinary rows tell 1e-3 apart.
    double worst = 0;
    for (RowId r = 0; r < 10; ++r) {
      const RowId a[] = {r}, b[] = {static_cast<RowId>(r + 1)};
      const double difference = (sums_of(s, a)[0] - sums_of(s, b)[0]) * s.y_scale();
      worst = std::max(worst, std::abs(difference - (y[r] - y[r + 1])));
    }
    CHECK(worst < 1e-3);
    std::vector<RowId> ordinary;
    for (RowId r = 20; r < 2000; ++r) ordinary.push_back(r);
    CHECK(close(impurity_of(s, ordinary), 1.0, 0.1));
  }
}

TEST(stats_fine_value_is_the_exact_mean) {
  for (const double largest : {0.5, 3.0, 346.0, 1e5, 1e9}) {
    std::vector<double> y = normal(400, 9);
    y[0] = largest;
    y[1] = 0.1;
    const Stats s = Stats::regression(y, 1, {}, true, false);
    std::size_t wrong = 0;
    for (const RowId r : s.counted_rows()) {
      const RowId one[] = {r};
      wrong += mean_of(s, one) != y[r];
    }
    CHECK(wrong == 0);
    const RowId tenth[] = {1, 1, 1};
    CHECK(mean_of(s, tenth) == 0.1);
    CHECK(mean_error(s, s.counted_rows(), {}) < 1e-13);
    const RowId few[] = {5, 9, 40};
    CHECK(mean_error(s, few, {}) < 1e-15);
  }
}

TEST(stats_weighted_means_are_accurate) {
  const std::size_t n = 200000;
  const std::vector<double> y = normal(n, 11), weight = make_weight(n, 12, false);
  const Stats s = Stats::regression(y, 1, weight, true, false);
  double worst = 0;
  for (RowId r = 0; r + 3 < 3000; r += 3) {
    const RowId few[] = {r, r + 1, r + 2};
    const double value = mean_of(s, few);
    double sum = 0, total = 0;
    for (const RowId k : few) sum += weight[k] * y[k], total += weight[k];
    worst = std::max(worst, std::abs(value - sum / total));
  }
  CHECK(worst < 1e-9);
}

TEST(stats_fine_sums_add) {
  const std::vector<double> y = normal(100, 13);
  const Stats s = Stats::regression(y, 1, {}, true, false);
  const std::vector<RowId> rows = s.counted_rows();
  std::vector<__int128> both = fine_of(s, std::span(rows).first(30));
  s.add_fine(std::span(rows).subspan(30), both.data());
  CHECK(both == fine_of(s, s.counted_rows()));
  double mean = 0, square = 0;
  for (const double v : y) mean += v / 100, square += v * v / 100;
  CHECK(close(impurity_of(s, s.counted_rows()), square - mean * mean));
  const Stats poisson = Stats::regression(std::vector<double>{1, 2, 0}, 1, {}, false, false);
  CHECK(poisson.n_rows == 3);
}

TEST(stats_poisson_deviance) {
  const std::vector<double> y{1, 2, 0, 5};
  const Stats s = Stats::regression(y, 1, {}, false, false);
  const double deviance = (0 + 2 * std::log(2.0) + 5 * std::log(5.0)) / 4 - 2 * std::log(2.0);
  CHECK(close(impurity_of(s, s.counted_rows()), deviance, 1e-12));
}
