// Trees that several outputs share: their statistics, histograms, growth and rounds.
#include <thread>

#include "check.hpp"
#include "committee/boosting/boost.hpp"
#include "growth_data.hpp"

using namespace growth_test;

namespace {

struct Slopes {
  std::vector<float> g, h;
};

/// k outputs of n rows, one after the other.
Slopes make_slopes(std::size_t n, std::size_t k) {
  Slopes s{std::vector<float>(n * k), std::vector<float>(n * k)};
  for (std::size_t i = 0; i < n * k; ++i) {
    s.g[i] = static_cast<float>(noise(1, i)) * (i % 100 == 7 ? 50.0F : 1.0F);
    s.h[i] = std::abs(static_cast<float>(noise(2, i))) + 0.01F;
  }
  return s;
}

TreeParams newton_params() {
  TreeParams params;
  params.criterion = Criterion::newton;
  params.growth = Growth::best_first;
  params.max_leaves = 31;
  params.min_rows_leaf = 5;
  params.min_gain = 0;
  params.least_hessian = 0.5;
  return params;
}

}  // namespace

TEST(vector_stats_are_those_of_each_output) {
  const std::size_t n = 5000, k = 3;
  const Slopes s = make_slopes(n, k);
  for (const bool ones : {false, true}) {
    const std::span<const float> h = ones ? std::span<const float>() : std::span<const float>(s.h);
    const Stats all = Stats::vector_gradients(s.g, h, k, Context{2});
    CHECK(all.width == k && all.n_sums == 2 * k && all.fine_width() == 2 * k);
    CHECK(all.counts_rows() == ones);
    std::vector<std::int64_t> raw(k);
    all.total(raw.data());
    std::vector<double> sums(2 * k);
    all.decode(raw.data(), sums.data());
    const std::vector<RowId> some{3, 77, 4000};
    std::vector<__int128> fine(2 * k, 0);
    all.add_fine(some, fine.data());
    double weight = 0;
    for (std::size_t m = 0; m < k; ++m) {
      const auto own_h = ones ? h : h.subspan(m * n, n);
      const Stats one = Stats::gradients(std::span(s.g).subspan(m * n, n), own_h, Context{});
      std::int64_t word = 0;
      one.total(&word);
      double own[2];
      one.decode(&word, own);
      CHECK(word == raw[m] && own[0] == sums[2 * m] && own[1] == sums[2 * m + 1]);
      weight += own[1] / static_cast<double>(k);
      __int128 own_fine[2] = {0, 0};
      one.add_fine(some, own_fine);
      for (std::size_t j = 0; j < 2; ++j)
        CHECK(one.fine_value(own_fine, j) == all.fine_value(fine.data(), 2 * m + j));
    }
    CHECK(close(all.weight_of(sums.data()), weight, 1e-12));
    if (ones) CHECK(all.decode_count(raw.data()) == static_cast<double>(n));
    Stats part = all;
    part.restrict_to(some);
    part.total(raw.data());
    part.decode(raw.data(), sums.data());
    CHECK(part.n_counted() == 3 && part.counts(77) && !part.counts(78));
    for (std::size_t m = 0; m < k; ++m) {
      const double sum = static_cast<double>(s.g[m * n + 3]) + s.g[m * n + 77] + s.g[m * n + 4000];
      CHECK(std::abs(sums[2 * m] - sum) < 1e-3);
    }
  }
  CHECK_THROWS(Stats::vector_gradients(s.g, {}, 7, Context{}), std::invalid_argument);
  CHECK_THROWS(Stats::vector_gradients(s.g, std::span(s.h).first(n), k, Context{}),
               std::invalid_argument);
}

TEST(vector_stats_leave_out_rows_that_add_nothing) {
  const std::vector<float> g = {0, 1, 0, 0, /**/ 0, 0, 0, 2}, h = {0, 1, 0, 1, /**/ 0, 0, 0, 0};
  Stats s = Stats::vector_gradients(g, h, 2);
  CHECK(s.counted_rows() == (std::vector<RowId>{1, 3}));
  s.restrict_to({0, 1, 2});
  CHECK(s.counted_rows() == std::vector<RowId>{1});
  const std::vector<float> busy = {0, 1, 0, 0, /**/ 3, 0, 4, 2};
  CHECK(Stats::vector_gradients(busy, std::vector<float>(8, 0.0F), 2).counts_all());
  CHECK(Stats::vector_gradients(std::vector<float>(8, 0.0F), {}, 2).counts_all());
}

