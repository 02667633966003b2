#include "committee/boosting/boost.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/large_pages.hpp"
#include "boosting/row_draw.hpp"
#include "committee/boosting/gradient_draw.hpp"
#include "committee/boosting/renew.hpp"
#include "committee/growth/tree.hpp"

namespace committee {
namespace {

/// One boosting run's memory, from tree to tree.
class Rounds {
 public:
  Rounds(const BoostTask& task, std::span<double> raw, const Context& context)
      : task_(task), raw_(raw), context_(context), n_rows_(task.matrix.n_rows) {
    const std::size_t n_together = task.vector_leaves ? task.n_outputs : 1;
    resize_on_large_pages(gradient_, n_rows_ * n_together, context);
    resize_on_large_pages(leaf_, n_rows_, context);
    const bool ones = has_unit_hessian(task.loss.kind) && task.weight.empty();
    if (!ones) resize_on_large_pages(hessian_, n_rows_ * n_together, context);
    if (task.loss.kind == LossKind::multinomial) norm_.resize(n_rows_);
    if (task.table != nullptr) terms_.resize(task.n_outputs);
    if (task.subsample == 1 || !task.gradient_based) return;
    draw_.emplace(n_rows_);
    resize_on_large_pages(weighed_gradient_, n_rows_);
    resize_on_large_pages(weighed_hessian_, n_rows_);
  }

  void make(std::size_t round, std::vector<std::vector<Forest>>& trees) {
    if (!norm_.empty()) log_sum_exp(raw_, task_.n_outputs, norm_, context_);
    if (task_.vector_leaves) {
      trees[0].push_back(make_vector_tree(round));
      return;
    }
    if (draw_) settle_draw();
    for (std::size_t output = 0; output < task_.n_outputs; ++output) {
      if (!draw_ || task_.n_outputs > 1) differentiate(output, gradient_, hessian_);
      const std::span<const double> raw = scores(output);
      before_.assign(raw.begin(), renews_leaves(task_.loss.kind) ? raw.end() : raw.begin());
      for (std::size_t k = 0; k < task_.n_parallel; ++k) {
        trees[output].push_back(make_tree(round * task_.n_parallel + k, output));
      }
    }
  }

  /// Of linear leaves, for each output; else none.
  std::vector<LinearTerms>& terms() { return terms_; }

 private:
  std::span<double> scores(std::size_t output) const {
    return raw_.subspan(output * n_rows_, n_rows_);
  }

  const Loss& loss_of(std::size_t output) const {
    return task_.column_loss.empty() ? task_.loss : task_.column_loss[output];
  }
  std::span<const double> target_of(std::size_t output) const {
    return task_.column_loss.empty() ? task_.y : task_.y.subspan(output * n_rows_, n_rows_);
  }

  /// No tree has moved the scores of this output yet: the second time gives what the first gave.
  void differentiate(std::size_t output, std::span<float> gradient, std::span<float> hessian) {
    write_gradients({loss_of(output), target_of(output), scores(output), task_.weight, norm_,
                     output, task_.n_outputs},
                    gradient, hessian, context_);
  }

  /// Chances look at all outputs. Derivatives are made twice rather than kept, unless of one alone.
  void settle_draw() {
    for (std::size_t output = 0; output < task_.n_outputs; ++output) {
      differentiate(output, gradient_, hessian_);
      draw_->add(gradient_, hessian_, context_);
    }
    draw_->settle(task_.subsample, context_);
  }

  Stats packed(std::span<const float> gradient, std::span<const float> hessian) {
    return Stats::gradients(gradient, hessian, context_, std::move(words_),
                            {task_.matrix.room8(), task_.matrix.room_stride()});
  }

  Stats statistics(std::size_t number) {
    const std::uint64_t seed = task_.params.seed;
    if (task_.subsample == 1) return packed(gradient_, hessian_);
    drawn_ = draw_ ? draw_->rows(seed, number, task_.row_key, context_)
                   : rows_of_round(seed, number, task_.row_key, task_.subsample, context_);
    if (draw_)
      draw_->weigh(drawn_, gradient_, hessian_, weighed_gradient_, weighed_hessian_, context_);
    Stats stats = draw_ ? packed(weighed_gradient_, weighed_hessian_) : packed(gradient_, hessian_);
    stats.restrict_to(drawn_);
    return stats;
  }

