// Keys of rows: equal for equal content, whatever holds it.
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "check.hpp"
#include "committee/bins/binning.hpp"
#include "committee/bins/row_keys.hpp"
#include "random_table.hpp"

using namespace committee;

namespace {

/// The same numbers as another table: any number type that holds them, any order, sparse or dense.
struct Values {
  std::size_t n = 0, m = 0;
  std::vector<double> rows;

  template <class T>
  testing::Table dense(DType dtype, bool by_row) const {
    testing::Table t;
    t.bytes.resize(rows.size() * sizeof(T));
    t.input.n_rows = n;
    t.input.n_features = m;
    const auto row = static_cast<std::ptrdiff_t>(sizeof(T) * (by_row ? m : 1));
    const auto column = static_cast<std::ptrdiff_t>(sizeof(T) * (by_row ? 1 : n));
    t.input.dense = {t.bytes.data(), dtype, row, column};
    for (std::size_t r = 0; r < n; ++r) {
      for (std::size_t f = 0; f < m; ++f) {
        const T value = static_cast<T>(rows[r * m + f]);
        std::memcpy(t.bytes.data() + static_cast<std::ptrdiff_t>(r) * row +
                        static_cast<std::ptrdiff_t>(f) * column,
                    &value, sizeof value);
      }
    }
    return t;
  }

  template <class T>
  testing::Table sparse(DType dtype, bool by_row, bool store_zeros) const {
    testing::Table t;
    t.indptr.push_back(0);
    for (std::size_t line = 0; line < (by_row ? n : m); ++line) {
      for (std::size_t i = 0; i < (by_row ? m : n); ++i) {
        const T value = static_cast<T>(rows[by_row ? line * m + i : i * m + line]);
        if (value == T{} && !(store_zeros && i % 2 == 0)) continue;
        t.indices.push_back(static_cast<std::int32_t>(i));
        t.bytes.resize(t.bytes.size() + sizeof(T));
        std::memcpy(t.bytes.data() + t.bytes.size() - sizeof(T), &value, sizeof value);
      }
      t.indptr.push_back(static_cast<std::int64_t>(t.indices.size()));
    }
    t.input.n_rows = n;
    t.input.n_features = m;
    t.input.sparse = true;
    t.input.csx = {t.bytes.data(), dtype, t.indptr.data(), t.indices.data(), by_row};
    return t;
  }
};

Values small_integers(testing::Random& random, std::size_t n, std::size_t m) {
  Values values{n, m, {}};
  for (std::size_t i = 0; i < n * m; ++i) {
    values.rows.push_back(testing::chance(random, 0.5) ? 0.0 : static_cast<double>(random() % 5));
  }
  return values;
}

}  // namespace

TEST(keys_do_not_depend_on_type_or_layout) {
  testing::Random random(6);
  const Values values = small_integers(random, 9000, 35);  // several tasks, two tiles
  std::vector<double> target(2 * values.n);
  for (double& y : target) y = static_cast<double>(random() % 3);
  const testing::Table plain = values.dense<double>(DType::f64, true);
  const auto want = table_keys(plain.input, target, 2, {1, nullptr});
  const auto same = [&](const testing::Table& t) {
    return table_keys(t.input, target, 2, {3, nullptr}) == want;
  };
  CHECK(same(plain));
  CHECK(same(values.dense<double>(DType::f64, false)));
  CHECK(same(values.dense<float>(DType::f32, true)));
  CHECK(same(values.dense<std::int8_t>(DType::i8, false)));
  CHECK(same(values.dense<std::uint16_t>(DType::u16, true)));
  CHECK(same(values.dense<std::int64_t>(DType::i64, true)));
  for (const bool by_row : {true, false}) {
    for (const bool zeros : {true, false}) {
      CHECK(same(values.sparse<double>(DType::f64, by_row, zeros)));
      CHECK(same(values.sparse<float>(DType::f32, by_row, zeros)));
      CHECK(same(values.sparse<std::int32_t>(DType::i32, by_row, zeros)));
    }
  }
}

TEST(keys_tell_rows_apart_and_only_rows) {
  Values values{6, 3, {1, 2, 3, 1, 2, 3, 3, 2, 1, 0, 0, 0, 1, 2, 3, -0.0, 0, -0.0}};
  std::vector<double> target{0, 0, 0, 0, 1, -0.0};
  const auto k = table_keys(values.dense<double>(DType::f64, true).input, target, 1, {1, nullptr});
  CHECK(k[0] == k[1] && k[3] == k[5]);
  CHECK(std::set<std::uint64_t>(k.begin(), k.end()).size() == 4);
  const double other_nan = std::bit_cast<double>(0xfff8000000000123ULL);
  Values missing{3, 1, {std::nan(""), other_nan, 5}};
  target = {other_nan, std::nan(""), 0};
  for (const bool sparse : {false, true}) {
    const testing::Table t = sparse ? missing.sparse<double>(DType::f64, true, true)
                                    : missing.dense<double>(DType::f64, true);
    const auto m = table_keys(t.input, target, 1, {1, nullptr});
    CHECK(m[0] == m[1] && m[0] != m[2]);
  }
  CHECK(table_keys(missing.dense<double>(DType::f64, true).input, {}, 0, {1, nullptr}).size() == 3);
  CHECK_THROWS(table_keys(missing.dense<double>(DType::f64, true).input, target, 2, {1, nullptr}),
               std::invalid_argument);
  testing::Table broken = missing.sparse<double>(DType::f64, true, true);
  broken.indices[0] = 4;
  CHECK_THROWS(table_keys(broken.input, target, 1, {1, nullptr}), std::invalid_argument);
}

TEST(keys_of_bins_are_the_same_in_every_layout) {
  testing::Random random(7);
  for (const std::size_t n : {100, 9000}) {  // without and with a table of hashes
    const Values values = small_integers(random, n, 12);
    std::vector<double> target(n);
    for (double& y : target) y = static_cast<double>(random() % 2);
    const testing::Table dense = values.dense<double>(DType::f64, true);
    const testing::Table sparse = values.sparse<double>(DType::f64, true, true);
    const BinMapper mapper =
        BinMapper::fit(dense.input, {}, BinningParams{255, 1, {}}, {1, nullptr});
    const BinnedMatrix bytes = mapper.transform(dense.input, {1, nullptr});
    BinnedMatrix words = bytes;
    words.layout = Layout::dense16;
    words.codes16.assign(bytes.codes8.begin(), bytes.codes8.end());
    CHECK(bytes.layout == Layout::dense8);
    const auto want = row_keys(bytes, target, 1, {1, nullptr});
    CHECK(row_keys(bytes, target, 1, {4, nullptr}) == want);
    CHECK(row_keys(words, target, 1, {2, nullptr}) == want);
    CHECK(row_keys(mapper.transform(sparse.input, {1, nullptr}), target, 1, {2, nullptr}) == want);
    std::map<std::vector<double>, std::uint64_t> key_of;
    std::set<std::uint64_t> distinct;
    for (std::size_t r = 0; r < n; ++r) {
      std::vector<double> row(&values.rows[r * 12], &values.rows[r * 12] + 12);
      row.push_back(target[r]);
      CHECK(key_of.try_emplace(row, want[r]).first->second == want[r]);
      distinct.insert(want[r]);
    }
    CHECK(distinct.size() == key_of.size());
    CHECK_THROWS(row_keys(bytes, {}, 1, {1, nullptr}), std::invalid_argument);
  }
}