TEST(wide_histograms_hold_every_word) {
  const std::size_t n = 700;
  const Data data({.n_rows = n, .n_features = 5, .missing = 0.1, .n_categorical = 1});
  std::vector<RowId> rows;
  for (std::size_t r = 0; r < n; r += 1 + r % 3) rows.push_back(static_cast<RowId>(r));
  for (std::size_t k = 2; k <= 11; ++k) {
    const Slopes s = make_slopes(n, k);
    const Stats stats = Stats::vector_gradients(s.g, s.h, k, Context{});
    Histogram sums(data.matrix.histogram_size() * k, 0), expected(sums);
    accumulate(data.matrix, stats, rows, sums);
    for (const RowId r : rows) {
      for (std::size_t f = 0; f < data.matrix.n_features; ++f) {
        const std::size_t slot = data.matrix.column_offset[f] + data.matrix.code(r, f);
        stats.add_row(r, expected.data() + slot * k);
      }
    }
    CHECK(same_bits(sums, expected));
  }
}

TEST(vector_trees_are_the_same_of_spread_and_bundled_rows) {
  const std::size_t n = 33000;
  Table t = make_table({.n_rows = n, .n_features = 9, .missing = 0.1});
  for (std::size_t r = 0; r < n; ++r)  // six indicators
    for (std::size_t f = 3; f < 9; ++f) t.at(r, f) = mix(3, r) % 7 == f - 3 ? 1 : 0;
  const Data data({.n_rows = n, .n_features = 9}, std::move(t));
  BinnedMatrix spread = data.matrix, bundled = data.matrix;
  spread.spread_rows(Context{});
  bundled.add_columns(Context{});
  bundled.spread_rows(Context{});
  CHECK(spread.stride8() == 16 && bundled.bundles().size() == 4);
  const Slopes s = make_slopes(n, 3);
  const Stats stats = Stats::vector_gradients(s.g, s.h, 3, Context{});
  const TreeParams params = newton_params();
  const ForestArrays plain = grow_tree(data.matrix, data.mapper, stats, params, Context{});
  CHECK(count_leaves(plain) > 8);
  CHECK(same_tree(plain, grow_tree(spread, data.mapper, stats, params, Context{})));
  CHECK(same_tree(plain, grow_tree(bundled, data.mapper, stats, params, Context{})));
}

TEST(vector_trees_are_the_same_from_any_layout_and_on_threads) {
  const std::size_t n = 9000;
  const Data data({.n_rows = n, .n_features = 6, .missing = 0.1, .zeros = 0.3});
  for (const std::size_t k : {2u, 5u, 9u}) {
    const Slopes s = make_slopes(n, k);
    const Stats stats = Stats::vector_gradients(s.g, s.h, k, Context{});
    for (const Growth growth : {Growth::best_first, Growth::level}) {
      TreeParams params = newton_params();
      params.growth = growth;
      params.max_depth = 6;
      const ForestArrays one = grow_tree(data.matrix, data.mapper, stats, params, Context{1});
      CHECK(one.n_outputs == k && count_leaves(one) > 8);
      CHECK(same_tree(one, grow_tree(data.matrix, data.mapper, stats, params, Context{3})));
      CHECK(same_tree(one, grow_tree(data.sparse_matrix, data.mapper, stats, params, Context{2})));
      for (std::size_t i = 0; i < one.count.size(); ++i) CHECK(one.count[i] >= 5);
    }
  }
}

