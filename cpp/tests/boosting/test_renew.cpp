// Renewed leaves against sums and sorts in the plainest form.
#include <algorithm>
#include <cmath>

#include "check.hpp"
#include "committee/base/random.hpp"
#include "committee/boosting/renew.hpp"

using namespace committee;

namespace {

struct Rows {
  std::vector<double> y, raw, weight;
  std::vector<std::uint32_t> leaf;
  std::vector<RowId> drawn;
};

/// n rows in 7 nodes of which node 0 has none; residuals are multiples of 1/4, so that many tie.
Rows make_rows(std::size_t n, std::uint64_t seed) {
  Rows rows;
  for (std::size_t r = 0; r < n; ++r) {
    const std::uint64_t bits = mix(seed, r);
    rows.y.push_back(static_cast<double>(bits % 41) / 4 - 5);
    rows.raw.push_back(static_cast<double>((bits >> 8) % 5) / 4);
    rows.weight.push_back(static_cast<double>((bits >> 16) % 4));
    rows.leaf.push_back(1 + static_cast<std::uint32_t>((bits >> 24) % 6));
    if (bits >> 63 != 0) rows.drawn.push_back(static_cast<RowId>(r));
  }
  return rows;
}

RenewTask task_of(const Rows& rows, Loss loss, bool weighted, bool drawn) {
  RenewTask task{std::move(loss), 0, rows.y, rows.raw, {}, rows.leaf, {}};
  if (weighted) task.weight = rows.weight;
  if (drawn) task.rows = rows.drawn;
  return task;
}

/// The loss of one leaf's rows at a constant, for the losses that are renewed.
double loss_at(const RenewTask& task, std::uint32_t node, double constant) {
  double sum = 0;
  const auto add = [&](std::size_t r) {
    if (task.leaf[r] != node) return;
    const double left = task.y[r] - task.raw[r] - constant, far = std::abs(left);
    double value = far / 2;
    const double p = task.loss.parameter;
    if (task.loss.kind == LossKind::quantile) value = left > 0 ? p * left : (p - 1) * left;
    if (task.loss.kind == LossKind::huber) value = far < p ? far * far / 2 : p * (far - p / 2);
    sum += (task.weight.empty() ? 1 : task.weight[r]) * value;
  };
  if (task.rows.empty()) {
    for (std::size_t r = 0; r < task.y.size(); ++r) add(r);
  } else {
    for (const RowId r : task.rows) add(r);
  }
  return sum;
}

}  // namespace

TEST(renewed_leaves_lose_least) {
  const Rows rows = make_rows(400, 5);
  for (const Loss& loss : {Loss{LossKind::absolute, 0, {}}, Loss{LossKind::quantile, 0.3, {}},
                           Loss{LossKind::huber, 0.7, {}}}) {
    for (const int form : {0, 1, 2, 3}) {
      const RenewTask task = task_of(rows, loss, (form & 1) != 0, (form & 2) != 0);
      std::vector<double> value(7, 99);
      renew_leaves(task, value, Context{1});
      CHECK(value[0] == 99);  // nobody is there
      for (std::uint32_t node = 1; node < 7; ++node) {
        const double least = loss_at(task, node, value[node]);
        for (double c = -7; c <= 7; c += 0.125) CHECK(loss_at(task, node, c) >= least - 1e-9);
      }
    }
  }
}

TEST(renewed_leaves_take_the_middle_of_what_is_best) {
  const std::vector<double> y{4, 1, 2, 9}, raw(4, 0.0), weight{1, 1, 1, 4};
  const std::vector<std::uint32_t> leaf(4, 0);
  std::vector<double> value(1);
  renew_leaves({Loss{LossKind::absolute, 0, {}}, 0, y, raw, {}, leaf, {}}, value, Context{1});
  CHECK(value[0] == 3);
  renew_leaves({Loss{LossKind::absolute, 0, {}}, 0, y, raw, weight, leaf, {}}, value, Context{1});
  CHECK(value[0] == 9);
  renew_leaves({Loss{LossKind::quantile, 0, {0.5, 0.25}}, 1, y, raw, {}, leaf, {}}, value,
               Context{1});
  CHECK(value[0] == 1.5);
  // Beyond 1 apart values only pull: between 2 and 4 all is alike.
  renew_leaves({Loss{LossKind::huber, 0.5, {}}, 0, y, raw, {}, leaf, {}}, value, Context{1});
  CHECK(value[0] == 3);
}

TEST(renewed_leaves_are_the_same_on_any_number_of_threads) {
  const Rows rows = make_rows(60000, 9);
  for (const LossKind kind : {LossKind::absolute, LossKind::quantile, LossKind::huber}) {
    for (const bool drawn : {false, true}) {
      const RenewTask task = task_of(rows, Loss{kind, 0.4, {}}, true, drawn);
      std::vector<double> one(7), three(7);
      renew_leaves(task, one, Context{1});
      renew_leaves(task, three, Context{3});
      CHECK(one == three);
    }
  }
}
