// Cells and rows of the binned data, dense and sparse.
#include "binning_data.hpp"
#include "bins/column_codes.hpp"
#include "check.hpp"
#include "committee/bins/matrix.hpp"
#include "committee/bins/row_keys.hpp"

using namespace committee;
using namespace binning_test;

namespace {

void check_take(const BinnedMatrix& matrix) {
  const std::vector<RowId> rows{7, 0, 7, 299, 12};
  const BinnedMatrix taken = matrix.take(rows);
  CHECK(taken.n_rows == rows.size() && taken.n_features == matrix.n_features);
  CHECK(taken.layout == matrix.layout && taken.column_offset == matrix.column_offset);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t f = 0; f < matrix.n_features; ++f) {
      CHECK(taken.code(i, f) == matrix.code(rows[i], f));
    }
  }
  CHECK(matrix.take({}).n_rows == 0);
  CHECK_THROWS(matrix.take(std::vector<RowId>{300}), std::invalid_argument);
}

}  // namespace

TEST(spread_rows_keep_their_cells) {
  const Table t = mixed_table(kNarrowRows, 1, 11);
  const Dense<double> dense(t, Order::c);
  const Context context;
  const BinMapper mapper = BinMapper::fit(dense.input, {}, {255, 0, {}}, context);
  const BinnedMatrix close = mapper.transform(dense.input, context);
  BinnedMatrix spread = close, few = close.take(std::vector<RowId>{3, 1, 2});
  spread.spread_rows(context);
  few.spread_rows(context);
  CHECK(spread.stride8() == 16 && spread.room8() == spread.rows8() + 12);
  CHECK(few.stride8() == 11 && few.room8() == nullptr);
  CHECK(reinterpret_cast<std::uintptr_t>(spread.rows8()) % 64 == 0);
  const std::vector<double> y(kNarrowRows, 1.0);
  CHECK(row_keys(spread, y, 1, context) == row_keys(close, y, 1, context));
  for (std::size_t r = 0; r < spread.n_rows; r += 97) {
    for (std::size_t f = 0; f < 11; ++f) CHECK(spread.code(r, f) == close.code(r, f));
  }
  spread.add_columns(context);
  BinnedMatrix with_columns = close;
  with_columns.add_columns(context);
  CHECK(spread.columns8 == with_columns.columns8);
  const std::vector<RowId> some{7, 0, 7};
  CHECK(spread.take(some).codes8 == close.take(some).codes8);
}

TEST(spread_rows_do_not_depend_on_threads) {
  for (const std::size_t p : {1, 11, 28, 59}) {
    const Table t = mixed_table(kNarrowRows + 777, 1, p);
    const Dense<double> dense(t, Order::c);
    const BinMapper mapper = BinMapper::fit(dense.input, {}, {255, 0, {}}, Context{});
    const BinnedMatrix close = mapper.transform(dense.input, Context{});
    for (const int threads : {1, 2, 5}) {
      BinnedMatrix spread = close;
      spread.spread_rows(Context{threads});
      CHECK(spread.bundles().empty() && spread.room8() != nullptr);
      for (std::size_t r = 0; r < spread.n_rows; ++r) {
        const std::uint8_t *row = spread.rows8() + r * spread.stride8(),
                           *was = close.rows8() + r * p;
        CHECK(std::equal(was, was + p, row));
        CHECK(std::all_of(row + p, row + spread.stride8(), [](auto x) { return x == 0; }));
      }
    }
  }
}

TEST(columns_of_sparse_rows_keep_their_cells) {
  const Table t = mixed_table(300, 1, 11);
  const Sparse<double> sparse(t, true);
  const Context context;
  const BinMapper mapper = BinMapper::fit(sparse.input, {}, {255, 0, {}}, context);
  BinnedMatrix m = mapper.transform(sparse.input, context);
  m.add_columns(context);
  CHECK(m.column_row.size() == m.entry_feature.size());
  std::vector<RowId> ascending(300), leaping, backwards;
  for (RowId r = 0; r < 300; ++r) ascending[r] = r;
  for (RowId r = 0; r < 300; r += 37) leaping.push_back(r);
  backwards.assign(ascending.rbegin(), ascending.rend());
  for (std::size_t f = 0; f < 11; ++f) {
    for (const std::vector<RowId>& rows : {ascending, leaping, backwards}) {
      with_codes(m, f, [&](auto code) {
        for (const RowId r : rows) CHECK(code(r) == m.code(r, f));
      });
    }
  }
}

TEST(take_keeps_the_cells_of_rows) {
  const Table t = mixed_table(300, 1, 11);
  const Dense<double> dense(t, Order::c);
  const Sparse<double> sparse(t, true);
  const Context context;
  const BinMapper narrow = BinMapper::fit(dense.input, {}, {255, 0, {}}, context);
  const BinMapper wide = BinMapper::fit(dense.input, {}, {1000, 0, {}}, context);
  const BinnedMatrix bytes = narrow.transform(dense.input, context);
  const BinnedMatrix words = wide.transform(dense.input, context);
  const BinnedMatrix entries = narrow.transform(sparse.input, context);
  CHECK(bytes.layout == Layout::dense8 && bytes.column_offset[2] == 2 * kApart8);
  CHECK(bytes.take(std::vector<RowId>{1}).codes8.size() >= 11 + 64);
  CHECK(words.layout == Layout::dense16);
  CHECK(words.histogram_size() == words.column_offset[10] + words.n_bins[10] + 1);
  CHECK(entries.layout == Layout::sparse);
  check_take(bytes);
  check_take(words);
  check_take(entries);
}
