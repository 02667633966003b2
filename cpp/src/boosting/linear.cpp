#include "committee/boosting/linear.hpp"

#include <cmath>

#include "forest/linear_value.hpp"
#include "growth/leaf_groups.hpp"

namespace committee {
namespace {

constexpr std::size_t kBlock = 256;  // rows that are gathered at once
constexpr std::size_t kLanes = 8;    // sums side by side, in any instruction set
/// Share of its own variance that a feature must have left besides those before it: with less, two
/// huge slopes would hold each other in balance.
constexpr double kOwnShare = 1e-6;

/// sum of a[i] * b[i]; n is at most kBlock.
double dot(const double* a, const double* b, std::size_t n) {
  double lane[kLanes] = {};
  const std::size_t whole = n - n % kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) lane[k] += a[i + k] * b[i + k];
  }
  for (std::size_t i = whole; i < n; ++i) lane[i - whole] += a[i] * b[i];
  double sum = 0;
  for (const double part : lane) sum += part;
  return sum;
}

/// The numeric features on the way to each leaf, ascending; of other nodes too.
std::vector<std::vector<std::uint32_t>> path_features(const ForestArrays& tree) {
  std::vector<std::vector<std::uint32_t>> path(tree.nodes.size());
  for (std::size_t node = 0; node < tree.nodes.size(); ++node) {
    const Node& at = tree.nodes[node];
    if (at.left == node) continue;
    std::vector<std::uint32_t> below = path[node];
    const std::uint32_t feature = at.feature & kFeatureMask;
    const auto place = std::lower_bound(below.begin(), below.end(), feature);
    const bool known = place != below.end() && *place == feature;
    if ((at.feature & kCategorical) == 0 && !known) below.insert(place, feature);
    path[at.left + 1] = below;
    path[at.left] = std::move(below);
  }
  return path;
}

/// One leaf's system: first means and ranges, then the matrix and its solution. Buffers are kept.
class LeafFit {
 public:
  /// Puts the leaf's model behind `terms`; nothing where it keeps `constant`.
  template <class Value>
  void fit(const LinearTask& task, std::span<const RowId> rows, std::vector<std::uint32_t> features,
           double constant, const Value& value, LinearTerms& terms) {
    std::erase_if(features, [&](std::uint32_t f) { return !varies(rows, f, value); });
    while (true) {
      p_ = features.size();
      // One row more than unknowns: fewer would be met exactly, whatever noise they carry.
      if (p_ == 0 || rows.size() < p_ + 2) return;
      measure(task, rows, features, constant, value);
      if (n_whole_ < p_ + 2 || !(mass_ > 0)) return;
      accumulate(task, rows, features, value);
      solve(task.slope_l2);
      // Rows that miss nothing but what is left out belong to those that are fitted.
      if (kept_.size() == p_ || n_whole_ == rows.size()) break;
      for (std::size_t k = 0; k < kept_.size(); ++k) features[k] = features[kept_[k]];
      features.resize(kept_.size());
    }
    // Of a constant that was cut nothing can be taken back.
    const bool cut = std::abs(constant) >= task.max_value;
    const double change = cut ? -pull_all_ : withheld_;
    keep(features, (cut ? 0.0 : constant) + change / (mass_ + task.l2), task.max_value, terms);
  }

 private:
  /// Whether two rows that do not miss the feature differ in it.
  template <class Value>
  static bool varies(std::span<const RowId> rows, std::uint32_t feature, const Value& value) {
    double known = std::numeric_limits<double>::quiet_NaN();
    for (const RowId r : rows) {
      const double x = value(r, feature);
      if (x < known || x > known) return true;
      if (known != known) known = x;
    }
    return false;
  }

