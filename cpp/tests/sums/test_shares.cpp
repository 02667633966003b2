// Statistics of a changing distribution: the units by hand, and trees that are those of
// Stats::classes wherever no weight had to be rounded.
#include "check.hpp"
#include "growth_data.hpp"

using namespace growth_test;

namespace {

const std::uint32_t kOne[] = {1}, kTwo[] = {2}, kThree[] = {3}, kFour[] = {4};
const Criterion kClasses[] = {Criterion::gini,        Criterion::entropy,
                              Criterion::gain_ratio,  Criterion::normalized_gain,
                              Criterion::exponential, Criterion::error};

std::vector<double> total_of(const Stats& stats) {
  std::vector<std::int64_t> raw(stats.width), added(stats.width, 0);
  stats.total(raw.data());
  for (const RowId r : stats.counted_rows()) stats.add_row(r, added.data());
  CHECK(raw == added);
  std::vector<double> sums(stats.n_sums);
  stats.decode(raw.data(), sums.data());
  return sums;
}

std::int64_t both(const Stats& s, std::size_t r) {
  return (s.words[r] >> s.shift) + (s.words[r] & ((std::int64_t{1} << s.shift) - 1));
}

/// Multiples of 2^-23 that add up to about 0.73.
std::vector<double> dyadic(std::size_t n, std::uint64_t seed) {
  std::vector<double> weight(n);
  KeyedStream draw(seed, Use::node_features);
  for (double& w : weight) w = static_cast<double>(1 + draw.below(4096)) * 0x1p-23;
  return weight;
}

ForestArrays grow(const Data& data, const Stats& stats, Criterion c, std::size_t depth) {
  TreeParams params;
  params.criterion = c;
  params.max_depth = depth;
  return grow_tree(data.matrix, data.mapper, stats, params, Context{});
}

}  // namespace

TEST(shares_by_hand) {
  const std::uint32_t codes[] = {0, 1, 0, 1};
  const double weight[] = {0.25, 0.5, 0.125, 0.125};  // the total has 2^29 units
  const Stats s = Stats::shares(codes, kTwo, weight);
  CHECK(s.form == RowForm::packed && s.width == 1 && s.packed_histogram() && s.small_sums());
  CHECK(s.n_rows == 4 && s.n_sums == 2 && s.block_rows >= 4 && s.shift == 32);
  CHECK(!s.counts_rows() && s.counts_all() && s.counted_rows().size() == 4);
  CHECK(s.words[0] == std::int64_t{1} << (27 + 32) && s.words[1] == std::int64_t{1} << 28);
  CHECK(s.words[2] == std::int64_t{1} << (26 + 32) && s.words[3] == std::int64_t{1} << 26);
  const std::vector<double> sums = total_of(s);
  CHECK(sums[0] * s.weight_scale() == 0.375 && sums[1] * s.weight_scale() == 0.625);
  CHECK(s.weight_of(sums.data()) * s.weight_scale() == 1);
  const std::uint32_t many[] = {2, 1, 0, 2};
  const Stats three = Stats::shares(many, kThree, weight);
  CHECK(three.form == RowForm::one_hot && three.width == 3 && !three.has_count());
  CHECK((three.words == std::vector<std::int64_t>{1 << 27, 1 << 28, 1 << 26, 1 << 26}));
  CHECK((three.slots == std::vector<std::uint32_t>{2, 1, 0, 2}));
  CHECK((total_of(three) == std::vector<double>{0.0625, 0.25, 0.1875}));
  const std::uint32_t none[] = {0, 0, 0, 0};
  CHECK(total_of(Stats::shares(none, kOne, weight)) == std::vector<double>{0.5});
}

TEST(shares_give_every_row_a_unit) {
  const std::uint32_t codes[] = {0, 1, 1, 0, 1};
  const double weight[] = {1, 1e-30, 0, -0.0, 5e-324};
  const Stats s = Stats::shares(codes, kTwo, weight);
  CHECK(both(s, 0) == std::int64_t{1} << 29);
  for (std::size_t r = 1; r < 5; ++r) CHECK(both(s, r) == 1);
  CHECK(s.counts_all());
  std::vector<std::uint32_t> many(100000, 1);
  std::vector<double> light(many.size(), 1e-12);
  light[0] = 1;
  const Stats t = Stats::shares(many, kTwo, light);
  std::int64_t units = 0;
  for (std::size_t r = 0; r < many.size(); ++r) units += both(t, r);
  CHECK(units < std::int64_t{1} << 31 && units >= (std::int64_t{1} << 29) + 99999);
}

TEST(shares_round_to_the_nearest) {
  const std::size_t n = 50000;
  std::vector<double> weight(n);
  std::vector<std::uint32_t> codes(n);
  long double sums[2] = {0, 0};
  for (std::size_t r = 0; r < n; ++r) {
    weight[r] = std::exp(noise(3, r));
    codes[r] = static_cast<std::uint32_t>(mix(r) & 1);
    sums[codes[r]] += weight[r];
  }
  const Stats s = Stats::shares(codes, kTwo, weight);
  const double unit = s.unit(0) * s.weight_scale();
  std::size_t wrong = 0;
  for (std::size_t r = 0; r < n; ++r) wrong += both(s, r) != std::rint(weight[r] / unit);
  CHECK(wrong == 0);
  for (std::size_t k = 0; k < 2; ++k)
    CHECK(close(total_of(s)[k] * s.weight_scale(), static_cast<double>(sums[k]), 1e-6));
}

