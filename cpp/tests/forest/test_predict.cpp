// Prediction against the plain walk, bit for bit: every kind of input, number type, stride, batch
// size, thread count and forest, in batches and row by row.
#include <cstring>
#include <thread>

#include "check.hpp"
#include "committee/forest/predict.hpp"
#include "forest/predict_ranked.hpp"
#include "random_table.hpp"

using namespace committee;
using namespace committee::testing;

namespace {

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// All three questions, answered by the engine and by the oracle.
bool agrees(const Forest& forest, const Table& table, int n_threads,
            const std::vector<double>& weight, const std::vector<double>& intercept) {
  const ForestArrays& a = forest.arrays();
  const std::size_t n = table.input.n_rows, m = a.n_features, k = a.n_outputs,
                    trees = forest.n_trees();
  std::vector<std::uint32_t> leaf(n * trees), leaf_want(n * trees);
  std::vector<double> sum(n * k, 9.0), sum_want(n * k), member(trees * n * k, 9.0),
      member_want(trees * n * k);
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t j = 0; j < k; ++j)
      sum_want[r * k + j] = intercept.empty() ? 0.0 : intercept[j];
    for (std::size_t t = 0; t < trees; ++t) {
      const std::uint32_t at = oracle_leaf(a, t, table.rows.data() + r * m);
      leaf_want[r * trees + t] = at;
      for (std::size_t j = 0; j < k; ++j) {
        const double value = a.values[(a.tree_begin[t] + at) * k + j];
        member_want[(t * n + r) * k + j] = value;
        sum_want[r * k + j] += (weight.empty() ? 1.0 : weight[t]) * value;
      }
    }
  }
  const Context context{n_threads, nullptr};
  const auto right = [&] {
    apply(forest, table.input, leaf, context);
    predict(forest, table.input, weight, intercept, sum, context);
    predict_members(forest, table.input, member, context);
    return same_bits(leaf, leaf_want) && same_bits(sum, sum_want) && same_bits(member, member_want);
  };
  const bool walked = right();
  forest.ranked(
      std::size_t{1} << 40);  // from here on large batches take the ranked form, if there is one
  return walked && right();
}

bool agrees(const Forest& forest, const Table& table, int n_threads = 1) {
  return agrees(forest, table, n_threads, {}, {});
}

constexpr double kInf = std::numeric_limits<double>::infinity();

/// A tree of n_leaves on feature 1, each split one step to the right.
void add_chain(ForestArrays& a, std::size_t n_leaves) {
  const auto n = static_cast<std::uint32_t>(n_leaves);
  for (std::uint32_t i = 0; i + 1 < n; ++i) {
    if (i > 0) a.nodes.push_back({kInf, 0, 2 * i - 1});
    a.nodes.push_back({static_cast<double>(i % 16) - 8.0, 1, 2 * i + 1});
  }
  a.nodes.push_back({kInf, 0, 2 * n - 3});
  a.nodes.push_back({kInf, 0, 2 * n - 2});
  a.tree_begin.push_back(a.nodes.size());
}

const DType kTypes[] = {DType::f32, DType::f64, DType::i8,  DType::i16, DType::i32,    DType::i64,
                        DType::u8,  DType::u16, DType::u32, DType::u64, DType::boolean};
const Layout kLayouts[] = {Layout::c_order, Layout::f_order, Layout::reversed, Layout::padded,
                           Layout::unaligned};

}  // namespace

TEST(predict_dense_inputs) {
  Random random(1);
  ForestShape shape;
  shape.n_trees = 12;
  for (const double categorical : {0.0, 0.3}) {
    shape.categorical = categorical;
    const Forest forest(random_arrays(random, shape));
    for (const DType dtype : kTypes) {
      for (const Layout layout : kLayouts) {
        for (const double missing : {0.0, 0.2}) {
          CHECK(agrees(forest, dense_table(random, 77, 6, dtype, layout, missing)));
        }
      }
    }
  }
}

