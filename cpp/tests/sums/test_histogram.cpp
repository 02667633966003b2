// Histograms against the plain definition: every layout, every form of statistics, any subset of
// rows, any threads.
#include "check.hpp"
#include "growth_data.hpp"

using namespace growth_test;

namespace {

/// Every cell by Stats::add_row.
Histogram oracle(const BinnedMatrix& m, const Stats& stats, std::span<const RowId> rows) {
  Histogram out(m.histogram_size() * stats.width, 0);
  for (const RowId r : rows) {
    for (std::size_t f = 0; f < m.n_features; ++f) {
      stats.add_row(r, out.data() + (m.column_offset[f] + m.code(r, f)) * stats.width);
    }
  }
  return out;
}

std::vector<std::int64_t> totals_of(const Stats& stats, std::span<const RowId> rows) {
  std::vector<std::int64_t> totals(stats.width, 0);
  for (const RowId r : rows) stats.add_row(r, totals.data());
  return totals;
}

/// Targets of every kind over one table; owns what Stats borrows.
struct Targets {
  std::vector<double> y, heavy, two, g, h, weight;
  std::vector<std::uint32_t> binary, many, both;
  std::vector<Stats> all;

  explicit Targets(const Table& t) {
    const std::size_t n = t.n_rows;
    y = make_y(t, 3);
    heavy = y;
    for (double& v : heavy) v = v * v * v * 1e-9;
    heavy[n / 2] = 1e6;
    g = make_y(t, 4);
    h.assign(n, 0.25);
    weight = make_weight(n, 6, false);
    for (std::size_t r = 0; r < n; ++r) {
      two.push_back(y[r]);
      two.push_back(g[r]);
      binary.push_back(y[r] > 0);
      many.push_back(static_cast<std::uint32_t>(mix(r) % 5));
      both.push_back(binary[r]);
      both.push_back(many[r]);
      h[r] += 0.1 * noise(8, r) / 6;
    }
    const std::uint32_t k2[] = {2}, k5[] = {5}, k25[] = {2, 5};
    all.push_back(Stats::classes(binary, k2, {}, false));
    all.push_back(Stats::classes(binary, k2, weight, false));
    all.push_back(Stats::classes(binary, k2, weight, true));
    all.push_back(Stats::classes(many, k5, {}, false));
    all.push_back(Stats::classes(many, k5, weight, true));
    all.push_back(Stats::classes(both, k25, {}, false));
    all.push_back(Stats::regression(y, 1, {}, true, false));
    all.push_back(Stats::regression(y, 1, weight, true, false));
    all.push_back(Stats::regression(y, 1, weight, true, true));
    all.push_back(Stats::regression(heavy, 1, {}, true, false));
    all.push_back(Stats::regression(two, 2, {}, true, false));
    all.push_back(Stats::newton(g, h, 16, false));
    all.push_back(Stats::newton(g, h, 24, false));
    all.push_back(Stats::newton(g, h, 16, true));
  }
};

std::vector<RowId> every(std::span<const RowId> rows, std::size_t step, std::uint64_t seed) {
  std::vector<RowId> out;
  for (const RowId r : rows) {
    if (mix(seed, r) % step == 0) out.push_back(r);
  }
  return out;
}

void compare(const BinnedMatrix& m, const Stats& stats, std::span<const RowId> rows) {
  Histogram out(m.histogram_size() * stats.width, 0);
  accumulate(m, stats, rows, out);
  fill_zero_bins(m, totals_of(stats, rows), out);
  CHECK(out == oracle(m, stats, rows));
}

/// All rows without some, taken off one by one.
void compare_rest(const BinnedMatrix& m, const Stats& stats) {
  const std::vector<RowId> all = stats.counted_rows(), some = every(all, 3, 2);
  std::vector<RowId> rest;
  std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::back_inserter(rest));
  Histogram out(m.histogram_size(), 0);
  accumulate(m, stats, all, out);
  subtract_rows(m, stats, some, out);
  fill_zero_bins(m, totals_of(stats, rest), out);
  CHECK(out == oracle(m, stats, rest));
}

}  // namespace

