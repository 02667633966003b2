// Dividing rows: stable, both sides complete, the same on any number of threads and for every
// layout.
#include "check.hpp"
#include "growth_data.hpp"

using namespace growth_test;

namespace {

std::vector<RowId> expected(const BinnedMatrix& m, std::span<const RowId> rows, const Split& split,
                            std::size_t& n_left) {
  std::vector<RowId> out;
  for (const bool left : {true, false}) {
    for (const RowId r : rows) {
      if (split.goes_left(m.code(r, split.feature), m.n_bins[split.feature]) == left)
        out.push_back(r);
    }
    if (left) n_left = out.size();
  }
  return out;
}

/// With gaps, then without, then in no order.
std::vector<RowId> some_rows(std::size_t n_rows) {
  std::vector<RowId> rows;
  for (RowId r = 0; r < n_rows; ++r) {
    if (r > n_rows / 2 || mix(r, 3) % 5 != 0) rows.push_back(r);
  }
  for (std::size_t i = rows.size() - rows.size() / 4; i + 16 < rows.size(); i += 3)
    std::swap(rows[i], rows[i + mix(i) % 16]);
  return rows;
}

void compare(const BinnedMatrix& m, const Split& split, std::size_t begin, std::size_t n,
             int threads) {
  std::vector<RowId> rows = some_rows(m.n_rows);
  n = std::min(n, rows.size() - begin);
  Partition partition(rows);
  std::size_t n_left = 0;
  const std::vector<RowId> wanted = expected(m, std::span(rows).subspan(begin, n), split, n_left);
  CHECK(partition.divide(begin, n, m, split, Context{threads}) == n_left);
  std::copy(wanted.begin(), wanted.end(), rows.begin() + static_cast<std::ptrdiff_t>(begin));
  CHECK(std::equal(rows.begin(), rows.end(), partition.rows().begin()));
}

/// Cuts of each feature with missing rows on either side.
template <class Visit>
void for_splits(const BinnedMatrix& m, Visit visit) {
  for (std::uint32_t f = 0; f < m.n_features; ++f) {
    Split split;
    split.feature = f;
    split.categorical = m.categorical[f] != 0;
    split.levels = {0b101};
    for (const std::uint32_t bin : {0u, m.n_bins[f] / 2, m.n_bins[f] - 1}) {
      split.bin = bin;
      for (const bool missing : {false, true}) {
        split.missing_left = missing;
        visit(split);
      }
    }
  }
}

}  // namespace

TEST(partition_is_stable_for_every_layout) {
  const Data small(
      {.n_rows = 1000, .n_features = 6, .missing = 0.2, .zeros = 0.3, .n_categorical = 2});
  const Data wide({.n_rows = 1000, .n_features = 3, .missing = 0.2, .zeros = 0.3, .max_bins = 900});
  CHECK(wide.matrix.layout == Layout::dense16);
  for (const BinnedMatrix* m :
       {&small.matrix, &small.sparse_matrix, &wide.matrix, &wide.sparse_matrix}) {
    for_splits(*m, [&](const Split& split) {
      compare(*m, split, 0, 1000, 1);
      compare(*m, split, 100, 300, 2);
      compare(*m, split, 17, 0, 1);
    });
  }
}

TEST(partition_by_columns_of_bytes) {
  Data data({.n_rows = 3000, .n_features = 5, .missing = 0.1, .n_categorical = 1});
  Data few({.n_rows = 3000, .n_features = 2, .missing = 0.3, .n_values = 3});
  CHECK(*std::max_element(data.matrix.n_bins.begin(), data.matrix.n_bins.end()) == 255);
  for (BinnedMatrix* m : {&data.matrix, &few.matrix}) {
    m->add_columns(Context{});
    for_splits(*m, [&](const Split& split) {
      compare(*m, split, 0, 3000, 1);
      for (const std::size_t begin : {0, 1500, 2100}) {
        for (std::size_t n = 0; n < 40; ++n) compare(*m, split, begin + n, n, 1);
      }
    });
  }
}

TEST(partition_does_not_depend_on_threads) {
  Data data({.n_rows = 300000, .n_features = 2, .missing = 0.1, .n_values = 20});
  Data columns({.n_rows = 300000, .n_features = 2, .missing = 0.1, .n_values = 20});
  columns.matrix.add_columns(Context{});
  for (const std::uint32_t bin : {0u, 7u, 19u}) {
    Split split;
    split.feature = 1;
    split.bin = bin;
    split.missing_left = bin == 7;
    for (const int threads : {1, 2, 4, 7}) {
      compare(data.matrix, split, 0, 300000, threads);
      compare(data.matrix, split, 12345, 100000, threads);
      compare(columns.matrix, split, 12345, 200000, threads);
    }
  }
}

TEST(partition_side_table) {
  Split split;
  split.bin = 1;
  split.missing_left = true;
  CHECK((side_table(split, 3) == std::vector<std::uint8_t>{1, 1, 0, 1}));
  split.categorical = true;
  split.missing_left = false;
  split.levels = {0b110};
  CHECK((side_table(split, 3) == std::vector<std::uint8_t>{0, 1, 1, 0}));
  split.levels.assign(2, 0);
  split.levels[1] = 2;  // level 65
  CHECK(side_table(split, 70)[65] == 1 && side_table(split, 70)[64] == 0);
}