TEST(predict_sparse_inputs) {
  Random random(2);
  for (const std::size_t n_features : {std::size_t{6}, std::size_t{900}}) {
    ForestShape shape;
    shape.n_trees = 12;
    shape.n_features = n_features;
    for (const double categorical : {0.0, 0.3}) {
      shape.categorical = categorical;
      const Forest forest(random_arrays(random, shape));
      for (const DType dtype : kTypes) {
        for (const bool by_row : {false, true}) {
          const double density = n_features > 100 ? 0.05 : 0.5;
          CHECK(agrees(forest, sparse_table(random, 150, n_features, dtype, by_row, density, 0.1),
                       2));
        }
      }
    }
  }
}

TEST(predict_batch_sizes_and_threads) {
  Random random(3);
  ForestShape shape;
  shape.n_trees = 40;
  shape.max_leaves = 60;
  shape.n_outputs = 3;
  shape.n_features = 5;
  const Forest forest(random_arrays(random, shape));
  const std::vector<double> intercept{0.5, -1.0, 1e-3};
  std::vector<double> weight(40);
  for (double& w : weight) w = std::normal_distribution<double>()(random);
  for (const std::size_t n : {0, 1, 2, 7, 8, 9, 15, 63, 64, 65, 127, 511, 512, 513, 1500, 3001}) {
    for (const int threads : {1, 2, 5}) {
      const Table table = dense_table(random, n, 5, DType::f32, Layout::c_order, 0.02);
      CHECK(agrees(forest, table, threads, weight, intercept));
    }
  }
}

TEST(predict_random_forests) {
  Random random(4);
  for (int round = 0; round < 150; ++round) {
    ForestShape shape;
    shape.n_trees = below(random, 60);
    shape.max_leaves = 1 + below(random, round % 10 == 0 ? 2000 : 300);
    shape.n_features = 1 + below(random, round % 7 == 0 ? 1000 : 12);
    shape.n_outputs = 1 + below(random, 3);
    shape.chain = 0.1;
    shape.missing_left = static_cast<double>(below(random, 3)) / 2;
    shape.categorical = below(random, 4) == 0 ? 0.2 : 0.0;
    shape.few_values = below(random, 2) == 0;
    const Forest forest(random_arrays(random, shape));
    const double missing = below(random, 2) == 0 ? 0.0 : 0.1;
    const std::size_t n = 1 + below(random, 400);
    const DType dtype = below(random, 2) == 0 ? DType::f32 : DType::f64;
    const Layout layout = kLayouts[below(random, 5)];
    CHECK(agrees(forest, dense_table(random, n, shape.n_features, dtype, layout, missing), 2));
    CHECK(agrees(
        forest, sparse_table(random, n, shape.n_features, dtype, round % 2 == 0, 0.3, missing), 2));
  }
}

TEST(predict_large_trees_for_more_rows_than_stay_near) {
  Random random(5);
  for (const bool few_values : {false, true}) {
    for (const std::size_t n_outputs : {1, 2, 3}) {
      ForestShape shape;
      shape.n_trees = 20;
      shape.max_leaves = 3000;
      shape.n_features = 9;
      shape.n_outputs = n_outputs;
      shape.few_values = few_values;
      const Forest forest(random_arrays(random, shape));
      const Table table = dense_table(random, 9001, 9, DType::f32, Layout::c_order, 0.02);
      CHECK(agrees(forest, table, 1));
      CHECK(agrees(forest, table, 3));
      CHECK(forest.ranked(9001) != nullptr);
    }
  }
}

TEST(predict_one_row_is_the_row_of_a_batch) {
  Random random(6);
  ForestShape shape;
  shape.n_trees = 33;
  shape.categorical = 0.1;
  const Forest forest(random_arrays(random, shape));
  const Table table = dense_table(random, 300, 6, DType::f64, Layout::c_order, 0.1);
  std::vector<double> batch(300), single(300);
  predict(forest, table.input, {}, {}, batch, Context{2, nullptr});
  for (std::size_t r = 0; r < 300; ++r) {
    Input one = table.input;
    one.n_rows = 1;
    one.dense.data += r * 48;
    predict(forest, one, {}, {}, std::span(single).subspan(r, 1), Context{2, nullptr});
  }
  CHECK(same_bits(batch, single));
}