  /// Rows [begin, begin + n) of the leaf: g_, h_ and x_[feature][row]; rows that miss a feature
  /// count nothing.
  template <class Value>
  void gather(const LinearTask& task, std::span<const RowId> rows,
              std::span<const std::uint32_t> features, const Value& value) {
    x_.resize(p_ * kBlock);
    std::fill_n(whole_, rows.size(), true);
    for (std::size_t j = 0; j < p_; ++j) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const double x = value(rows[i], features[j]);
        x_[j * kBlock + i] = x;
        whole_[i] = whole_[i] && x == x;
      }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      g_[i] = task.gradient[rows[i]];
      h_[i] = task.hessian.empty() ? 1.0 : static_cast<double>(task.hessian[rows[i]]);
    }
  }

  /// Means around the first row's values, so that large ones lose no digits.
  template <class Value>
  void measure(const LinearTask& task, std::span<const RowId> rows,
               std::span<const std::uint32_t> features, double constant, const Value& value) {
    n_whole_ = 0;
    mass_ = withheld_ = pull_all_ = 0;
    mean_.assign(p_, 0.0);
    low_.assign(p_, std::numeric_limits<double>::infinity());
    high_.assign(p_, -std::numeric_limits<double>::infinity());
    for (std::size_t begin = 0; begin < rows.size(); begin += kBlock) {
      const std::size_t n = std::min(kBlock, rows.size() - begin);
      gather(task, rows.subspan(begin, n), features, value);
      for (std::size_t i = 0; i < n; ++i) {
        // The rest of the leaf takes back what the constant gave the rows that miss a feature.
        if (!whole_[i]) {
          withheld_ += g_[i] + h_[i] * constant;
          continue;
        }
        if (n_whole_++ == 0) {
          origin_.resize(p_);
          for (std::size_t j = 0; j < p_; ++j) origin_[j] = x_[j * kBlock + i];
        }
        mass_ += h_[i];
        pull_all_ += g_[i];
        for (std::size_t j = 0; j < p_; ++j) {
          const double x = x_[j * kBlock + i];
          mean_[j] += h_[i] * (x - origin_[j]);
          low_[j] = std::min(low_[j], x);
          high_[j] = std::max(high_[j], x);
        }
      }
    }
    if (n_whole_ == 0) return;
    for (std::size_t j = 0; j < p_; ++j) mean_[j] = origin_[j] + mean_[j] / mass_;
  }

  /// matrix_ = sum of h (x - mean)(x - mean)', lower half; pull_ = sum of g (x - mean).
  template <class Value>
  void accumulate(const LinearTask& task, std::span<const RowId> rows,
                  std::span<const std::uint32_t> features, const Value& value) {
    matrix_.assign(p_ * p_, 0.0);
    pull_.assign(p_, 0.0);
    double weighed[kBlock];
    for (std::size_t begin = 0; begin < rows.size(); begin += kBlock) {
      const std::size_t n = std::min(kBlock, rows.size() - begin);
      gather(task, rows.subspan(begin, n), features, value);
      for (std::size_t j = 0; j < p_; ++j) {
        double* x = x_.data() + j * kBlock;
        for (std::size_t i = 0; i < n; ++i) x[i] = whole_[i] ? x[i] - mean_[j] : 0.0;
        for (std::size_t i = 0; i < n; ++i) weighed[i] = h_[i] * x[i];
        pull_[j] += dot(g_, x, n);
        for (std::size_t k = 0; k <= j; ++k) {
          matrix_[j * p_ + k] += dot(weighed, x_.data() + k * kBlock, n);
        }
      }
    }
  }

  /// slope_ = -(matrix + slope_l2)^-1 pull, by Cholesky's factors; features without a variance of
  /// their own get 0.
  void solve(double slope_l2) {
    kept_.clear();
    for (std::size_t j = 0; j < p_; ++j) {
      double* row = matrix_.data() + j * p_;
      const double whole = row[j] + slope_l2;
      if (!(row[j] > 0)) continue;
      double left = whole;
      for (const std::size_t k : kept_) {
        for (const std::size_t m : kept_) {
          if (m == k) break;
          row[k] -= row[m] * matrix_[k * p_ + m];
        }
        row[k] /= matrix_[k * p_ + k];
        left -= row[k] * row[k];
      }
      if (!(left > kOwnShare * whole)) continue;
      row[j] = std::sqrt(left);
      kept_.push_back(j);
    }
    slope_.assign(p_, 0.0);
    for (const std::size_t j : kept_) {
      double sum = -pull_[j];
      for (const std::size_t k : kept_) {
        if (k == j) break;
        sum -= matrix_[j * p_ + k] * slope_[k];
      }
      slope_[j] = sum / matrix_[j * p_ + j];
    }
    for (std::size_t a = kept_.size(); a-- > 0;) {
      const std::size_t j = kept_[a];
      double sum = slope_[j];
      for (std::size_t b = a + 1; b < kept_.size(); ++b) {
        sum -= matrix_[kept_[b] * p_ + j] * slope_[kept_[b]];
      }
      slope_[j] = sum / matrix_[j * p_ + j];
    }
  }

  void keep(std::span<const std::uint32_t> features, double at_mean, double max_value,
            LinearTerms& terms) {
    at_mean = std::clamp(at_mean, -max_value, max_value);
    double down = 0, up = 0;  // from there to the ends of what the leaf says
    for (const std::size_t j : kept_) {
      const double a = slope_[j] * (low_[j] - mean_[j]), b = slope_[j] * (high_[j] - mean_[j]);
      down += std::min(a, b);
      up += std::max(a, b);
    }
    if (kept_.empty() || !std::isfinite(at_mean + down) || !std::isfinite(at_mean + up)) return;
    double part = 1;
    if (at_mean + up > max_value) part = (max_value - at_mean) / up;
    if (at_mean + down < -max_value) part = std::min(part, (max_value + at_mean) / -down);
    double level = at_mean;
    for (const std::size_t j : kept_) {
      slope_[j] *= part;
      level += slope_[j] * (low_[j] - mean_[j]);
      terms.feature.push_back(features[j]);
      terms.slope.push_back(slope_[j]);
      terms.low.push_back(low_[j]);
      terms.high.push_back(high_[j]);
    }
    terms.level.back() = level;
    terms.begin.back() = terms.feature.size();
  }

  std::size_t p_ = 0, n_whole_ = 0;
  double mass_ = 0, pull_all_ = 0, withheld_ = 0;  // of whole rows: hessian, gradient; of others
  double g_[kBlock], h_[kBlock];
  bool whole_[kBlock];
  std::vector<double> x_, origin_, mean_, low_, high_, matrix_, pull_, slope_;
  std::vector<std::size_t> kept_;
};

}  // namespace

