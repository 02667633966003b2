// Splits under a limit on rows that sums do not count: every cut tried, rows counted one by one.
#include <cmath>

#include "check.hpp"
#include "committee/growth/grower.hpp"
#include "committee/search/node_rows.hpp"
#include "growth_data.hpp"

using namespace growth_test;

namespace {

/// A histogram whose cells are not shown, so that the search must read profiles.
class HiddenCells final : public ProfileSource {
 public:
  explicit HiddenCells(const HistogramProfiles& shown) : shown_(shown) {}
  void read(std::size_t feature, Profile& out) const override { shown_.read(feature, out); }

 private:
  const HistogramProfiles& shown_;
};

/// A node of some rows, with gradients and hessians of very different size.
struct SomeNode {
  explicit SomeNode(std::uint64_t seed)
      : data({.n_rows = 300,
              .n_features = 4,
              .missing = seed % 2 == 0 ? 0.2 : 0.0,
              .n_values = seed % 5 == 0   ? 2u
                          : seed % 3 == 0 ? 12u
                                          : 0u,
              .seed = seed + 1}) {
    for (RowId r = 0; r < 300; ++r) {
      gradient.push_back(static_cast<float>(static_cast<double>(mix(seed, r) % 2001) / 1000 - 1));
      const double u = static_cast<double>(mix(seed, r + 1000) % 1000) / 1000;
      hessian.push_back(static_cast<float>(std::exp(-8 * u)));
      if (mix(seed, r + 2000) % 4 == 0 && data.table.at(r, 0) != -2) rows.push_back(r);
    }
    stats = Stats::gradients(gradient, hessian);
    histogram.assign(data.matrix.histogram_size(), 0);
    accumulate(data.matrix, stats, rows, histogram);
    for (const RowId r : rows) total += stats.words[r];
    params.criterion = Criterion::newton;
    params.min_gain = 0;
    params.min_weight_leaf = 1e-3;
    params.l2 = seed % 3 == 1 ? 0.5 : 0.0;
  }

  Data data;
  std::vector<float> gradient, hessian;
  std::vector<RowId> rows;
  Stats stats;
  Histogram histogram;
  std::int64_t total = 0;
  TreeParams params;

  NodeSums sums() const {
    NodeSums about;
    about.raw = {&total, 1};
    about.rows = rows.size();
    about.features = features;
    return about;
  }
  static constexpr std::uint32_t features[4] = {0, 1, 2, 3};

  std::size_t n_left(const Split& split) const {
    std::size_t n = 0;
    for (const RowId r : rows)
      n += split.goes_left(data.matrix.code(r, split.feature), data.matrix.n_bins[split.feature]);
    return n;
  }

  double score(bool left, const Split* split) const {
    long double g = 0, h = params.l2;
    for (const RowId r : rows) {
      if (split != nullptr && split->goes_left(data.matrix.code(r, split->feature),
                                               data.matrix.n_bins[split->feature]) != left)
        continue;
      double two[2];
      stats.decode(&stats.words[r], two);
      g += two[0];
      h += two[1];
    }
    return h - params.l2 < params.min_weight_leaf ? -1e300 : static_cast<double>(g * g / h);
  }

  /// The best gain of all cuts with at least `least` rows on both sides.
  double best_gain(std::size_t least) const {
    double best = 0;
    for (Split split; split.feature < 4; ++split.feature) {
      for (split.bin = 0; split.bin < data.matrix.n_bins[split.feature]; ++split.bin) {
        for (const bool missing_left : {false, true}) {
          split.missing_left = missing_left;
          const std::size_t n = n_left(split);
          if (n < least || rows.size() - n < least) continue;
          const double gain = score(true, &split) + score(false, &split) - score(true, nullptr);
          best = std::max(best, gain);
        }
      }
    }
    return best;
  }
};

}  // namespace

