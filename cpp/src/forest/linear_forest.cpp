#include "committee/forest/linear_forest.hpp"

#include <cmath>
#include <string>

namespace committee {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument("linear forest: " + what);
}

void check(const Forest& trees, const LinearTerms& terms) {
  const std::size_t n_nodes = trees.n_nodes(), n_terms = terms.feature.size();
  if (trees.arrays().n_outputs != 1) refuse("the trees must have one output");
  if (terms.level.size() != n_nodes || terms.begin.size() != n_nodes + 1) {
    refuse("begin and level must have an entry per node");
  }
  if (terms.slope.size() != n_terms || terms.low.size() != n_terms ||
      terms.high.size() != n_terms) {
    refuse("feature, slope, low and high must have an entry per term");
  }
  if (terms.begin.front() != 0 || terms.begin.back() != n_terms) {
    refuse("begin must run from 0 to the number of terms");
  }
  for (std::size_t node = 0; node < n_nodes; ++node) {
    if (terms.begin[node + 1] < terms.begin[node]) {
      refuse("begin decreases at node " + std::to_string(node));
    }
    if (!std::isfinite(terms.level[node])) {
      refuse("level is not finite at node " + std::to_string(node));
    }
  }
  for (std::size_t i = 0; i < n_terms; ++i) {
    const bool finite = std::isfinite(terms.slope[i]) && std::isfinite(terms.low[i]) &&
                        std::isfinite(terms.high[i]) && terms.low[i] <= terms.high[i];
    if (!finite || terms.feature[i] >= trees.arrays().n_features) {
      refuse("term " + std::to_string(i) + " is no finite slope over a range of a feature");
    }
  }
}

}  // namespace

void LinearTerms::append(const LinearTerms& other, std::size_t first, std::size_t last) {
  const std::uint64_t from = other.begin[first], to = other.begin[last];
  const std::uint64_t shift = feature.size();
  for (std::size_t node = first; node < last; ++node) {
    begin.push_back(other.begin[node + 1] - from + shift);
    level.push_back(other.level[node]);
  }
  const auto copy = [&](auto& out, const auto& in) {
    out.insert(out.end(), in.begin() + static_cast<std::ptrdiff_t>(from),
               in.begin() + static_cast<std::ptrdiff_t>(to));
  };
  copy(feature, other.feature);
  copy(slope, other.slope);
  copy(low, other.low);
  copy(high, other.high);
}

LinearForest::LinearForest(Forest trees, LinearTerms terms)
    : trees_(std::move(trees)), terms_(std::move(terms)) {
  check(trees_, terms_);
}

LinearForest LinearForest::concatenate(std::span<const LinearForest* const> forests) {
  std::vector<const Forest*> trees;
  LinearTerms terms;
  for (const LinearForest* forest : forests) {
    trees.push_back(&forest->trees_);
    terms.append(forest->terms_, 0, forest->terms_.n_nodes());
  }
  return {Forest::concatenate(trees), std::move(terms)};
}

LinearForest LinearForest::slice(std::size_t begin, std::size_t end) const {
  Forest trees = trees_.slice(begin, end);
  LinearTerms terms;
  terms.append(terms_, trees_.arrays().tree_begin[begin], trees_.arrays().tree_begin[end]);
  return {std::move(trees), std::move(terms)};
}

}  // namespace committee
