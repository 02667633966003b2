// Blocks of rows in parallel, inside a block tree after tree, so that a tree's steps are near while
// all groups of rows walk through it.
#include "committee/shap/shap.hpp"

#include <algorithm>
#include <optional>

#include "forest/predict_rows.hpp"
#include "shap/shap_walk.hpp"

namespace committee {
namespace {

/// Groups of kShapLanes rows in a block.
constexpr std::size_t kMostGroups = 8;
/// Numbers of one row that stay near; with more a block has fewer groups.
constexpr std::size_t kNearNumbers = 4096;

void check_cover(const ForestArrays& a) {
  if (a.weight.size() != a.nodes.size())
    throw std::invalid_argument("Shapley values need the weights of all nodes");
  const auto bad = std::find_if(a.weight.begin(), a.weight.end(), [](double w) { return w < 0; });
  if (bad == a.weight.end()) return;
  throw std::invalid_argument("Shapley values need weights that are not negative, node " +
                              std::to_string(bad - a.weight.begin()) + " has " +
                              std::to_string(*bad));
}

/// factor[0] * factor[1] * ..., at most the largest number.
std::size_t product(std::initializer_list<std::size_t> factors) {
  std::size_t all = 1;
  for (const std::size_t f : factors) {
    if (f != 0 && all > std::numeric_limits<std::size_t>::max() / f)
      return std::numeric_limits<std::size_t>::max();
    all *= f;
  }
  return all;
}

void check_length(const char* what, std::size_t size, std::size_t expected) {
  if (size == expected) return;
  throw std::invalid_argument(std::string(what) + " has " + std::to_string(size) +
                              " entries, must have " + std::to_string(expected));
}

/// The rows and sums of a block, and what a thread needs to fill them.
class Block {
 public:
  Block(const Forest& forest, const ShapForest& shap, std::size_t n_groups, bool pairs)
      : forest_(forest),
        shap_(shap),
        scratch_(shap, pairs),
        n_phi_(shap.n_columns * shap.n_outputs),
        n_pair_(pairs && shap.n_columns > 1 ? shap_pair(shap.n_columns, 0) * shap.n_outputs : 0),
        columns_(n_groups * shap.n_columns),
        phi_(n_groups * n_phi_),
        pair_(n_groups * n_pair_) {}

  void load(const RowSource& source, std::size_t begin, std::size_t end);
  void add_trees(const Context& context, bool pairs);

  double phi(std::size_t row, std::size_t at) const {
    return phi_[row / kShapLanes * n_phi_ + at].v[row % kShapLanes];
  }
  double pair(std::size_t row, std::size_t at) const {
    return pair_[row / kShapLanes * n_pair_ + at].v[row % kShapLanes];
  }