/// Appends a tree all whose nodes of a level ask the same, but for one where `broken`.
void add_symmetric(ForestArrays& a, Random& random, std::size_t depth, bool broken) {
  const std::size_t n_inner = (std::size_t{1} << depth) - 1;
  for (std::size_t level = 0; level <= depth; ++level) {
    const double cut = static_cast<double>(below(random, 9)) / 4 - 1;
    const auto feature = static_cast<std::uint32_t>(below(random, a.n_features)) |
                         (below(random, 2) == 0 ? kMissingLeft : 0u);
    for (std::size_t i = (std::size_t{1} << level) - 1; i < (std::size_t{2} << level) - 1; ++i) {
      const auto here = static_cast<std::uint32_t>(i);
      const double own = broken && i + 1 == n_inner ? cut + 0.125 : cut;
      if (level == depth) a.nodes.push_back({kInf, 0, here});
      if (level < depth) a.nodes.push_back({own, feature, 2 * here + 1});
    }
  }
  a.tree_begin.push_back(a.nodes.size());
}

TEST(predict_symmetric_trees_beside_others) {
  Random random(13);
  for (const std::size_t n_outputs : {1, 3}) {
    ForestShape shape;
    shape.n_trees = 4;
    shape.n_outputs = n_outputs;
    ForestArrays a = random_arrays(random, shape);
    for (std::size_t depth = 0; depth <= 8; ++depth) {
      add_symmetric(a, random, depth, false);
      if (depth > 1) add_symmetric(a, random, depth, true);
    }
    for (std::size_t i = a.values.size(); i < a.nodes.size() * n_outputs; ++i)
      a.values.push_back(static_cast<double>(i));
    const Forest forest(std::move(a));
    CHECK(forest.ranked(std::size_t{1} << 40) != nullptr);
    CHECK(agrees(forest, dense_table(random, 700, 6, DType::f64, Layout::c_order, 0.1), 2));
    CHECK(agrees(forest, dense_table(random, 65, 6, DType::f32, Layout::c_order, 0.0), 1));
  }
}

TEST(predict_takes_the_ranked_form_up_to_its_limits) {
  Random random(12);
  for (const std::size_t n_cuts : {255, 256}) {
    for (const std::size_t n_leaves : {2, 256, 257}) {
      ForestShape shape;
      shape.n_trees = 3;
      shape.n_features = 2;
      shape.max_leaves = 1;
      ForestArrays a = random_arrays(random, shape);
      for (std::size_t i = 0; i < n_cuts; ++i) {
        const auto cut = static_cast<double>(i);
        a.nodes.insert(a.nodes.end(),
                       {{cut, i % 2 == 0 ? kMissingLeft : 0u, 1}, {kInf, 0, 1}, {kInf, 0, 2}});
        a.tree_begin.push_back(a.nodes.size());
      }
      add_chain(a, n_leaves);
      for (std::size_t i = a.values.size(); i < a.nodes.size(); ++i) {
        a.values.push_back(static_cast<double>(i));
      }
      const Forest forest(std::move(a));
      const bool fits = n_cuts <= 255;  // with more leaves the trees are walked
      CHECK((forest.ranked(std::size_t{1} << 40) != nullptr) == fits);
      Table table = dense_table(random, 700, 2, DType::f64, Layout::c_order, 0.1);
      double* x = reinterpret_cast<double*>(table.bytes.data());
      for (std::size_t r = 0; r < 520; ++r)
        table.rows[2 * r] = x[2 * r] = static_cast<double>(r) / 2 - 1;
      CHECK(agrees(forest, table, 2));
    }
  }
}

TEST(predict_by_circuits) {
  Random random(14);
  for (const std::size_t n_outputs : {1, 2, 3}) {
    ForestShape shape;
    shape.n_trees = 21;
    shape.max_leaves = 256;
    shape.n_outputs = n_outputs;
    shape.missing_left = 0.5;
    ForestArrays a = random_arrays(random, shape);
    for (const std::size_t depth : {0, 3, 8}) add_symmetric(a, random, depth, depth == 8);
    a.values.resize(a.nodes.size() * n_outputs, -0.5);
    const Forest forest(std::move(a));
    CHECK(forest.ranked(std::size_t{1} << 40)->nodes.empty());
    std::vector<double> weight(forest.n_trees());
    for (double& w : weight) w = std::normal_distribution<double>()(random);
    for (const std::size_t n : {1, 47, 48, 49, 511, 512, 513, 1500}) {
      for (const double missing : {0.0, 0.2}) {
        const DType dtype = n % 2 == 0 ? DType::f64 : DType::f32;
        CHECK(agrees(forest, dense_table(random, n, 6, dtype, Layout::c_order, missing)));
        CHECK(agrees(forest, sparse_table(random, n, 6, dtype, n % 3 == 0, 0.5, missing), 2, weight,
                     std::vector<double>(n_outputs, 0.25)));
      }
    }
  }
}

