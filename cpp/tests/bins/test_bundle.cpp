// Bundles of exclusive features: their histograms are those of the features, whatever goes
// together.
#include "check.hpp"
#include "committee/bins/bundle.hpp"
#include "growth_data.hpp"

using namespace growth_test;

namespace {

constexpr std::size_t kRows = kNarrowRows + 1000;

/// Two numbers, then indicators of a category of `levels` levels; the last is 0 where the others
/// are 1, some are missing, and one has three values.
Table indicators(std::size_t levels) {
  Table t = binning_test::table(kRows, 2 + levels);
  for (std::size_t r = 0; r < kRows; ++r) {
    const std::uint64_t draw = mix(7, r);
    const std::size_t level = draw % (levels + 2);  // two levels more, of no indicator
    t.at(r, 0) = noise(1, r);
    t.at(r, 1) = std::floor(noise(2, r));
    for (std::size_t k = 0; k < levels; ++k) {
      double x = k == level ? 1 : 0;
      if (k == level && k == 1) x = static_cast<double>(1 + draw % 7 % 2);
      if (k == level && k == 2 && draw % 3 == 0) x = kNaN;
      if (k + 1 == levels) x = 1 - x;
      t.at(r, 2 + k) = x;
    }
  }
  return t;
}

void compare(const BinnedMatrix& plain, const BinnedMatrix& bundled, const Stats& apart,
             const Stats& stats) {
  for (const std::size_t step : {1u, 7u, 5000u}) {
    std::vector<RowId> rows;
    for (RowId r = 0; r < kRows; r += static_cast<RowId>(step)) rows.push_back(r);
    Histogram a(plain.histogram_size(), 3), b = a;
    accumulate(plain, apart, rows, a);
    accumulate(bundled, stats, rows, b);
    CHECK(a == b);
  }
}

}  // namespace

TEST(bundled_rows_have_the_histograms_of_their_features) {
  const Data data({.n_rows = kRows, .n_features = 42}, indicators(40));
  const Context context{2};
  BinnedMatrix bundled = data.matrix;
  bundled.add_columns(context);
  bundled.spread_rows(context);
  CHECK(bundled.bundles().size() == 3 && bundled.bundles().stride() == 16);
  CHECK(bundled.room_stride() == 16 && bundled.stride8() == 42);
  for (std::size_t f = 0; f < 42; ++f) CHECK(bundled.code(77, f) == data.matrix.code(77, f));
  std::vector<float> g(kRows), h(kRows);
  for (std::size_t r = 0; r < kRows; ++r) {
    g[r] = static_cast<float>(noise(3, r) / 6);
    h[r] = 0.2F + static_cast<float>(noise(4, r) / 60);
  }
  const Stats apart = Stats::gradients(g, h);
  const Stats beside =
      Stats::gradients(g, h, context, {}, {bundled.room8(), bundled.room_stride()});
  CHECK(!apart.beside_bins() && beside.beside_bins());
  compare(data.matrix, bundled, apart, apart);
  compare(data.matrix, bundled, apart, beside);
}

TEST(rows_are_bundled_where_it_pays) {
  const Context context;
  const auto bundles = [&](Table t) {
    const std::size_t p = t.n_features;
    BinnedMatrix m = Data({.n_rows = kRows, .n_features = p}, std::move(t)).matrix;
    m.add_columns(context);
    m.spread_rows(context);
    return m.bundles().size();
  };
  CHECK(bundles(indicators(6)) == 3);
  Table two = indicators(20);
  for (std::size_t r = 30000; r < kRows; ++r) two.at(r, 6) += two.at(r, 5);  // they meet late
  CHECK(bundles(two) == 4);
  Table full = indicators(6);
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t f = 2; f < 8; ++f) full.at(r, f) = static_cast<double>(mix(f, r) % 3);
  CHECK(bundles(full) == 0);  // nothing goes together
  Table rare = make_table({.n_rows = kRows, .n_features = 9, .zeros = 0.9});
  CHECK(bundles(rare) == 0);  // no two without a common row
}

TEST(one_bundle_holds_no_more_than_a_byte_can_name) {
  Table t = binning_test::table(kRows, 300);
  for (std::size_t r = 0; r < kRows; ++r) t.at(r, mix(5, r) % 301 % 300) = 1;
  const Data data({.n_rows = kRows, .n_features = 300}, std::move(t));
  BinnedMatrix bundled = data.matrix;
  bundled.add_columns(Context{});
  bundled.spread_rows(Context{});
  CHECK(bundled.bundles().size() == 3);
  const std::vector<float> g(kRows, 0.5F), h(kRows, 0.25F);
  const Stats stats = Stats::gradients(g, h);
  compare(data.matrix, bundled, stats, stats);
}
