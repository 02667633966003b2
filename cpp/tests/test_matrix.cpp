// Cells and rows of the binned data, dense and sparse.
#include "binning_data.hpp"
#include "check.hpp"
#include "committee/matrix.hpp"

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
  CHECK(bytes.layout == Layout::dense8 && bytes.column_offset[2] == 512);
  CHECK(bytes.take(std::vector<RowId>{1}).codes8.size() >= 11 + 64);
  CHECK(words.layout == Layout::dense16);
  CHECK(words.histogram_size() == words.column_offset[10] + words.n_bins[10] + 1);
  CHECK(entries.layout == Layout::sparse);
  check_take(bytes);
  check_take(words);
  check_take(entries);
}
