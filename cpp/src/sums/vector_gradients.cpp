// Statistics of one tree for several outputs, whose leaves are vectors (Zhang and Jung, "GBDT-MO",
// 2020; multi_output_tree of XGBoost): a split gains the sum over outputs of what it gains for
// each.
//
// Every output is rounded by itself, as if it had a tree of its own (gradient_stats.cpp); the words
// of a row then stand side by side, so that a row's visit to a bin is one run of additions.
#include <algorithm>

#include "base/large_pages.hpp"
#include "committee/sums/stats.hpp"

namespace committee {
namespace {

constexpr std::size_t kChunkRows = 4096;

}  // namespace

Stats Stats::vector_gradients(std::span<const float> gradient, std::span<const float> hessian,
                              std::size_t n_outputs, const Context& context,
                              std::vector<std::int64_t> words) {
  if (n_outputs == 0 || gradient.size() % n_outputs != 0)
    throw std::invalid_argument("gradients need as many numbers for each output");
  if (!hessian.empty() && hessian.size() != gradient.size())
    throw std::invalid_argument("gradient and hessian differ in length");
  if (n_outputs == 1) return gradients(gradient, hessian, context, std::move(words));
  const std::size_t n = gradient.size() / n_outputs;
  Stats s;
  s.words = std::move(words);
  s.kind = SumKind::newton;
  s.form = RowForm::wide;
  s.n_rows = n;
  s.width = s.n_outputs = n_outputs;
  s.n_sums = 2 * n_outputs;
  s.gradient32 = gradient;
  s.hessian32 = hessian;
  s.unit_weight_ = hessian.empty();
  s.fine_exponent_.clear();
  resize_on_large_pages(s.words, n * n_outputs);
  std::vector<std::int64_t> own;
  bool some_idle = true;
  for (std::size_t m = 0; m < n_outputs; ++m) {
    const auto h = hessian.empty() ? hessian : hessian.subspan(m * n, n);
    Stats one = gradients(gradient.subspan(m * n, n), h, context, std::move(own));
    s.shift = one.shift;  // the same for all: it depends on the rows and on whether hessians count
    s.unit_.insert(s.unit_.end(), one.unit_.begin(), one.unit_.end());
    s.fine_exponent_.insert(s.fine_exponent_.end(), one.fine_exponent_.begin(),
                            one.fine_exponent_.end());
    s.most_hessian_ += one.most_hessian_ / static_cast<double>(n_outputs);
    s.square_unit_ += one.square_unit_;
    s.square_most_ += one.square_most_;
    some_idle = some_idle && !(one.counts_all() && one.total_ != 0);
    own = std::move(one.words);
    parallel_for((n + kChunkRows - 1) / kChunkRows, context, [&](std::size_t k, int) {
      const std::size_t last = std::min(n, (k + 1) * kChunkRows);
      for (std::size_t r = k * kChunkRows; r < last; ++r) s.words[r * n_outputs + m] = own[r];
    });
  }
  if (some_idle) s.leave_out_idle();
  return s;
}

}  // namespace committee