  Forest make_tree(std::size_t number, std::size_t output) {
    Stats stats = statistics(number);
    TreeParams params = task_.params;
    params.seed = tree_seed(params.seed, number, output);
    if (!params.max_value.empty()) params.max_value = {params.max_value[output]};
    ForestArrays grown = grow_tree_with_leaves(task_.matrix, task_.mapper, stats, params, context_,
                                               leaf_, &workspace_);
    words_ = std::move(stats.words);
    if (renews_leaves(task_.loss.kind)) {
      renew_leaves({loss_of(output), output, target_of(output), before_, renewal_weight(), leaf_,
                    drawn_, grown.nodes, params.monotone},
                   grown.values, context_);
    }
    move(grown, output);
    return Forest(std::move(grown));
  }

  /// What rows count where leaves are renewed: by one over their chance.
  std::span<const double> renewal_weight() {
    if (!draw_) return task_.weight;
    counted_.resize(n_rows_);
    for (std::size_t r = 0; r < n_rows_; ++r) {
      const double weight = task_.weight.empty() ? 1.0 : task_.weight[r], p = draw_->chance(r);
      counted_[r] = weight / (p > 0 ? p : 1.0);
    }
    return counted_;
  }

  /// Moves the scores of an output by what the leaves of its new tree say.
  void move(const ForestArrays& tree, std::size_t output) {
    const std::span<double> raw = scores(output);
    const double rate = task_.learning_rate / static_cast<double>(task_.n_parallel);
    if (task_.table == nullptr) return add_leaves(leaf_, tree.values, rate, raw, context_);
    const std::vector<float>&g = draw_ ? weighed_gradient_ : gradient_,
          &h = draw_ ? weighed_hessian_ : hessian_;
    const std::vector<double>& bounds = task_.params.max_value;
    const double most = bounds.empty() ? std::numeric_limits<double>::infinity() : bounds[output];
    const LinearTerms terms = fit_linear_leaves(
        tree, {*task_.table, g, h, leaf_, drawn_, task_.params.l2, task_.slope_l2, most}, context_);
    add_linear_leaves(tree, terms, *task_.table, leaf_, rate, raw, context_);
    terms_[output].append(terms, 0, terms.n_nodes());
  }

  /// One tree for all outputs.
  Forest make_vector_tree(std::size_t round) {
    const std::size_t k = task_.n_outputs;
    for (std::size_t output = 0; output < k; ++output) {
      const auto of = [&](std::vector<float>& all) {
        return all.empty() ? std::span<float>()
                           : std::span<float>(all).subspan(output * n_rows_, n_rows_);
      };
      differentiate(output, of(gradient_), of(hessian_));
    }
    Stats stats = Stats::vector_gradients(gradient_, hessian_, k, context_, std::move(words_));
    TreeParams params = task_.params;
    params.seed = tree_seed(params.seed, round, 0);
    if (task_.subsample < 1) {
      stats.restrict_to(
          rows_of_round(task_.params.seed, round, task_.row_key, task_.subsample, context_));
    }
    Forest tree(grow_tree_with_leaves(task_.matrix, task_.mapper, stats, params, context_, leaf_,
                                      &workspace_));
    words_ = std::move(stats.words);
    const std::vector<double>& values = tree.arrays().values;
    std::vector<double> own(values.size() / k);
    for (std::size_t output = 0; output < k; ++output) {
      for (std::size_t node = 0; node < own.size(); ++node) own[node] = values[node * k + output];
      add_leaves(leaf_, own, task_.learning_rate, scores(output), context_);
    }
    return tree;
  }