TEST(histogram_search_finds_what_profiles_show) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const SomeNode node(seed);
    const SplitSearch search(node.params, node.data.mapper, node.stats);
    const HistogramProfiles shown(node.data.matrix, node.stats, node.histogram);
    Split a, b;
    CHECK(search.best(node.sums(), shown, Context{}, a));
    CHECK(search.best(node.sums(), HiddenCells(shown), Context{}, b));
    CHECK(a.gain == b.gain && a.feature == b.feature && a.bin == b.bin);
    CHECK(a.threshold == b.threshold && a.missing_left == b.missing_left && a.left == b.left);
    CHECK(std::abs(a.gain - node.best_gain(1)) <= 1e-9 * a.gain);
  }
}

TEST(rows_of_both_sides_are_counted_where_a_limit_asks_for_them) {
  std::size_t refused = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SomeNode node(seed);
    node.params.min_rows_leaf = 5 + seed % 20;
    const SplitSearch search(node.params, node.data.mapper, node.stats);
    Grower grower(node.params, search, node.stats, 4);
    grower.start({&node.total, 1}, {node.rows.size(), false, 0});
    const HistogramProfiles shown(node.data.matrix, node.stats, node.histogram);
    const Context context{2};
    const RowsInMemory rows(node.data.matrix, node.rows, context);
    Split a, b, free;
    const bool found = grower.find(0, shown, context, a, &rows);
    CHECK(found == grower.find(0, HiddenCells(shown), context, b, &rows));
    const double best = node.best_gain(node.params.min_rows_leaf);
    CHECK(found == (best > 0));
    if (!found) continue;
    const std::size_t n = node.n_left(a);
    CHECK(n == rows.n_left(a));
    CHECK(std::min(n, node.rows.size() - n) >= node.params.min_rows_leaf);
    CHECK(std::abs(a.gain - best) <= 1e-9 * best);
    CHECK(a.gain == b.gain && a.feature == b.feature && a.bin == b.bin);
    CHECK(search.best(node.sums(), shown, context, free));
    refused += free.gain > a.gain ? 1 : 0;
  }
  CHECK(refused > 20);  // else counting would not have been needed
}

TEST(bin_counts_of_few_sparse_rows) {
  const Data data({.n_rows = 900, .n_features = 40, .missing = 0.02, .zeros = 0.97});
  const Context one{1};
  BinCounts counts;
  for (const std::size_t n : {900u, 5u, 1u, 300u, 2u}) {  // into the same memory
    std::vector<RowId> rows;
    for (RowId r = 0; r < n; ++r) rows.push_back((r * 7) % 900);
    std::sort(rows.begin(), rows.end());
    RowsInMemory(data.sparse_matrix, rows, one).count(counts);
    for (std::size_t f = 0; f < 40; ++f) {
      std::vector<std::uint32_t> expected(data.matrix.n_bins[f] + 1);
      for (const RowId r : rows) ++expected[data.matrix.code(r, f)];
      const bool absent = counts.of(f)[data.sparse_matrix.zero_bin[f]] == 0 &&
                          expected[data.sparse_matrix.zero_bin[f]] == n;
      if (absent) expected[data.sparse_matrix.zero_bin[f]] = 0;  // it has no cut
      for (std::size_t b = 0; b < expected.size(); ++b) CHECK(counts.of(f)[b] == expected[b]);
    }
  }
}

TEST(bin_counts_are_the_same_for_all_layouts) {
  const Data data(
      {.n_rows = 20000, .n_features = 5, .missing = 0.1, .zeros = 0.4, .n_categorical = 1});
  std::vector<RowId> rows;
  for (RowId r = 0; r < 20000; r += 1 + r % 3) rows.push_back(r);
  const Context one{1}, three{3};
  BinCounts dense, sparse;
  RowsInMemory(data.matrix, rows, three).count(dense);
  RowsInMemory(data.sparse_matrix, rows, one).count(sparse);
  for (std::size_t f = 0; f < 5; ++f) {
    std::vector<std::uint32_t> expected(data.matrix.n_bins[f] + 1);
    for (const RowId r : rows) ++expected[data.matrix.code(r, f)];
    for (std::size_t b = 0; b < expected.size(); ++b)
      CHECK(dense.of(f)[b] == expected[b] && sparse.of(f)[b] == expected[b]);
  }
}
