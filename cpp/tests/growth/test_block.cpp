// Blocks: the profiles of a few rows equal those of their histogram, before and after dividing, in
// every layout.
#include "check.hpp"
#include "committee/growth/block.hpp"
#include "growth_data.hpp"

using namespace growth_test;

namespace {

bool same_profile(const Profile& a, const Profile& b, std::size_t width) {
  if (a.n != b.n || a.has_missing != b.has_missing) return false;
  if (!std::equal(a.bin.begin(), a.bin.begin() + static_cast<std::ptrdiff_t>(a.n), b.bin.begin()))
    return false;
  if (a.has_missing &&
      !std::equal(a.missing.begin(), a.missing.begin() + static_cast<std::ptrdiff_t>(width),
                  b.missing.begin())) {
    return false;
  }
  return std::equal(a.raw.begin(), a.raw.begin() + static_cast<std::ptrdiff_t>(a.n * width),
                    b.raw.begin());
}

std::vector<RowId> positions(const Block& block, std::size_t begin, std::size_t end) {
  std::vector<RowId> rows;
  for (std::size_t i = begin; i < end; ++i) rows.push_back(block.row(i));
  return rows;
}

/// The line of a feature has the words and bins of its profile, in order.
void check_line(const Block& block, std::size_t feature, std::size_t n_rows,
                const Profile& expected) {
  std::int64_t words[kLineRows];
  const auto f = static_cast<std::uint32_t>(feature);
  const std::size_t n = block.n_in_line();
  if (block.line_up({&f, 1}, words) == 0) return;
  CHECK(n >= n_rows && n <= kLineRows && !expected.has_missing);
  std::size_t found = 0;
  for (std::size_t k = 0; k < n; ++k) {
    if (words[k] == 0) continue;
    CHECK(found < expected.n && words[k] == expected.raw[found]);
    CHECK(block.bin_in_line(feature, 0, k) == expected.bin[found]);
    ++found;
  }
  CHECK(found == expected.n);
}

/// Halves at any bin between the ends are those of the whole profile.
void check_halves(const ProfileSource& source, std::size_t feature, const Profile& whole,
                  std::size_t width) {
  for (std::size_t i = 0; i + 1 < whole.n; i += 1 + whole.n / 8) {
    Profile expected = whole, half;
    halve(expected, whole.bin[i], width);
    source.halves(feature, whole.bin[i], width, half);
    CHECK(half.n == 2 && half.has_missing == expected.has_missing);
    CHECK(half.bin[0] == expected.bin[0] && half.bin[1] == expected.bin[1]);
    const auto first = static_cast<std::ptrdiff_t>(width);
    CHECK(std::equal(half.raw.begin(), half.raw.begin() + first, expected.raw.begin()));
  }
}

void compare(const BinnedMatrix& m, const Stats& stats, Block& block, std::size_t begin,
             std::size_t end) {
  block.focus(begin, end);
  const std::vector<RowId> rows = positions(block, begin, end);
  Histogram histogram(m.histogram_size() * stats.width, 0);
  accumulate(m, stats, rows, histogram);
  std::vector<std::int64_t> totals(stats.width, 0);
  for (const RowId r : rows) stats.add_row(r, totals.data());
  fill_zero_bins(m, totals, histogram);
  const HistogramProfiles profiles(m, stats, histogram);
  Profile a, b;
  for (std::size_t f = 0; f < m.n_features; ++f) {
    block.read(f, a);
    profiles.read(f, b);
    CHECK(same_profile(a, b, stats.width));
    if (stats.width == 1) check_line(block, f, end - begin, b);
    check_halves(block, f, b, stats.width);
    check_halves(profiles, f, b, stats.width);
    const auto* varying = block.varying();
    if (varying == nullptr || std::binary_search(varying->begin(), varying->end(), f)) continue;
    CHECK(b.n + (b.has_missing ? 1 : 0) <= 1);
  }
}

void check_block(const BinnedMatrix& m, const Stats& stats, std::size_t n_rows) {
  Block block(m, stats);
  const std::vector<RowId> rows = stats.counted_rows();
  for (std::size_t first = 0; first + n_rows <= rows.size();
       first += std::max<std::size_t>(2 * n_rows, 271)) {
    block.load(std::span(rows).subspan(first, n_rows));
    CHECK(block.size() == n_rows);
    compare(m, stats, block, 0, n_rows);
    Split split;
    split.feature = static_cast<std::uint32_t>(first % m.n_features);
    split.bin = m.n_bins[split.feature] / 3;
    split.missing_left = first % 2 == 0;
    const std::vector<RowId> before = positions(block, 0, n_rows);
    const std::size_t n_left = block.divide(0, n_rows, split);
    std::vector<RowId> expected;
    for (const bool left : {true, false}) {
      for (const RowId r : before) {
        if (split.goes_left(m.code(r, split.feature), m.n_bins[split.feature]) == left)
          expected.push_back(r);
      }
      if (left) CHECK(expected.size() == n_left);
    }
    CHECK(positions(block, 0, n_rows) == expected);
    compare(m, stats, block, 0, n_left);
    compare(m, stats, block, n_left, n_rows);
    if (n_rows - n_left < 2) continue;
    split.feature = (split.feature + 1) % static_cast<std::uint32_t>(m.n_features);
    split.bin = m.n_bins[split.feature] / 2;
    const std::size_t middle = n_left + block.divide(n_left, n_rows, split);
    compare(m, stats, block, n_left, middle);
    compare(m, stats, block, middle, n_rows);
    compare(m, stats, block, 0, n_left);
  }
}

}  // namespace