  const BoostTask& task_;
  std::span<double> raw_;
  const Context& context_;
  std::size_t n_rows_;
  std::vector<float> gradient_, hessian_;
  std::optional<GradientDraw> draw_;
  std::vector<RowId> drawn_;  // by the tree at hand; none: all
  std::vector<float> weighed_gradient_, weighed_hessian_;
  std::vector<double> counted_;
  std::vector<double> before_;  // scores before the round: trees of one round renew alike
  std::vector<double> norm_;
  std::vector<std::uint32_t> leaf_;
  std::vector<LinearTerms> terms_;
  std::vector<std::int64_t> words_;
  Workspace workspace_;
};

void check(const BoostTask& task, std::span<const double> raw) {
  const std::size_t n = task.matrix.n_rows;
  const auto require = [](bool holds, const char* sentence) {
    if (!holds) throw std::invalid_argument(sentence);
  };
  const std::size_t n_columns = task.column_loss.size();
  require(task.y.size() == n * std::max<std::size_t>(1, n_columns), "y needs one number per row");
  for (const Loss& loss : task.column_loss) {
    require(loss.kind == task.loss.kind && loss.kind != LossKind::multinomial,
            "columns of y have losses of one kind, for numbers");
  }
  require(task.weight.empty() || task.weight.size() == n, "weight needs one number per row");
  require(task.n_outputs >= 1 && raw.size() == n * task.n_outputs,
          "raw needs one score per row and output");
  const std::size_t n_bounds = task.params.max_value.size();
  require(n_bounds == 0 || n_bounds == task.n_outputs, "max_value needs one number per output");
  const std::size_t n_levels = task.loss.levels.size();
  require(n_levels == 0 || (task.loss.kind == LossKind::quantile && n_levels == task.n_outputs),
          "levels are the quantile loss's, one for each output");
  require(task.loss.kind == LossKind::multinomial || n_levels > 0 ||
              task.n_outputs == std::max<std::size_t>(1, n_columns),
          "only the multinomial loss, several quantiles and columns of y have several outputs");
  require(!task.vector_leaves || (task.n_parallel == 1 && !task.gradient_based &&
                                  task.table == nullptr && !renews_leaves(task.loss.kind)),
          "vector leaves are constants, of one tree a round, and not renewed");
  require(task.subsample > 0 && task.subsample <= 1, "subsample must be in (0, 1]");
  require(task.subsample == 1 || task.row_key.size() == n, "sampling rows needs a key per row");
  require(task.n_parallel >= 1, "a round has one tree at least");
  require(task.params.criterion == Criterion::newton, "boosting grows newton trees");
  require(task.table == nullptr ||
              (task.table->n_rows == n && task.table->n_features == task.mapper.n_features() &&
               !renews_leaves(task.loss.kind)),
          "linear leaves need the rows themselves, and a loss that does not renew leaves");
}

/// The rounds; terms of linear leaves go to `terms`, where it is not null.
std::vector<Forest> run(const BoostTask& task, std::size_t first, std::size_t n,
                        std::span<double> raw, const Context& context,
                        std::vector<LinearTerms>* terms) {
  check(task, raw);
  std::vector<std::vector<Forest>> trees(task.vector_leaves ? 1 : task.n_outputs);
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
  if (terms != nullptr) *terms = std::move(rounds.terms());
  return forests;
}

}  // namespace

std::uint64_t tree_seed(std::uint64_t seed, std::size_t number, std::size_t output) {
  return mix(mix(seed, number), output);
}

std::vector<RowId> rows_of_round(std::uint64_t seed, std::size_t number,
                                 std::span<const std::uint64_t> row_key, double share,
                                 const Context& context) {
  const auto chance = [&](std::size_t) { return share; };
  return draw_rows(draw_key(seed, number), row_key, chance, context);
}

std::vector<Forest> boost(const BoostTask& task, std::size_t first, std::size_t n,
                          std::span<double> raw, const Context& context) {
  if (task.table != nullptr) throw std::invalid_argument("boost_linear is for linear leaves");
  return run(task, first, n, raw, context, nullptr);
}

std::vector<LinearForest> boost_linear(const BoostTask& task, std::size_t first, std::size_t n,
                                       std::span<double> raw, const Context& context) {
  if (task.table == nullptr) throw std::invalid_argument("linear leaves need the rows themselves");
  std::vector<LinearTerms> terms;
  std::vector<Forest> forests = run(task, first, n, raw, context, &terms);
  std::vector<LinearForest> linear;
  for (std::size_t k = 0; k < forests.size(); ++k) {
    linear.emplace_back(std::move(forests[k]), std::move(terms[k]));
  }
  return linear;
}

}  // namespace committee
