#include "committee/boosting/leaf_ledger.hpp"

#include <algorithm>
#include <stdexcept>

namespace committee {
namespace {

constexpr std::size_t kChunkRows = 4096;  // their scores stay in the first cache, tree after tree

template <class Leaf>
std::vector<Leaf> narrowed(std::span<const std::uint32_t> leaf) {
  std::vector<Leaf> to(leaf.size());
  std::transform(leaf.begin(), leaf.end(), to.begin(),
                 [](std::uint32_t node) { return static_cast<Leaf>(node); });
  return to;
}

}  // namespace

void LeafLedger::add(std::span<const std::uint32_t> leaf, std::span<const double> value) {
  if (leaf.size() != n_rows_) throw std::invalid_argument("leaf needs one node per row");
  if (std::any_of(leaf.begin(), leaf.end(), [&](auto node) { return node >= value.size(); }))
    throw std::invalid_argument("leaf names a node out of range");
  Tree tree;
  if (value.size() <= 1U << 8) {
    tree.leaf = narrowed<std::uint8_t>(leaf);
  } else if (value.size() <= 1U << 16) {
    tree.leaf = narrowed<std::uint16_t>(leaf);
  } else {
    tree.leaf = narrowed<std::uint32_t>(leaf);
  }
  tree.value.assign(value.begin(), value.end());
  trees_.push_back(std::move(tree));
}

void LeafLedger::sum(std::span<const double> weight, std::span<double> raw,
                     const Context& context) const {
  if (weight.size() != trees_.size()) throw std::invalid_argument("weight needs one per tree");
  if (raw.size() != n_rows_) throw std::invalid_argument("raw needs one score per row");
  parallel_for((n_rows_ + kChunkRows - 1) / kChunkRows, context, [&](std::size_t k, int) {
    const std::size_t begin = k * kChunkRows, end = std::min(n_rows_, begin + kChunkRows);
    for (std::size_t t = 0; t < trees_.size(); ++t) {
      const double w = weight[t];
      if (w == 0) continue;
      const double* const value = trees_[t].value.data();
      std::visit(
          [&](const auto& leaf) {
            for (std::size_t r = begin; r < end; ++r) raw[r] += w * value[leaf[r]];
          },
          trees_[t].leaf);
    }
  });
}

}  // namespace committee
