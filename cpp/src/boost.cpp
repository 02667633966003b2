#include "committee/boost.hpp"

#include <algorithm>
#include <cmath>

#include "committee/tree.hpp"
#include "large_pages.hpp"
#include "row_records.hpp"

namespace committee {
namespace {

/// One boosting run's memory, from tree to tree.
class Rounds {
 public:
  Rounds(const BoostTask& task, std::span<double> raw, const Context& context)
      : task_(task),
        raw_(raw),
        context_(context),
        n_rows_(task.matrix.n_rows),
        records_(task.matrix, context) {
    resize_on_large_pages(gradient_, n_rows_);
    resize_on_large_pages(leaf_, n_rows_);
    const bool ones = has_unit_hessian(task.loss.kind) && task.weight.empty();
    if (!ones) resize_on_large_pages(hessian_, n_rows_);
    if (task.loss.kind == LossKind::multinomial) norm_.resize(n_rows_);
  }

  void make(std::size_t round, std::vector<std::vector<Forest>>& trees) {
    if (!norm_.empty()) log_sum_exp(raw_, task_.n_outputs, norm_, context_);
    for (std::size_t output = 0; output < task_.n_outputs; ++output) {
      trees[output].push_back(make_tree(round, output));
    }
  }

 private:
  Forest make_tree(std::size_t round, std::size_t output) {
    const std::span<double> raw = raw_.subspan(output * n_rows_, n_rows_);
    write_gradients({task_.loss, task_.y, raw, task_.weight, norm_, output, task_.n_outputs},
                    gradient_, hessian_, context_);
    Stats stats = Stats::gradients(gradient_, hessian_, context_, std::move(words_));
    if (task_.subsample < 1) {
      stats.restrict_to(rows_of_round(task_.params.seed, round, task_.row_key, task_.subsample));
    }
    records_.write(stats, context_);
    TreeParams params = task_.params;
    params.seed = tree_seed(params.seed, round, output);
    Forest tree(grow_tree_with_leaves(task_.matrix, task_.mapper, stats, params, context_, leaf_,
                                      &workspace_));
    words_ = std::move(stats.words);
    add_leaves(leaf_, tree.arrays().values, task_.learning_rate, raw, context_);
    return tree;
  }

  const BoostTask& task_;
  std::span<double> raw_;
  const Context& context_;
  std::size_t n_rows_;
  std::vector<float> gradient_, hessian_;
  std::vector<double> norm_;
  std::vector<std::uint32_t> leaf_;
  std::vector<std::int64_t> words_;
  RowRecords records_;
  Workspace workspace_;
};

void check(const BoostTask& task, std::span<const double> raw) {
  const std::size_t n = task.matrix.n_rows;
  const auto require = [](bool holds, const char* sentence) {
    if (!holds) throw std::invalid_argument(sentence);
  };
  require(task.y.size() == n, "y needs one number per row");
  require(task.weight.empty() || task.weight.size() == n, "weight needs one number per row");
  require(task.n_outputs >= 1 && raw.size() == n * task.n_outputs,
          "raw needs one score per row and output");
  require(task.loss.kind == LossKind::multinomial || task.n_outputs == 1,
          "only the multinomial loss has several outputs");
  require(task.subsample > 0 && task.subsample <= 1, "subsample must be in (0, 1]");
  require(task.subsample == 1 || task.row_key.size() == n, "sampling rows needs a key per row");
  require(task.params.criterion == Criterion::newton, "boosting grows newton trees");
}

}  // namespace

std::uint64_t tree_seed(std::uint64_t seed, std::size_t round, std::size_t output) {
  return mix(mix(seed, round), output);
}

std::vector<RowId> rows_of_round(std::uint64_t seed, std::size_t round,
                                 std::span<const std::uint64_t> row_key, double share) {
  const std::uint64_t key = mix(mix(seed, round), ~std::uint64_t{0});
  std::vector<RowId> rows;
  for (std::size_t r = 0; r < row_key.size(); ++r) {
    const double u = static_cast<double>(mix(key, row_key[r]) >> 11) * 0x1p-53;
    if (u < share) rows.push_back(static_cast<RowId>(r));
  }
  if (rows.empty()) rows.push_back(static_cast<RowId>(mix(key, 0) % row_key.size()));
  return rows;
}

std::vector<Forest> boost(const BoostTask& task, std::size_t first, std::size_t n,
                          std::span<double> raw, const Context& context) {
  check(task, raw);
  std::vector<std::vector<Forest>> trees(task.n_outputs);
  Rounds rounds(task, raw, context);
  for (std::size_t round = first; round < first + n; ++round) {
    rounds.make(round, trees);
    check_interrupt(context);
  }
  std::vector<Forest> forests;
  for (const std::vector<Forest>& of_output : trees) {
    std::vector<const Forest*> all;
    for (const Forest& tree : of_output) all.push_back(&tree);
    forests.push_back(Forest::concatenate(all));
  }
  return forests;
}

}  // namespace committee
