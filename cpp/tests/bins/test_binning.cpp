// Cuts and codes against plain definitions: whatever the number type, the order in memory, the
// order of rows, the weights' scale or the number of threads, the bins are those of the weighted
// multiset of values.
#include <algorithm>
#include <map>
#include <memory>
#include <numeric>

#include "binning_data.hpp"
#include "check.hpp"
#include "committee/bins/binning.hpp"

using namespace committee;
using namespace binning_test;

namespace {

constexpr std::size_t kRows = 3000;

/// The greedy rule in plain words over a map of values to (integer) masses.
std::vector<double> plain_cuts(const std::map<double, double>& mass, std::size_t max_bins) {
  std::vector<std::pair<double, double>> v(mass.begin(), mass.end());
  std::vector<double> cuts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i + 1 < v.size(); ++i) {
    const std::size_t bins_left = max_bins - cuts.size();
    double open = 0, left = 0;
    for (std::size_t j = begin; j < v.size(); ++j) (j <= i ? open : left) += v[j].second;
    left += open;
    const double without = left / static_cast<double>(bins_left) - open;
    const double with = open + v[i + 1].second - left / static_cast<double>(bins_left);
    if (without < with - 1e-9 || v.size() - i - 1 <= bins_left - 1) {
      cuts.push_back(cut_between(v[i].first, v[i + 1].first));
      begin = i + 1;
    }
  }
  return cuts;
}

Table permuted(const Table& t, std::uint64_t seed) {
  std::vector<std::size_t> order(t.n_rows);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return mix(seed, a) < mix(seed, b); });
  Table out = table(t.n_rows, t.n_features);
  for (std::size_t r = 0; r < t.n_rows; ++r) {
    for (std::size_t f = 0; f < t.n_features; ++f) out.at(r, f) = t.at(order[r], f);
  }
  return out;
}

}  // namespace

TEST(cuts_equal_the_plain_rule) {
  const Table t = mixed_table(kRows, 1);
  for (const std::size_t max_bins : {2, 3, 16, 255, 256, 1000, 65535}) {
    const BinMapper mapper = fit(t, max_bins);
    for (std::size_t f = 0; f < t.n_features; ++f) {
      const FeatureBins& bins = mapper.feature(f);
      CHECK(bins.cuts == plain_cuts(masses(t, f), max_bins));
      CHECK(bins.n_bins == bins.cuts.size() + 1 && bins.n_bins <= max_bins);
      CHECK(bins.zero_bin == bin_of(bins, 0.0));
    }
  }
}

TEST(gaps_are_the_neighbouring_values) {
  const Table t = mixed_table(kRows, 2);
  const BinMapper mapper = fit(t, 20);
  for (std::size_t f = 0; f < t.n_features; ++f) {
    const FeatureBins& bins = mapper.feature(f);
    const auto mass = masses(t, f);
    for (std::size_t b = 0; b < bins.cuts.size(); ++b) {
      const auto above = mass.upper_bound(bins.cuts[b]);
      CHECK(above != mass.end() && above->first == bins.gap_high[b]);
      CHECK(std::prev(above)->first == bins.gap_low[b]);
    }
  }
}

TEST(few_values_get_one_bin_each) {
  Table t = table(1003, 1);
  for (std::size_t r = 0; r < t.n_rows; ++r) t.at(r, 0) = r < 1000 ? 5.0 : static_cast<double>(r);
  const FeatureBins bins = fit(t, 4).feature(0);
  CHECK(bins.n_bins == 4);
  CHECK(bins.cuts[0] == 502.5 && bins.gap_low[0] == 5.0 && bins.gap_high[0] == 1000.0);
}

TEST(heavy_values_get_bins_of_their_own) {
  Table t = table(2000, 1);
  for (std::size_t r = 0; r < t.n_rows; ++r) t.at(r, 0) = r < 1000 ? 0.5 : static_cast<double>(r);
  t.at(1999, 0) = 0.25;
  const FeatureBins bins = fit(t, 32).feature(0);
  const std::uint32_t heavy = bin_of(bins, 0.5);
  CHECK(heavy == 1 && bin_of(bins, 0.25) == 0 && bin_of(bins, 1000.0) == 2);
  CHECK(bins.n_bins == 32);
}