TEST(histogram_equals_oracle) {
  for (const std::size_t p : {1u, 7u, 8u, 13u, 64u, 65u, 131u}) {
    const Data data(
        {.n_rows = 300, .n_features = p, .missing = 0.1, .zeros = 0.4, .n_categorical = p / 5});
    CHECK(data.matrix.layout == Layout::dense8 && data.sparse_matrix.layout == Layout::sparse);
    const Targets targets(data.table);
    for (const Stats& stats : targets.all) {
      for (const std::size_t step : {1u, 3u, 250u}) {
        const std::vector<RowId> rows = every(stats.counted_rows(), step, p);
        compare(data.matrix, stats, rows);
        compare(data.sparse_matrix, stats, rows);
      }
      if (!stats.packed_histogram()) continue;
      compare_rest(data.matrix, stats);
      compare_rest(data.sparse_matrix, stats);
    }
  }
}

TEST(histogram_sixteen_bits) {
  const Data data(
      {.n_rows = 1500, .n_features = 5, .missing = 0.05, .zeros = 0.2, .max_bins = 1000});
  CHECK(data.matrix.layout == Layout::dense16);
  const Targets targets(data.table);
  for (const Stats& stats : targets.all) {
    compare(data.matrix, stats, stats.counted_rows());
    compare(data.sparse_matrix, stats, every(stats.counted_rows(), 2, 1));
  }
}

TEST(histogram_widens_blocks) {
  const Data data({.n_rows = 40000, .n_features = 70, .missing = 0.02, .zeros = 0.3});
  const std::vector<double> g = make_y(data.table, 4), h(40000, 0.2);
  std::vector<double> skewed = g;
  for (std::size_t r = 0; r < skewed.size(); ++r)
    skewed[r] = 5 + std::abs(skewed[r]);  // all one sign: sums grow
  std::size_t blocks = 0;
  for (const unsigned bits : {14u, 16u, 18u, 20u, 24u}) {
    const Stats stats = Stats::newton(skewed, h, bits, false);
    blocks += stats.form == RowForm::packed && stats.width == 2 && stats.block_rows < 40000 ? 1 : 0;
    compare(data.matrix, stats, stats.counted_rows());
    compare(data.sparse_matrix, stats, stats.counted_rows());
  }
  CHECK(blocks >= 1);
}

TEST(histogram_does_not_depend_on_threads) {
  const Data data({.n_rows = 70000, .n_features = 11, .missing = 0.1, .zeros = 0.4});
  const Targets targets(data.table);
  for (const BinnedMatrix* m : {&data.matrix, &data.sparse_matrix}) {
    for (const Stats& stats : targets.all) {
      Histogram one(m->histogram_size() * stats.width, 0);
      accumulate(*m, stats, stats.counted_rows(), one);
      HistogramPool pool(one.size());
      for (const int threads : {1, 2, 4}) {
        Histogram out = pool.take();
        accumulate(*m, stats, stats.counted_rows(), out, pool, Context{threads});
        CHECK(out == one);
        pool.give(std::move(out));
      }
    }
  }
}

TEST(histogram_subtract_gives_the_sibling) {
  const Data data({.n_rows = 500, .n_features = 9, .missing = 0.1, .zeros = 0.4});
  const Targets targets(data.table);
  for (const Stats& stats : targets.all) {
    const std::vector<RowId> all = stats.counted_rows(), some = every(all, 3, 5);
    std::vector<RowId> rest;
    std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::back_inserter(rest));
    Histogram parent = oracle(data.matrix, stats, stats.counted_rows());
    subtract(parent, oracle(data.matrix, stats, some));
    CHECK(parent == oracle(data.matrix, stats, rest));
    add(parent, oracle(data.matrix, stats, some));
    CHECK(parent == oracle(data.matrix, stats, stats.counted_rows()));
  }
}

TEST(histogram_pool_zeroes) {
  HistogramPool pool(10);
  Histogram h = pool.take();
  CHECK(h == Histogram(10, 0));
  h[3] = 7;
  pool.give(std::move(h));
  CHECK(pool.take() == Histogram(10, 0));
}