TEST(an_output_that_is_repeated_splits_as_it_does_alone) {
  const std::size_t n = 3000, k = 4;  // a power of two: sums of equal scores are exact
  const Data data({.n_rows = n, .n_features = 6, .missing = 0.1, .n_categorical = 2});
  Slopes s = make_slopes(n, k);
  for (std::size_t i = n; i < n * k; ++i) {
    s.g[i] = s.g[i - n];
    s.h[i] = s.h[i - n];
  }
  TreeParams params = newton_params();
  params.least_hessian = 0;
  const Stats many = Stats::vector_gradients(s.g, s.h, k, Context{});
  const Stats one = Stats::vector_gradients(std::span(s.g).first(n), std::span(s.h).first(n), 1);
  CHECK(one.packed_histogram());  // the statistics of one output are the usual ones
  const ForestArrays shared = grow_tree(data.matrix, data.mapper, many, params, Context{1});
  const ForestArrays alone = grow_tree(data.matrix, data.mapper, one, params, Context{1});
  CHECK(same_bits(shared.nodes, alone.nodes) && same_bits(shared.set_words, alone.set_words));
  for (std::size_t i = 0; i < alone.values.size(); ++i) {
    CHECK(close(shared.gain[i], 4 * alone.gain[i], 1e-9));
    for (std::size_t m = 0; m < k; ++m) CHECK(shared.values[i * k + m] == alone.values[i]);
  }
}

TEST(vector_rounds_are_the_same_in_pieces_and_on_threads) {
  const std::size_t n = 3000, k = 3;
  Data data({.n_rows = n, .n_features = 6, .missing = 0.05, .n_categorical = 1});
  const auto codes = make_classes(data.table, k, 7);
  const std::vector<double> classes(codes.begin(), codes.end());
  std::vector<double> columns;
  for (std::size_t m = 0; m < k; ++m) {
    const auto y = make_y(data.table, m);
    columns.insert(columns.end(), y.begin(), y.end());
  }
  std::vector<std::uint64_t> keys(n);
  for (std::size_t r = 0; r < n; ++r) keys[r] = mix(r + 17);
  const Loss squared{LossKind::squared, 0};
  for (const bool numbers : {false, true}) {
    for (const bool shared : {false, true}) {
      const BoostTask task{
          .matrix = data.matrix,
          .mapper = data.mapper,
          .loss = numbers ? squared : Loss{LossKind::multinomial, 0},
          .y = numbers ? columns : classes,
          .weight = {},
          .row_key = keys,
          .n_outputs = k,
          .params = newton_params(),
          .learning_rate = 0.3,
          .subsample = 0.7,
          .column_loss = numbers ? std::vector<Loss>(k, squared) : std::vector<Loss>(),
          .vector_leaves = shared};
      std::vector<double> whole(n * k, 0.0), pieces(whole), threads(whole);
      const auto all = boost(task, 0, 7, whole, Context{1});
      boost(task, 0, 3, pieces, Context{1});
      boost(task, 3, 4, pieces, Context{1});
      boost(task, 0, 7, threads, Context{3});
      CHECK(same_bits(whole, pieces) && same_bits(whole, threads));
      CHECK(all.size() == (shared ? 1 : k) && all[0].n_trees() == 7);
      if (!shared) continue;
      std::vector<double> out(n * k);  // row by row
      predict(all[0], data.dense.input, std::vector<double>(7, 0.3), {}, out, Context{1});
      for (std::size_t r = 0; r < n; ++r) {
        for (std::size_t m = 0; m < k; ++m) CHECK(out[r * k + m] == whole[m * n + r]);
      }
    }
  }
}

TEST(a_thread_turns_from_vectors_to_numbers) {
  // What the search keeps from node to node must fit the next tree, which has fewer sums and more
  // bins.
  const std::size_t n = 400, k = 9;
  std::vector<double> coarse(n), fine(n);
  for (std::size_t r = 0; r < n; ++r) {
    coarse[r] = static_cast<double>(r % 7);
    fine[r] = static_cast<double>(r % 50);
  }
  const Slopes s = make_slopes(n, k);
  const Stats many = Stats::vector_gradients(s.g, s.h, k, Context{});
  const Stats one = Stats::gradients(std::span(s.g).first(n), std::span(s.h).first(n), Context{});
  const auto grow = [&](const std::vector<double>& x, const Stats& stats) {
    const Data data({.n_rows = n, .n_features = 1}, columns({x}));
    return grow_tree(data.matrix, data.mapper, stats, newton_params(), Context{1});
  };
  ForestArrays after;
  std::thread fresh([&] {
    grow(coarse, many);
    after = grow(fine, one);
  });
  fresh.join();
  CHECK(same_tree(after, grow(fine, one)));
}
