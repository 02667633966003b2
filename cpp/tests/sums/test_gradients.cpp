// Derivatives of losses, their statistics, and rounds of boosting.
#include "check.hpp"
#include "committee/boosting/boost.hpp"
#include "growth_data.hpp"

using namespace growth_test;

namespace {

constexpr LossKind kKinds[] = {LossKind::squared,  LossKind::absolute, LossKind::huber,
                               LossKind::quantile, LossKind::poisson,  LossKind::gamma,
                               LossKind::tweedie,  LossKind::logistic, LossKind::exponential};

Loss loss_of(LossKind kind) {
  return {kind, kind == LossKind::quantile ? 0.3 : kind == LossKind::tweedie ? 1.5 : 0.7};
}

/// Gradient and hessian of one row.
std::pair<double, double> slope(const Loss& loss, double y, double f, double w = 1) {
  float g = 0, h = 0;
  write_gradients({loss, {&y, 1}, {&f, 1}, {&w, 1}, {}, 0, 1}, {&g, 1}, {&h, 1}, Context{});
  return {g, h};
}

struct Run {
  Data data{{.n_rows = 3000, .n_features = 6, .missing = 0.05, .n_categorical = 1}};
  std::vector<double> y;
  TreeParams params;
  std::vector<std::uint64_t> keys;

  Run() : y(3000), keys(3000) {
    const std::vector<double> signal = make_y(data.table, 3);
    for (std::size_t r = 0; r < y.size(); ++r) y[r] = signal[r] > 0 ? 1 : 0;
    for (std::size_t r = 0; r < keys.size(); ++r) keys[r] = mix(r + 17);
    params.criterion = Criterion::newton;
    params.growth = Growth::best_first;
    params.max_leaves = 15;
    params.min_rows_leaf = 20;
    params.min_gain = 0;
    params.seed = 5;
  }
  std::vector<double> raw = std::vector<double>(3000, 0.0);

  BoostTask task(double subsample = 1) {
    return {data.matrix,
            data.mapper,
            {LossKind::logistic, 0},
            y,
            {},
            subsample < 1 ? std::span<const std::uint64_t>(keys) : std::span<const std::uint64_t>(),
            1,
            params,
            0.1,
            subsample};
  }
};

}  // namespace

TEST(loss_hessians_are_slopes_of_gradients) {
  for (const LossKind kind : {LossKind::squared, LossKind::poisson, LossKind::gamma,
                              LossKind::tweedie, LossKind::logistic, LossKind::exponential}) {
    for (const double f : {-1.3, 0.2, 2.1}) {
      const double y = 1, step = 1e-2;
      const double up = slope(loss_of(kind), y, f + step).first;
      const double down = slope(loss_of(kind), y, f - step).first;
      CHECK(close((up - down) / (2 * step), slope(loss_of(kind), y, f).second, 2e-3));
      CHECK(close(slope(loss_of(kind), y, f, 3).first, 3 * slope(loss_of(kind), y, f).first, 1e-6));
    }
  }
  CHECK(slope(loss_of(LossKind::huber), 0, 5).first == 0.7F);
  CHECK(slope(loss_of(LossKind::quantile), 0, 5).first == 0.7F);
  CHECK(slope(loss_of(LossKind::quantile), 5, 5).first == 0);
  CHECK(slope(loss_of(LossKind::absolute), 9, 5).first == -1);
}

TEST(loss_stays_finite_far_out) {
  for (const LossKind kind : kKinds) {
    for (const double f : {-1e6, 1e6}) {
      const auto [g, h] = slope(loss_of(kind), 1, f);
      CHECK(std::isfinite(g) && std::isfinite(h) && h >= 0);
    }
  }
}

TEST(gradient_stats_keep_sums) {
  for (const std::size_t n : {10u, 5000u, 70000u}) {
    std::vector<float> g(n), h(n);
    double g_sum = 0, h_sum = 0, g_size = 0;
    for (std::size_t r = 0; r < n; ++r) {
      g[r] = static_cast<float>(noise(1, r)) * (r % 100 == 7 ? 1000.0F : 1.0F);  // heavy tails
      h[r] = r % 9 == 0 ? 0.0F : std::abs(static_cast<float>(noise(2, r)));
      g_sum += g[r];
      g_size += std::abs(g[r]);
      h_sum += h[r];
    }
    const Stats stats = Stats::gradients(g, h, Context{2});
    CHECK(stats.packed_histogram() && stats.small_sums());
    std::int64_t raw = 0;
    stats.total(&raw);
    double sums[2];
    stats.decode(&raw, sums);
    CHECK(std::abs(sums[0] - g_sum) <= g_size * 1e-4 && close(sums[1], h_sum, 1e-4));
    CHECK(same_bits(stats.words, Stats::gradients(g, h, Context{1}).words));
    std::vector<RowId> rows(n);
    for (std::size_t r = 0; r < n; ++r) rows[r] = static_cast<RowId>(r);
    __int128 fine[2] = {0, 0};
    stats.add_fine(rows, fine);
    CHECK(std::abs(stats.fine_value(fine, 0) - g_sum) <= g_size * 1e-9);
    CHECK(close(stats.fine_value(fine, 1), h_sum, 1e-9));
  }
}

