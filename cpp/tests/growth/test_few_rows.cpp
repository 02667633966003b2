// Sums of few sparse rows equal their histogram, whatever rows were summed before.
#include <algorithm>

#include "check.hpp"
#include "growth/few_rows.hpp"
#include "growth_data.hpp"

using namespace growth_test;

TEST(sums_of_few_sparse_rows_are_their_histogram) {
  const Data data({.n_rows = 2000,
                   .n_features = 150,
                   .missing = 0.01,
                   .zeros = 0.95,
                   .n_values = 9,
                   .n_categorical = 3,
                   .n_levels = 12});
  BinnedMatrix m = data.sparse_matrix;
  m.add_columns(Context{});
  CHECK(m.bins_per_entry > 2 && m.bins_per_entry < 16);
  const std::vector<double> y = make_y(data.table, 1), hessian(2000, 0.25);
  const Stats stats = Stats::newton(y, hessian, 20, false);
  CHECK(stats.packed_histogram());
  FewRows few(m, stats, true, false), drawn(m, stats, false, false),
      dense(data.matrix, stats, true, false);
  CHECK(few.block() == nullptr && drawn.block() == nullptr && dense.block() != nullptr);
  const std::vector<std::uint32_t> n_classes{2};
  const Stats classes = Stats::classes(make_classes(data.table, 2, 1), n_classes, {}, false);
  CHECK(FewRows(m, classes, true, false).block() == nullptr);
  CHECK(FewRows(m, classes, false, false).block() != nullptr);
  bool absent = false;
  for (RowId first = 0; first < 2000; first += 97) {
    std::vector<RowId> rows;
    for (RowId r = first; r < std::min<RowId>(2000, first + first % 29); r += 1 + r % 3)
      rows.push_back(r);
    std::int64_t total = 0;
    for (const RowId r : rows) total += stats.words[r];
    Histogram histogram(m.histogram_size(), 0);
    accumulate(m, stats, rows, histogram);
    const HistogramProfiles profiles(m, stats, histogram, {&total, 1});
    const ProfileSource& sums = few.load(rows, {&total, 1});
    for (std::size_t f = 0; f < m.n_features; ++f) {
      if (!std::binary_search(sums.varying()->begin(), sums.varying()->end(), f)) {
        for (const RowId r : rows) CHECK(m.code(r, f) == m.zero_bin[f]);
        absent = true;
        continue;
      }
      Profile a, b;
      sums.read(f, a);
      profiles.read(f, b);
      CHECK(a.n == b.n && a.has_missing == b.has_missing && a.missing == b.missing);
      for (std::size_t i = 0; i < a.n; ++i) CHECK(a.bin[i] == b.bin[i] && a.raw[i] == b.raw[i]);
    }
  }
  CHECK(absent);
}