TEST(constant_and_missing_features_have_one_bin) {
  const Table t = mixed_table(100, 3);
  const BinMapper mapper = fit(t);
  for (const std::size_t f : {3, 4}) {
    CHECK(mapper.feature(f).n_bins == 1 && mapper.feature(f).cuts.empty());
  }
  CHECK(fit(table(0, 3)).feature(1).n_bins == 1);
  const Dense<double> none(table(0, 3), Order::c);
  CHECK(fit(table(0, 3)).transform(none.input, {}).n_rows == 0);
  const Dense<double> empty(table(5, 0), Order::c);
  CHECK(fit(table(5, 0)).transform(empty.input, {}).histogram_size() == 0);
}

TEST(order_of_rows_does_not_matter) {
  const Table t = mixed_table(kRows, 4);
  for (const std::size_t max_bins : {5, 255}) {
    CHECK(same(fit(t, max_bins), fit(permuted(t, 9), max_bins)));
  }
}

TEST(weight_k_equals_k_rows_and_zero_equals_absent) {
  const Table t = mixed_table(700, 5);
  std::vector<double> weight(t.n_rows);
  Table repeated = table(0, t.n_features);
  for (std::size_t r = 0; r < t.n_rows; ++r) {
    weight[r] = static_cast<double>(mix(5, r) % 4);
    for (double k = 0; k < weight[r]; ++k, ++repeated.n_rows) {
      for (std::size_t f = 0; f < t.n_features; ++f) repeated.x.push_back(t.at(r, f));
    }
  }
  for (const std::size_t max_bins : {3, 31, 255}) {
    const BinMapper expected = fit(repeated, max_bins);
    for (const double scale : {1.0, 1e300, 1e-300, 0x1p-1073, 0.1}) {
      std::vector<double> scaled(weight);
      for (double& w : scaled) w *= scale;
      CHECK(same(fit(t, max_bins, scaled), expected));
      CHECK(same(fit(Sparse<double>(t, true).input, max_bins, scaled), expected));
    }
  }
  CHECK(same(fit(t, 31, std::vector<double>(t.n_rows, 0.3)), fit(t, 31)));
  CHECK(fit(t, 31, std::vector<double>(t.n_rows, 0.0)).feature(0).n_bins == 1);
}

TEST(fractional_weights_do_not_depend_on_row_order) {
  Table t = mixed_table(kRows, 6, 12);
  for (std::size_t r = 0; r < kRows; ++r) {
    t.at(r, 11) = std::pow(10.0, 40 * (static_cast<double>(mix(6, r) >> 11) * 0x1p-53) - 20);
  }
  const Table p = permuted(t, 3);
  std::vector<double> weight(kRows), permuted_weight(kRows);
  for (std::size_t r = 0; r < kRows; ++r) {
    weight[r] = t.at(r, 11);
    permuted_weight[r] = p.at(r, 11);
  }
  CHECK(same(fit(t, 31, weight), fit(p, 31, permuted_weight)));
}

TEST(any_dtype_and_order_gives_the_plain_codes) {
  Table t = table(777, 40);
  for (std::size_t i = 0; i < t.x.size(); ++i) t.x[i] = static_cast<double>(mix(8, i) % 120);
  const auto check = [&]<class T>(T) {
    const BinMapper expected = fit(t, 50);
    for (const Order order : {Order::c, Order::f, Order::padded_reversed}) {
      const Dense<T> dense(t, order);
      const BinMapper mapper = fit(dense.input, 50);
      CHECK(same(mapper, expected));
      CHECK(codes_match(mapper.transform(dense.input, {}), mapper, t));
      std::vector<double> column(700);
      load_column(dense.input, 3, 77, 777, column.data());
      for (std::size_t r = 77; r < 777; ++r) CHECK(column[r - 77] == t.at(r, 3));
    }
  };
  check(float{}), check(double{}), check(std::int8_t{}), check(std::int16_t{});
  check(std::int32_t{}), check(std::int64_t{}), check(std::uint8_t{}), check(std::uint16_t{});
  check(std::uint32_t{}), check(std::uint64_t{});
}