TEST(gradient_stats_of_ones_count_rows) {
  const std::vector<float> g{1, -2, 0.5F, 0.25F, 4};
  const Stats stats = Stats::gradients(g, {}, Context{});
  CHECK(stats.counts_rows());
  std::int64_t raw = 0;
  for (const RowId r : {0u, 2u, 4u}) stats.add_row(r, &raw);
  double sums[2];
  stats.decode(&raw, sums);
  CHECK(sums[0] == 5.5 && sums[1] == 3 && stats.decode_count(&raw) == 3);
  Stats some = stats;
  some.restrict_to({1, 3});
  some.total(&raw);
  some.decode(&raw, sums);
  CHECK(sums[0] == -1.75 && sums[1] == 2 && !some.counts(0) && some.counts(3));
}

TEST(gradient_stats_leave_out_rows_that_add_nothing) {
  std::vector<float> g = {0, 1, 0, 2, 0, -3}, h = {0, 1, 0.5, 0, 0, 1};
  std::vector<std::uint8_t> room(6 * 4);
  for (const StatRoom& beside : {StatRoom{}, StatRoom{room.data(), 4}}) {
    Stats s = Stats::gradients(g, h, {}, {}, beside);
    CHECK(s.counted_rows() == (std::vector<RowId>{1, 2, 3, 5}));
    s.restrict_to({0, 1, 2, 4});
    CHECK(s.counted_rows() == (std::vector<RowId>{1, 2}));
    std::int64_t word = 0, sum = 0;
    s.total(&word);
    for (const RowId r : {1u, 2u}) s.add_row(r, &sum);
    CHECK(word == sum);
  }
  Stats idle = Stats::gradients(g, h);
  idle.restrict_to({0, 4});  // there is nothing else
  CHECK(idle.counted_rows() == (std::vector<RowId>{0, 4}));
  const std::vector<float> none(6, 0.0F);
  CHECK(Stats::gradients(none, none).counts_all());
  CHECK(Stats::gradients(none, {}).counts_all());
}

TEST(gradient_stats_refuse_what_is_no_number) {
  std::vector<float> g{1, 2, std::numeric_limits<float>::quiet_NaN()};
  CHECK_THROWS(Stats::gradients(g, {}, Context{}), std::invalid_argument);
  g[2] = std::numeric_limits<float>::infinity();
  CHECK_THROWS(Stats::gradients(g, {}, Context{}), std::invalid_argument);
}

TEST(boost_is_the_same_in_pieces_and_on_threads) {
  for (const double subsample : {1.0, 0.5}) {
    Run whole, pieces, threads;
    const auto all = boost(whole.task(subsample), 0, 12, whole.raw, Context{1});
    const auto first = boost(pieces.task(subsample), 0, 5, pieces.raw, Context{1});
    const auto rest = boost(pieces.task(subsample), 5, 7, pieces.raw, Context{1});
    const auto same = boost(threads.task(subsample), 0, 12, threads.raw, Context{3});
    CHECK(same_bits(whole.raw, pieces.raw) && same_bits(whole.raw, threads.raw));
    CHECK(same_tree(all[0].arrays(), same[0].arrays()));
    CHECK(same_bits(all[0].slice(5, 12).arrays().nodes, rest[0].arrays().nodes));
    CHECK(first[0].n_trees() == 5);
    // Scores are what the trees predict.
    std::vector<double> out(3000);
    const std::vector<double> rate(12, 0.1);
    predict(all[0], whole.data.dense.input, rate, {}, out, Context{2});
    CHECK(same_bits(out, whole.raw));
  }
}

TEST(boost_leaves_hold_enough_rows) {
  Run run;  // confident rows have little hessian: their number must be counted
  run.params.min_rows_leaf = 30;
  run.params.max_leaves = 40;
  const auto trees = boost(run.task(), 0, 60, run.raw, Context{2});
  const ForestArrays& a = trees[0].arrays();
  for (std::size_t t = 0; t < trees[0].n_trees(); ++t) {
    for (std::size_t i = a.tree_begin[t]; i < a.tree_begin[t + 1]; ++i) CHECK(a.count[i] >= 30);
  }
}

TEST(boost_leaves_say_no_more_than_they_may) {
  const Data data({.n_rows = 900, .n_features = 4, .seed = 5});
  const std::vector<double> y = make_y(data.table, 5), hessian(900, 0.01);
  const Stats stats = Stats::newton(y, hessian, 16, false);
  TreeParams params;
  params.criterion = Criterion::newton;
  params.max_leaves = 20;
  const ForestArrays free = grow_tree(data.matrix, data.mapper, stats, params, Context{});
  params.max_value = {50};
  const ForestArrays bounded = grow_tree(data.matrix, data.mapper, stats, params, Context{});
  std::size_t n_cut = 0;
  for (std::size_t i = 0; i < free.values.size(); ++i) {
    CHECK(bounded.values[i] == std::clamp(free.values[i], -50.0, 50.0));
    n_cut += std::abs(free.values[i]) > 50 ? 1 : 0;
  }
  CHECK(n_cut > 5 && n_cut < free.values.size() - 5);
  CHECK(same_bits(free.gain, bounded.gain));
}

