// Forests whose leaves are linear: what they keep and what they say; how they are fitted:
// linear.hpp.
#pragma once

#include "committee/bins/input.hpp"
#include "committee/forest/forest.hpp"

namespace committee {

/// The linear models of a forest's nodes, in flat arrays; a node without terms says its constant.
struct LinearTerms {
  std::vector<std::uint64_t> begin{0};  // n_nodes + 1: first term of each node
  std::vector<double> level;            // per node: what it says where each feature is at its `low`
  std::vector<std::uint32_t> feature;   // per term, ascending within a node
  std::vector<double> slope, low, high;

  /// Puts the nodes [first, last) of other terms behind these.
  void append(const LinearTerms& other, std::size_t first, std::size_t last);
  std::size_t n_nodes() const { return level.size(); }
};

/// A forest of one output whose leaves are linear.
class LinearForest {
 public:
  /// Checks everything, as Forest does.
  LinearForest(Forest trees, LinearTerms terms);

  const Forest& trees() const { return trees_; }
  const LinearTerms& terms() const { return terms_; }

  static LinearForest concatenate(std::span<const LinearForest* const> forests);
  LinearForest slice(std::size_t begin, std::size_t end) const;

 private:
  Forest trees_;
  LinearTerms terms_;
};

/// As predict and predict_members of a Forest (predict.hpp).
void predict(const LinearForest& forest, const Input& input, std::span<const double> weight,
             std::span<const double> intercept, std::span<double> out, const Context& context);
void predict_members(const LinearForest& forest, const Input& input, std::span<double> out,
                     const Context& context);

}  // namespace committee