TEST(booleans_are_zero_and_one) {
  const std::uint8_t bytes[] = {0, 1, 1, 0};
  Input input{4, 1, false, {reinterpret_cast<const std::byte*>(bytes), DType::boolean, 1, 1}, {}};
  const BinMapper mapper = fit(input);
  CHECK(mapper.feature(0).cuts == std::vector<double>{0.5});
  const BinnedMatrix m = mapper.transform(input, {});
  for (std::size_t r = 0; r < 4; ++r) CHECK(m.code(r, 0) == bytes[r]);
}

TEST(mixed_values_get_the_plain_codes_at_every_width) {
  const Table t = mixed_table(kRows, 9, 70);
  for (const std::size_t max_bins : {2, 100, 255, 256, 3000}) {
    const BinMapper mapper = fit(t, max_bins);
    for (const Order order : {Order::c, Order::f}) {
      const BinnedMatrix m = mapper.transform(Dense<double>(t, order).input, {});
      CHECK(m.layout == (max_bins > 255 ? Layout::dense16 : Layout::dense8));
      CHECK(codes_match(m, mapper, t));
      CHECK(m.codes8.empty() || m.codes8.size() >= t.x.size() + 64);
    }
  }
}

TEST(float_search_rounds_cuts_towards_the_same_side) {
  Table t = table(4000, 1);
  for (std::size_t r = 0; r < t.n_rows; ++r) {
    t.at(r, 0) = static_cast<double>(1.0F + static_cast<float>(r % 1000) * 0x1p-23F);
  }
  t.at(0, 0) = 1e-45;
  t.at(1, 0) = -1e38;
  const BinMapper mapper = fit(t, 65535);  // adjacent floats: cuts lie between them
  Table floats = t;
  for (double& x : floats.x) x = static_cast<double>(static_cast<float>(x));
  const BinMapper same_floats = fit(floats, 65535);
  CHECK(codes_match(same_floats.transform(Dense<float>(floats, Order::c).input, {}), same_floats,
                    floats));
  CHECK(codes_match(mapper.transform(Dense<float>(floats, Order::c).input, {}), mapper, floats));
  FeatureBins wide;  // cuts outside of what a float can hold
  wide.cuts = wide.gap_low = wide.gap_high = {-1e300, -1e-300, 1e-300, 1e300};
  wide.n_bins = 5;
  wide.zero_bin = 2;
  Table few = table(5, 1);
  few.x = {-3e38, -1e-45, 0.0, 1e-45, 3e38};
  for (double& x : few.x) x = static_cast<double>(static_cast<float>(x));
  const BinMapper wide_mapper({wide});
  CHECK(
      codes_match(wide_mapper.transform(Dense<float>(few, Order::c).input, {}), wide_mapper, few));
}

TEST(sparse_equals_dense) {
  const Table t = mixed_table(kRows, 10, 23);
  std::vector<std::uint32_t> n_levels(23);
  n_levels[2] = 4;
  n_levels[20] = 300;
  std::vector<double> weight(kRows);
  for (std::size_t r = 0; r < kRows; ++r) weight[r] = static_cast<double>(mix(1, r) % 3);
  for (const std::size_t max_bins : {3, 255, 300}) {
    for (const auto& w : {std::vector<double>{}, weight}) {
      const BinMapper dense = fit(Dense<double>(t, Order::c).input, max_bins, w, n_levels);
      BinnedMatrix first;
      for (const bool by_row : {true, false}) {
        const Sparse<double> sparse(t, by_row);
        const BinMapper mapper = fit(sparse.input, max_bins, w, n_levels);
        CHECK(same(mapper, dense));
        const BinnedMatrix m = mapper.transform(sparse.input, {});
        CHECK(m.layout == Layout::sparse);
        CHECK(codes_match(m, mapper, t));
        if (by_row) first = m;
        CHECK(same_bytes(m, first));
        for (std::size_t r = 0; r < kRows; ++r) {
          for (std::size_t e = m.row_begin[r]; e < m.row_begin[r + 1]; ++e) {
            CHECK(m.entry_code[e] != m.zero_bin[m.entry_feature[e]]);
            CHECK(e == m.row_begin[r] || m.entry_feature[e - 1] < m.entry_feature[e]);
          }
        }
      }
    }
  }
}