TEST(boost_lowers_the_loss) {
  Run run;
  const auto log_loss = [&] {
    double sum = 0;
    for (std::size_t r = 0; r < run.y.size(); ++r)
      sum += std::log1p(std::exp(run.y[r] > 0 ? -run.raw[r] : run.raw[r]));
    return sum;
  };
  double before = log_loss();
  for (std::size_t round = 0; round < 8; ++round) {
    boost(run.task(), round, 1, run.raw, Context{1});
    CHECK(log_loss() < before);
    before = log_loss();
  }
}

TEST(leafwise_is_best_first_on_any_number_of_threads) {
  const Data data({.n_rows = 20000, .n_features = 8, .missing = 0.1, .n_categorical = 2});
  const auto codes = make_classes(data.table, 3, 7);
  const std::uint32_t three[1] = {3};
  const Stats stats = Stats::classes(codes, three, {}, true);
  for (const std::size_t leaves : {2u, 7u, 64u, 300u}) {
    TreeParams params;
    params.growth = Growth::best_first;
    params.max_leaves = leaves;
    params.min_rows_leaf = 3;
    const ForestArrays one = grow_tree(data.matrix, data.mapper, stats, params, Context{1});
    CHECK(count_leaves(one) == leaves);
    CHECK(same_tree(one, grow_tree(data.matrix, data.mapper, stats, params, Context{2})));
    CHECK(same_tree(one, grow_tree(data.matrix, data.mapper, stats, params, Context{5})));
    // Shards are driven node by node.
    CHECK(same_tree(one, grow_sharded(data.matrix, data.mapper, stats, params, 2)));
  }
}

TEST(boost_is_the_same_with_statistics_beside_bins_and_apart) {
  // Rows spread to 16, 32 and 64 bytes, and not at all; sparse ones never are. Each growth reads
  // words in its own places, and so do drawn features and drawn rows.
  const std::size_t n = 33000;  // fewer keep more bits than there is room for
  std::vector<std::uint64_t> key(n);
  for (std::size_t r = 0; r < n; ++r) key[r] = mix(7, r);
  for (const std::size_t p : {3u, 12u, 13u, 28u, 29u, 60u, 61u}) {
    Table t = make_table({.n_rows = n, .n_features = p, .missing = 0.1, .zeros = 0.3, .seed = p});
    for (std::size_t r = 0; r < n; ++r)  // indicators, which go together once there are columns
      for (std::size_t f = p / 2; f < p; ++f) t.at(r, f) = mix(p, r) % (p + 1) == f ? 1 : 0;
    const Data data({.n_rows = n, .n_features = p}, std::move(t));
    std::vector<double> y = make_y(data.table, 3);
    for (double& v : y) v = v > 0 ? 1 : 0;
    TreeParams params;
    params.criterion = Criterion::newton;
    params.max_leaves = 20;
    params.max_depth = 6;
    params.min_gain = 0;
    for (const Growth growth : {Growth::best_first, Growth::level, Growth::symmetric}) {
      params.growth = growth;
      params.node_features = p % 2 == 0 && growth != Growth::symmetric ? p / 2 : 0;
      const double subsample = p % 3 == 0 ? 0.6 : 1.0;
      const auto grown = [&](BinnedMatrix matrix, bool spread) {
        if (spread) matrix.spread_rows(Context{2});
        CHECK((matrix.room8() != nullptr) == (spread && p <= 60));
        std::vector<double> raw(n, 0.0);
        const Loss loss{LossKind::logistic, 0, {}};
        const BoostTask task{matrix, data.mapper, loss, y, {}, key, 1, params, 0.3, subsample};
        return boost(task, 0, 2, raw, Context{2})[0];
      };
      const Forest spread = grown(data.matrix, true);
      CHECK(same_tree(spread.arrays(), grown(data.matrix, false).arrays()));
      CHECK(same_tree(spread.arrays(), grown(data.sparse_matrix, false).arrays()));
      BinnedMatrix columns = data.matrix;
      columns.add_columns(Context{2});
      columns.spread_rows(Context{2});
      CHECK(!columns.bundles().empty());
      std::vector<double> raw(n, 0.0);
      const Loss loss{LossKind::logistic, 0, {}};
      const BoostTask task{columns, data.mapper, loss, y, {}, key, 1, params, 0.3, subsample};
      CHECK(same_tree(spread.arrays(), boost(task, 0, 2, raw, Context{2})[0].arrays()));
    }
  }
}