TEST(predict_walks_where_conditions_are_too_many) {
  Random random(15);
  for (const std::size_t n_features : {230, 240}) {
    ForestArrays a;
    a.n_features = n_features;
    for (std::size_t f = 0; f < n_features; ++f) {
      const std::size_t first = a.nodes.size();
      add_chain(a, 256);
      for (std::size_t i = first; i < a.nodes.size(); ++i) {
        if (a.nodes[i].threshold == kInf) continue;
        a.nodes[i].feature = static_cast<std::uint32_t>(f);
        a.nodes[i].threshold = static_cast<double>(i - first) / 64 - 4.0;
      }
    }
    for (std::size_t i = 0; i < a.nodes.size(); ++i) a.values.push_back(static_cast<double>(i));
    const Forest forest(std::move(a));
    CHECK(forest.ranked(std::size_t{1} << 40)->nodes.empty() == (n_features < 235));
    CHECK(agrees(forest, dense_table(random, 150, n_features, DType::f32, Layout::c_order, 0.1)));
  }
}

TEST(predict_from_many_threads_at_once) {
  Random random(13);
  ForestShape shape;
  shape.n_trees = 30;
  const Forest forest(random_arrays(random, shape));
  const Table table = dense_table(random, 500, 6, DType::f32, Layout::c_order, 0.1);
  std::vector<double> want(500), out[4];
  predict(forest.slice(0, 30), table.input, {}, {}, want, Context{});
  std::vector<std::thread> threads;
  for (auto& answer : out) {
    answer.resize(500);
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i)
        predict(forest, table.input, {}, {}, answer, Context{2, nullptr});
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& answer : out) CHECK(same_bits(answer, want));
}

TEST(predict_without_trees_or_features) {
  ForestShape shape;
  shape.n_features = 0;
  Random random(7);
  const Forest leaves(random_arrays(random, shape));
  const Table table = dense_table(random, 20, 0, DType::f64, Layout::c_order, 0.0);
  CHECK(agrees(leaves, table));
  shape.n_trees = 0;
  const Forest none(random_arrays(random, shape));
  CHECK(agrees(none, table, 2, {}, {4.0}));
}

TEST(predict_refuses_broken_contracts) {
  Random random(8);
  const Forest forest(random_arrays(random, ForestShape{}));
  Table table = dense_table(random, 10, 6, DType::f64, Layout::c_order, 0.0);
  std::vector<double> out(10), wrong(9);
  const Context context;
  CHECK_THROWS(predict(forest, table.input, {}, {}, wrong, context), std::invalid_argument);
  CHECK_THROWS(predict(forest, table.input, wrong, {}, out, context), std::invalid_argument);
  CHECK_THROWS(predict(forest, table.input, {}, wrong, out, context), std::invalid_argument);
  CHECK_THROWS(predict_members(forest, table.input, out, context), std::invalid_argument);
  table.input.n_features = 5;
  CHECK_THROWS(predict(forest, table.input, {}, {}, out, context), std::invalid_argument);
}

TEST(predict_refuses_broken_sparse_inputs) {
  Random random(9);
  ForestShape shape;
  shape.n_trees = 20;
  const Forest forest(random_arrays(random, shape));
  std::vector<double> out(40);
  std::size_t refused = 0;
  for (int round = 0; round < 200; ++round) {
    Table table = sparse_table(random, 40, 6, DType::f32, round % 2 == 0, 0.5, 0.0);
    const std::size_t i = below(random, table.indices.size());
    table.indices[i] = round % 4 < 2 ? -1 - static_cast<std::int32_t>(below(random, 9)) : 1000000;
    try {
      predict(forest, table.input, {}, {}, out, Context{2, nullptr});
    } catch (const std::invalid_argument&) {
      ++refused;
    }
  }
  CHECK(refused > 100);
}