TEST(categorical_codes_are_levels) {
  Table t = table(9, 2);
  const double x[] = {0, 1, 2, 3, -1, 0.5, kNaN, 2.0000001, -0.0};
  const std::uint32_t expected[] = {0, 1, 2, 3, 3, 3, 3, 3, 0};
  for (std::size_t r = 0; r < 9; ++r) t.at(r, 0) = t.at(r, 1) = x[r];
  const Dense<double> dense(t, Order::c);
  const BinMapper mapper = fit(dense.input, 255, {}, {3, 65535});
  const BinnedMatrix m = mapper.transform(dense.input, {});
  CHECK(m.layout == Layout::dense16 && m.categorical[0] == 1 && m.n_bins[1] == 65535);
  CHECK(m.column_offset[1] == 4 && m.column_offset[2] == 4 + 65536);
  const BinnedMatrix sparse = mapper.transform(Sparse<double>(t, false).input, {});
  for (std::size_t r = 0; r < 9; ++r) {
    CHECK(m.code(r, 0) == expected[r] && sparse.code(r, 0) == expected[r]);
    CHECK(bin_of(mapper.feature(0), x[r]) == expected[r]);
  }
}

TEST(threads_do_not_change_a_byte) {
  const Table t = mixed_table(9000, 11, 33);
  const Dense<double> c(t, Order::c);
  const Dense<float> f(t, Order::f);
  const Sparse<double> csr(t, true), csc(t, false);
  for (const Input* input : {&c.input, &f.input, &csr.input, &csc.input}) {
    const BinMapper one = fit(*input, 63);
    const BinnedMatrix expected = one.transform(*input, {1, nullptr});
    for (const int n_threads : {2, 4}) {
      CHECK(same(fit(*input, 63, {}, {}, n_threads), one));
      CHECK(same_bytes(one.transform(*input, {n_threads, nullptr}), expected));
    }
  }
}

TEST(broken_contracts_are_refused) {
  const Table t = mixed_table(50, 13, 4);
  const Dense<double> dense(t, Order::c);
  CHECK_THROWS(fit(dense.input, 1), std::invalid_argument);
  CHECK_THROWS(fit(dense.input, 65536), std::invalid_argument);
  CHECK_THROWS(fit(dense.input, 255, std::vector<double>(49, 1.0)), std::invalid_argument);
  CHECK_THROWS(fit(dense.input, 255, std::vector<double>(50, -1.0)), std::invalid_argument);
  CHECK_THROWS(fit(dense.input, 255, std::vector<double>(50, kNaN)), std::invalid_argument);
  CHECK_THROWS(fit(dense.input, 255, {}, {0, 0, 0}), std::invalid_argument);
  CHECK_THROWS(fit(dense.input, 255, {}, {0, 65536, 0, 0}), std::invalid_argument);
  Input too_long = dense.input;
  too_long.n_rows = kMaxRows + 1;
  CHECK_THROWS(fit(too_long), std::invalid_argument);
  CHECK_THROWS(fit(t).transform(too_long, {}), std::invalid_argument);
  CHECK_THROWS(fit(t).transform(Dense<double>(mixed_table(5, 1, 3), Order::c).input, {}),
               std::invalid_argument);
  for (const bool by_row : {true, false}) {
    Sparse<double> bad_index(t, by_row);
    bad_index.indices[3] = by_row ? 4 : 50;
    CHECK_THROWS(fit(bad_index.input), std::invalid_argument);
    bad_index.indices[3] = -1;
    CHECK_THROWS(fit(bad_index.input), std::invalid_argument);
    Sparse<double> bad_order(t, by_row);
    bad_order.indices[1] = bad_order.indices[0];
    CHECK_THROWS(fit(t).transform(bad_order.input, {}), std::invalid_argument);
    Sparse<double> bad_pointer(t, by_row);
    bad_pointer.indptr[2] = 0;
    CHECK_THROWS(fit(bad_pointer.input), std::invalid_argument);
  }
  FeatureBins bins;
  bins.n_bins = 3;
  bins.cuts = bins.gap_low = bins.gap_high = {2.0, 1.0};
  CHECK_THROWS(BinMapper({bins}), std::invalid_argument);
}
