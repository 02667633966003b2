#include "committee/search/column_draw.hpp"

#include <algorithm>
#include <numeric>

namespace committee {
namespace {

/// n of `from`, ascending.
std::vector<std::uint32_t> draw(std::vector<std::uint32_t> from, std::size_t n,
                                KeyedStream stream) {
  for (std::size_t i = 0; i < n; ++i) {
    std::swap(from[i], from[i + stream.below(from.size() - i)]);
  }
  from.resize(n);
  std::sort(from.begin(), from.end());
  return from;
}

}  // namespace

ColumnDraw::ColumnDraw(const TreeParams& params, std::size_t n_features)
    : seed_(params.seed), n_level_(params.level_features), tree_(n_features) {
  std::iota(tree_.begin(), tree_.end(), 0u);
  if (params.tree_features != 0 && params.tree_features < n_features) {
    const KeyedStream stream(params.seed, Use::tree_features);
    tree_ = draw(std::move(tree_), params.tree_features, stream);
  }
  if (n_level_ >= tree_.size()) n_level_ = 0;
}

void ColumnDraw::reach(std::size_t depth) {
  if (n_level_ == 0) return;
  while (levels_.size() <= depth) {
    const KeyedStream stream(mix(seed_, levels_.size()), Use::level_features);
    levels_.push_back(draw(tree_, n_level_, stream));
  }
}

}  // namespace committee