 private:
  const Forest& forest_;
  const ShapForest& shap_;
  ShapScratch scratch_;
  std::size_t n_phi_, n_pair_, n_groups_ = 0;
  std::vector<ShapLanes> columns_, phi_, pair_;
  std::vector<double> rows_;
};

/// Lanes behind the last row repeat it: every lane then holds numbers of the usual kind.
void Block::load(const RowSource& source, std::size_t begin, std::size_t end) {
  const std::size_t n = end - begin, width = source.width(), n_columns = shap_.n_columns;
  rows_.resize(n * width);
  source.load_rows(begin, end, rows_.data());
  n_groups_ = (n + kShapLanes - 1) / kShapLanes;
  for (std::size_t r = 0; r < n_groups_ * kShapLanes; ++r) {
    const double* row = rows_.data() + std::min(r, n - 1) * width;
    ShapLanes* to = columns_.data() + r / kShapLanes * n_columns;
    for (std::size_t u = 0; u < n_columns; ++u)
      to[u].v[r % kShapLanes] = row[source.compact() ? u : forest_.used_features()[u]];
  }
}

void Block::add_trees(const Context& context, bool pairs) {
  std::fill(phi_.begin(), phi_.end(), ShapLanes{});
  std::fill(pair_.begin(), pair_.end(), ShapLanes{});
  for (std::size_t t = 0; t < shap_.trees.size(); ++t) {
    check_interrupt(context);
    for (std::size_t g = 0; g < n_groups_; ++g) {
      const ShapLanes* columns = columns_.data() + g * shap_.n_columns;
      ShapLanes* phi = phi_.data() + g * n_phi_;
      if (pairs) {
        add_shap_pairs(forest_.arrays(), shap_, t, columns, scratch_, phi,
                       pair_.data() + g * n_pair_);
      } else {
        add_shap_values(forest_.arrays(), shap_, t, columns, scratch_, phi);
      }
    }
  }
}

/// write(block, row in the block, row of the input), once for each row.
template <class Write>
void for_each_row(const Forest& forest, const ShapForest& shap, const Input& input, bool pairs,
                  const Context& context, const Write& write) {
  const RowSource source(forest, input);
  const std::size_t n_threads = static_cast<std::size_t>(std::max(1, context.n_threads));
  const std::size_t u = shap.n_columns;
  const std::size_t numbers = 1 + u + shap.n_outputs * (pairs ? u * (u + 1) / 2 : u);
  const std::size_t fair = input.n_rows / (4 * n_threads * kShapLanes);
  const std::size_t groups =
      std::clamp<std::size_t>(std::min(fair, kNearNumbers / numbers), 1, kMostGroups);
  const std::size_t rows = groups * kShapLanes;
  std::vector<std::optional<Block>> blocks(n_threads);
  parallel_for((input.n_rows + rows - 1) / rows, context, [&](std::size_t task, int slot) {
    auto& block = blocks[static_cast<std::size_t>(slot)];
    if (!block) block.emplace(forest, shap, groups, pairs);
    const std::size_t begin = task * rows, end = std::min(begin + rows, input.n_rows);
    block->load(source, begin, end);
    block->add_trees(context, pairs);
    for (std::size_t r = begin; r < end; ++r) write(*block, r - begin, r);
  });
}

/// A row's interactions: halves beside the diagonal, on it what they leave of the feature's value.
void write_pairs(const Block& block, std::size_t row, std::span<const std::uint32_t> used,
                 std::size_t width, std::size_t n_outputs, double* out) {
  const auto at = [&](std::size_t i, std::size_t j) { return (i * width + j) * n_outputs; };
  for (std::size_t k = 0; k < n_outputs; ++k) {
    for (std::size_t i = 0; i < used.size(); ++i) {
      double rest = block.phi(row, i * n_outputs + k);
      for (std::size_t j = 0; j < used.size(); ++j) {
        if (j == i) continue;
        const double half = 0.5 * block.pair(row, shap_pair(i, j) * n_outputs + k);
        out[at(used[i], used[j]) + k] = half;
        rest -= half;
      }
      out[at(used[i], used[i]) + k] = rest;
    }
  }
}

}  // namespace

void shap_values(const Forest& forest, const Input& input, std::span<const double> weight,
                 std::span<double> out, const Context& context) {
  const std::size_t k = forest.arrays().n_outputs, width = forest.arrays().n_features + 1;
  check_cover(forest.arrays());
  if (!weight.empty()) check_length("weight", weight.size(), forest.n_trees());
  check_length("out", out.size(), product({input.n_rows, width, k}));
  const ShapForest shap(forest, weight, false);
  const std::span<const std::uint32_t> used = forest.used_features();
  for_each_row(forest, shap, input, false, context,
               [&](const Block& block, std::size_t row, std::size_t r) {
                 double* to = out.data() + r * width * k;
                 std::fill_n(to, width * k, 0.0);
                 for (std::size_t i = 0; i < used.size() * k; ++i)
                   to[used[i / k] * k + i % k] = block.phi(row, i);
                 std::copy(shap.bias.begin(), shap.bias.end(), to + (width - 1) * k);
               });
}

void shap_interactions(const Forest& forest, const Input& input, std::span<const double> weight,
                       std::span<double> out, const Context& context) {
  const std::size_t k = forest.arrays().n_outputs, width = forest.arrays().n_features + 1;
  check_cover(forest.arrays());
  if (!weight.empty()) check_length("weight", weight.size(), forest.n_trees());
  check_length("out", out.size(), product({input.n_rows, width, width, k}));
  const ShapForest shap(forest, weight, true);
  for_each_row(forest, shap, input, true, context,
               [&](const Block& block, std::size_t row, std::size_t r) {
                 double* to = out.data() + r * width * width * k;
                 std::fill_n(to, width * width * k, 0.0);
                 write_pairs(block, row, forest.used_features(), width, k, to);
                 std::copy(shap.bias.begin(), shap.bias.end(), to + (width * width - 1) * k);
               });
}

}  // namespace committee