TEST(shares_do_not_see_powers_of_two) {
  const std::size_t n = 1000;
  std::vector<double> weight(n), scaled(n);
  std::vector<std::uint32_t> codes(n);
  for (std::size_t r = 0; r < n; ++r) {
    weight[r] = std::exp(2 * noise(5, r));
    codes[r] = static_cast<std::uint32_t>(mix(r) % 3);
  }
  const Stats s = Stats::shares(codes, kThree, weight);
  for (const int power : {-1005, -930, -500, -1, 1, 64, 880, 910, 1000}) {
    for (std::size_t r = 0; r < n; ++r) scaled[r] = std::ldexp(weight[r], power);
    const Stats t = Stats::shares(codes, kThree, scaled);
    CHECK(s.words == t.words && s.slots == t.slots && s.unit(0) == t.unit(0));
    CHECK(std::ldexp(s.weight_scale(), power) == t.weight_scale());
  }
}

TEST(shares_of_extremes_are_finite) {
  const std::uint32_t codes[] = {0, 1, 1, 0};
  const double sets[][4] = {{5e-324, 0, 5e-324, 5e-324}, {1.7e308, 1.7e308, 1.7e308, 1}};
  for (const auto& weight : sets) {
    const Stats s = Stats::shares(codes, kTwo, weight);
    for (const double v : total_of(s)) CHECK(std::isfinite(v) && v > 0);
    CHECK(std::isfinite(s.weight_scale()) && s.weight_scale() > 0);
    CHECK(s.unit(0) * s.weight_scale() * static_cast<double>(both(s, 2)) == weight[2] ||
          close(s.unit(0) * static_cast<double>(both(s, 2)) * s.weight_scale() / weight[2], 1));
  }
}

TEST(shares_do_not_depend_on_threads) {
  const std::size_t n = 100001;
  std::vector<double> weight(n);
  std::vector<std::uint32_t> codes(n);
  for (std::size_t r = 0; r < n; ++r) {
    weight[r] = std::exp(3 * noise(7, r));
    codes[r] = static_cast<std::uint32_t>(mix(r) & 1);
  }
  const Stats s = Stats::shares(codes, kTwo, weight);
  for (const int threads : {2, 4, 7}) {
    const Stats t = Stats::shares(codes, kTwo, weight, Context{threads});
    CHECK(s.words == t.words && s.unit(0) == t.unit(0) && total_of(s) == total_of(t));
  }
}

TEST(shares_grow_the_trees_of_classes) {
  const Data data({.n_rows = 3000,
                   .n_features = 5,
                   .missing = 0.05,
                   .zeros = 0.2,
                   .n_categorical = 1,
                   .seed = 31});
  const std::vector<double> weight = dyadic(3000, 31);
  std::vector<double> large(weight);
  for (double& w : large) w *= 0x1p30;
  for (const std::span<const std::uint32_t> k :
       {std::span<const std::uint32_t>(kTwo), std::span<const std::uint32_t>(kFour)}) {
    const std::vector<std::uint32_t> y = make_classes(data.table, k[0], 31);
    for (const Criterion c : kClasses) {
      for (const std::size_t depth : {1u, 4u, 100u}) {
        CHECK(same_tree(grow(data, Stats::shares(y, k, weight), c, depth),
                        grow(data, Stats::classes(y, k, weight, false), c, depth)));
      }
    }
    for (const Criterion c : {Criterion::gini, Criterion::error, Criterion::exponential}) {
      CHECK(same_tree(grow(data, Stats::shares(y, k, large), c, 100),
                      grow(data, Stats::classes(y, k, large, false), c, 100)));
    }
  }
}

TEST(shares_leave_near_ties_to_the_rule) {
  // The second feature misplaces a row that is lighter by 1e-12: noise, to a distribution.
  const Data data({.n_rows = 6, .n_features = 2},
                  columns({{0, 0, 1, 1, 1, 1}, {0, 1, 0, 1, 1, 1}}));
  const std::uint32_t y[] = {0, 0, 0, 1, 1, 1};
  const double weight[] = {1, 1 - 1e-12, 1, 1, 1, 1};
  for (const Criterion c : {Criterion::gini, Criterion::exponential}) {
    CHECK(feature_of(grow(data, Stats::classes(y, kTwo, weight, false), c, 1), 0) == 1);
    CHECK(feature_of(grow(data, Stats::shares(y, kTwo, weight), c, 1), 0) == 0);
  }
}

TEST(shares_refuse) {
  const std::uint32_t codes[] = {0, 1, 1}, two_outputs[] = {2, 2};
  const double good[] = {1, 2, 3}, none[] = {0, 0, 0}, negative[] = {1, -1, 3};
  const double infinity[] = {1, std::numeric_limits<double>::infinity(), 3};
  const double nan[] = {1, 2, -std::nan("")}, shorter[] = {1, 2};
  for (const auto weight : {none, negative, infinity, nan})
    CHECK_THROWS(Stats::shares(codes, kTwo, {weight, 3}), std::invalid_argument);
  CHECK_THROWS(Stats::shares(codes, kTwo, shorter), std::invalid_argument);
  CHECK_THROWS(Stats::shares(codes, kOne, good), std::invalid_argument);
  CHECK_THROWS(Stats::shares(codes, two_outputs, good), std::invalid_argument);
  CHECK_THROWS(Stats::shares({}, kTwo, {}), std::invalid_argument);
}