TEST(block_profiles_equal_histograms) {
  for (const std::size_t bins : {40u, 255u, 700u}) {
    const Data data({.n_rows = 3000,
                     .n_features = 35,
                     .missing = 0.1,
                     .zeros = 0.7,
                     .n_categorical = 3,
                     .n_levels = 30,
                     .max_bins = bins,
                     .seed = bins});
    const std::vector<double> y = make_y(data.table, 1), weight = make_weight(3000, 2, true);
    std::vector<double> shifted = y, hessian(3000, 0.25);
    for (double& v : shifted) v = v * v + 5;
    std::vector<std::uint32_t> codes = make_classes(data.table, 4, 1), binary(3000);
    for (std::size_t r = 0; r < 3000; ++r) binary[r] = codes[r] / 2;
    const std::uint32_t two[] = {2}, four[] = {4};
    const Stats all[] = {
        Stats::classes(binary, two, weight, false),  Stats::classes(binary, two, weight, true),
        Stats::classes(codes, four, {}, false),      Stats::regression(y, 1, {}, true, false),
        Stats::regression(y, 1, weight, true, true), Stats::newton(shifted, hessian, 20, false),
        Stats::newton(shifted, hessian, 30, false)};
    for (const Stats& stats : all) {
      for (const std::size_t n : {1u, 2u, 63u, 500u}) {
        check_block(data.matrix, stats, n);
        check_block(data.sparse_matrix, stats, n);
      }
    }
  }
}

TEST(block_lines_up_few_rows) {
  for (const double missing : {0.0, 0.02}) {
    const Data data({.n_rows = 3000, .n_features = 12, .missing = missing, .n_values = 90});
    std::vector<double> y = make_y(data.table, 1), hessian(3000, 0.25);
    for (std::size_t r = 0; r < 3000; r += 3) {  // a third of the rows adds nothing anywhere
      y[r] = 0;
      hessian[r] = 0;
    }
    const Stats stats = Stats::newton(y, hessian, 12, false);
    CHECK(stats.packed_histogram() && stats.width == 1);
    for (const std::size_t n : {1u, 2u, 16u, 17u, 63u, 64u, 65u}) {
      check_block(data.matrix, stats, n);
      Block block(data.matrix, stats);
      const std::vector<RowId> rows = stats.counted_rows();
      block.load(std::span(rows).first(n));
      for (std::uint32_t f = 0; f < 12; ++f) {
        std::int64_t words[kLineRows];
        const auto is_missing = [&](RowId r) {
          return data.matrix.code(r, f) == data.matrix.n_bins[f];
        };
        const bool complete = std::none_of(rows.begin(), rows.begin() + n, is_missing);
        CHECK((block.line_up({&f, 1}, words) == 1) == (n <= kLineRows && complete));
      }
    }
  }
}