LinearTerms fit_linear_leaves(const ForestArrays& tree, const LinearTask& task,
                              const Context& context) {
  const LeafRows groups = group_by_leaf(task.leaf, task.rows, tree.nodes.size(), context);
  const auto path = path_features(tree);
  std::vector<LinearTerms> made(groups.node.size());
  std::vector<LeafFit> fits(static_cast<std::size_t>(std::max(context.n_threads, 1)));
  with_values(task.input, [&](const auto& value) {
    parallel_for(made.size(), context, [&](std::size_t k, int slot) {
      const std::size_t node = groups.node[k];
      made[k].level.push_back(0.0);
      made[k].begin.push_back(0);
      const auto rows =
          std::span(groups.rows).subspan(groups.begin[k], groups.begin[k + 1] - groups.begin[k]);
      fits[static_cast<std::size_t>(slot)].fit(task, rows, path[node], tree.values[node], value,
                                               made[k]);
    });
  });
  LinearTerms terms;
  LinearTerms none;
  none.level.push_back(0.0);
  none.begin.push_back(0);
  std::size_t next = 0;
  for (std::size_t node = 0; node < tree.nodes.size(); ++node) {
    const bool fitted = next < made.size() && groups.node[next] == node;
    terms.append(fitted ? made[next++] : none, 0, 1);
  }
  return terms;
}

void add_linear_leaves(const ForestArrays& tree, const LinearTerms& terms, const Input& input,
                       std::span<const std::uint32_t> leaf, double scale, std::span<double> raw,
                       const Context& context) {
  constexpr std::size_t kChunkRows = 4096;
  const std::size_t n_chunks = (raw.size() + kChunkRows - 1) / kChunkRows;
  with_values(input, [&](const auto& value) {
    parallel_for(n_chunks, context, [&](std::size_t c, int) {
      const std::size_t end = std::min((c + 1) * kChunkRows, raw.size());
      for (std::size_t r = c * kChunkRows; r < end; ++r) {
        raw[r] += scale * linear_value(terms, leaf[r], tree.values[leaf[r]], r, value);
      }
    });
  });
}

}  // namespace committee