/// What a block by row says of cuts in the middle of each feature, against the whole profiles of a
/// block by column; both are focused on the same rows.
void compare_cuts(const Block& by_row, const Block& by_column, std::uint32_t n_features,
                  const Stats& stats) {
  std::vector<DrawnCut> cuts;
  bool any_missing = false;
  for (std::uint32_t f = 0; f < n_features; ++f) {
    const Ends ends = by_row.ends(f), same = by_column.ends(f);
    CHECK(ends.low == same.low && ends.high == same.high && ends.missing == same.missing);
    if (!ends.present || ends.low == ends.high) continue;
    any_missing |= ends.missing;
    cuts.push_back({f, f, ends.low + (ends.high - ends.low) / 2, 0});
  }
  std::vector<std::int64_t> sums(cuts.size() * stats.width);
  const bool together = by_row.sums_below(cuts, stats.width, sums.data());
  CHECK(by_row.sums_together() && together == !any_missing);
  for (std::size_t k = 0; k < cuts.size(); ++k) {
    Profile a, b;
    by_row.halves(cuts[k].feature, cuts[k].bin, stats.width, a);
    by_column.halves(cuts[k].feature, cuts[k].bin, stats.width, b);
    CHECK(a.bin[0] == b.bin[0] && a.bin[1] == b.bin[1] && a.has_missing == b.has_missing);
    CHECK(std::equal(a.raw.begin(), a.raw.begin() + stats.width, b.raw.begin()));
    by_row.sum_below(cuts[k].feature, cuts[k].bin, stats.width, b);
    CHECK(std::equal(a.raw.begin(), a.raw.begin() + stats.width, b.raw.begin()));
    if (together)
      CHECK(std::equal(a.raw.begin(), a.raw.begin() + stats.width,
                       sums.begin() + static_cast<std::ptrdiff_t>(k * stats.width)));
  }
}

TEST(block_by_row_sums_below_cuts) {
  for (const double missing : {0.0, 0.02}) {
    const Data data({.n_rows = 5000, .n_features = 40, .missing = missing, .n_values = 60});
    const std::vector<double> y = make_y(data.table, 1), weight = make_weight(5000, 2, true);
    std::vector<std::uint32_t> codes = make_classes(data.table, 2, 1);
    std::vector<double> by_class(5000);
    for (std::size_t r = 0; r < 5000; ++r) by_class[r] = codes[r] == 0 ? 1.0 : 2.5;
    const std::uint32_t two[] = {2};
    const Stats all[] = {
        Stats::classes(codes, two, {}, false), Stats::classes(codes, two, by_class, false),
        Stats::classes(codes, two, weight, false), Stats::regression(y, 1, {}, true, false)};
    for (const Stats& stats : all) {
      const std::vector<RowId> rows = stats.counted_rows();
      Block by_row(data.matrix, stats, true), by_column(data.matrix, stats);
      for (const std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{300},
                                  std::min(rows.size(), kMaxBlockRows)}) {
        by_row.load(std::span(rows).first(n));
        by_column.load(std::span(rows).first(n));
        compare_cuts(by_row, by_column, 40, stats);
        Split split;
        split.feature = 3;
        split.bin = data.matrix.n_bins[3] / 3;
        const std::size_t n_left = by_row.divide(0, n, split);
        CHECK(by_column.divide(0, n, split) == n_left);
        CHECK(positions(by_row, 0, n) == positions(by_column, 0, n));
        for (const auto& [begin, end] : {std::pair(std::size_t{0}, n_left), std::pair(n_left, n)}) {
          if (begin == end) continue;
          by_row.focus(begin, end);
          by_column.focus(begin, end);
          compare_cuts(by_row, by_column, 40, stats);
        }
      }
    }
  }
}
