// The split search by brute force: every cut of every feature, both sides for missing rows, every
// subset of levels, impurities from the raw targets in long double.
#pragma once

#include "growth_data.hpp"

namespace growth_test {

/// What a criterion reads, row by row.
struct Target {
  Criterion criterion = Criterion::gini;
  std::vector<std::uint32_t> codes;
  std::uint32_t n_classes = 2;
  std::vector<double> y;  // or gradients
  std::vector<double> hessian;
  std::vector<double> weight;  // empty: one
  double l2 = 0;

  double w(std::size_t r) const { return weight.empty() ? 1.0 : weight[r]; }

  Stats stats(bool counted = false) const {
    const std::uint32_t k[] = {n_classes};
    if (for_classes(criterion)) return Stats::classes(codes, k, weight, counted);
    if (criterion == Criterion::newton) return Stats::newton(y, hessian, 30, counted);
    return Stats::regression(y, 1, weight, criterion != Criterion::poisson, counted);
  }

  long double total(const std::vector<std::size_t>& rows) const {
    long double sum = 0;
    for (const std::size_t r : rows) sum += criterion == Criterion::newton ? hessian[r] : w(r);
    return sum;
  }

  /// The value a leaf of these rows would have (two classes: the share of the second).
  double value(const std::vector<std::size_t>& rows) const {
    long double a = 0, b = 0;
    for (const std::size_t r : rows) {
      a += for_classes(criterion)           ? w(r) * codes[r]
           : criterion == Criterion::newton ? -y[r]
                                            : w(r) * y[r];
      b += criterion == Criterion::newton ? hessian[r] : w(r);
    }
    return static_cast<double>(a / (b + l2));
  }

  long double class_impurity(const std::vector<std::size_t>& rows) const {
    std::vector<long double> sums(n_classes, 0);
    for (const std::size_t r : rows) sums[codes[r]] += w(r);
    const long double all = total(rows);
    long double squares = 0, logs = 0, most = 0, roots = 0;
    for (const long double s : sums) {
      squares += s * s / all;
      if (s > 0) logs -= s * std::log2(s / all);
      most = std::max(most, s);
      roots += std::sqrt(s * (all - s));
    }
    return criterion == Criterion::gini          ? all - squares
           : criterion == Criterion::error       ? all - most
           : criterion == Criterion::exponential ? roots
                                                 : logs;
  }

  /// weight * impurity.
  long double impurity(const std::vector<std::size_t>& rows) const {
    if (for_classes(criterion)) return class_impurity(rows);
    long double a = 0, b = 0, square = 0, logs = 0;
    for (const std::size_t r : rows) {
      const long double v = y[r];
      const long double weight_of =
          criterion == Criterion::newton ? 1.0L : static_cast<long double>(w(r));
      a += weight_of * v;
      b += criterion == Criterion::newton ? static_cast<long double>(hessian[r]) : weight_of;
      square += weight_of * v * v;
      if (v > 0) logs += weight_of * v * std::log(v);
    }
    if (criterion == Criterion::newton) return b + l2 > 0 ? -a * a / (b + l2) : 0;
    if (criterion == Criterion::squared_error) return square - a * a / b;
    if (criterion == Criterion::poisson) {
      return a > 0 ? logs - a * std::log(a / b) : std::numeric_limits<long double>::infinity();
    }
    return absolute(rows);
  }

  long double absolute(std::vector<std::size_t> rows) const {
    long double best = std::numeric_limits<long double>::infinity();
    for (const std::size_t m : rows) {
      long double sum = 0;
      for (const std::size_t r : rows)
        sum += w(r) * std::abs(static_cast<long double>(y[r]) - y[m]);
      best = std::min(best, sum);
    }
    return best;
  }
};

struct OracleSplit {
  double quality = -std::numeric_limits<double>::infinity();
  double gain = 0;
  std::size_t feature = 0;
};

class Oracle {
 public:
  Oracle(const Data& data, const Target& target, const TreeParams& params)
      : data_(data), t_(target), p_(params) {
    for (std::size_t r = 0; r < data.table.n_rows; ++r) {
      if (target.w(r) > 0) all_.push_back(r);
    }
    parent_ = t_.impurity(all_);
  }

  /// The best of one feature by what the criterion ranks with inside a feature.
  OracleSplit best_of(std::size_t f) const {
    OracleSplit best;
    const std::vector<double> values = distinct(f);
    const bool categorical = data_.mapper.feature(f).categorical;
    const std::size_t n = categorical ? (std::size_t{1} << values.size()) : values.size() + 1;
    for (std::size_t cut = 0; cut < n; ++cut) {
      for (const bool missing : {false, true}) {
        std::vector<std::size_t> side[2];
        for (const std::size_t r : all_) {
          const double x = data_.table.at(r, f);
          const auto at = static_cast<std::size_t>(
              std::lower_bound(values.begin(), values.end(), x) - values.begin());
          const bool left = std::isnan(x) ? missing
                            : categorical ? ((cut >> at) & 1) != 0
                                          : at < cut;
          side[left ? 0 : 1].push_back(r);
        }
        consider(f, side[0], side[1], best);
      }
    }
    return best;
  }

  OracleSplit best() const {
    std::vector<OracleSplit> all;
    double sum = 0, n = 0;
    for (std::size_t f = 0; f < data_.table.n_features; ++f) {
      all.push_back(best_of(f));
      if (all.back().gain > 0) sum += all.back().gain, ++n;
    }
    OracleSplit best;
    for (OracleSplit& s : all) {
      if (p_.criterion == Criterion::gain_ratio) {
        if (n > 0 && s.gain < sum / n * (1 - 1e-9)) continue;
        s.quality = s.gain / ratio_entropy_of(s);
      }
      if (s.quality > best.quality) best = s;
    }
    return best;
  }

  /// The rows on either side of a stump, by the raw values.
  std::vector<std::vector<std::size_t>> sides(const ForestArrays& stump) const {
    const std::vector<std::uint32_t> leaf = leaves_of(stump, data_.dense.input);
    std::vector<std::vector<std::size_t>> side(2);
    for (const std::size_t r : all_) side[leaf[r] - 1].push_back(r);
    return side;
  }

  double gain_of(const ForestArrays& stump) const {
    if (is_leaf(stump, 0)) return 0;
    const auto side = sides(stump);
    return static_cast<double>(parent_ - t_.impurity(side[0]) - t_.impurity(side[1]));
  }

 private:
  mutable std::vector<double> entropy_of_feature_;

  std::vector<double> distinct(std::size_t f) const {
    std::vector<double> v;
    for (const std::size_t r : all_) {
      if (!std::isnan(data_.table.at(r, f))) v.push_back(data_.table.at(r, f));
    }
    std::sort(v.begin(), v.end());
    v.erase(std::unique(v.begin(), v.end()), v.end());
    return v;
  }

  double split_entropy(double l, double r) const {
    return -(l * std::log2(l / (l + r)) + r * std::log2(r / (l + r)));
  }
  double ratio_entropy_of(const OracleSplit& s) const { return entropy_of_feature_[s.feature]; }

  void consider(std::size_t f, const std::vector<std::size_t>& left,
                const std::vector<std::size_t>& right, OracleSplit& best) const {
    if (left.size() < std::max<std::size_t>(1, p_.min_rows_leaf)) return;
    if (right.size() < std::max<std::size_t>(1, p_.min_rows_leaf)) return;
    const auto lw = static_cast<double>(t_.total(left)), rw = static_cast<double>(t_.total(right));
    if (lw < p_.min_weight_leaf || rw < p_.min_weight_leaf) return;
    const int sign = p_.monotone.empty() ? 0 : p_.monotone[f];
    if (sign * (t_.value(right) - t_.value(left)) < 0) return;
    const auto gain = static_cast<double>(parent_ - t_.impurity(left) - t_.impurity(right));
    if (!std::isfinite(gain)) return;
    double quality = gain;
    if (p_.criterion == Criterion::normalized_gain) {
      quality = 2 * gain / (split_entropy(lw, rw) + static_cast<double>(parent_));
    }
    if (!(quality > best.quality + 1e-12)) return;
    best = {quality, gain, f};
    entropy_of_feature_.resize(data_.table.n_features);
    entropy_of_feature_[f] = split_entropy(lw, rw);
  }

  const Data& data_;
  const Target& t_;
  const TreeParams& p_;
  std::vector<std::size_t> all_;
  long double parent_ = 0;
};

/// A target of the given kind over a table.
inline Target make_target(const Table& t, Criterion c, std::uint64_t seed, bool weighted,
                          std::uint32_t k = 2) {
  Target target;
  target.criterion = c;
  target.n_classes = k;
  target.y = make_y(t, seed);
  if (for_classes(c)) target.codes = make_classes(t, k, seed);
  if (c == Criterion::poisson) {
    for (double& v : target.y) v = std::max(0.0, std::floor(v + 1.5));
  }
  if (c == Criterion::newton) {
    for (std::size_t r = 0; r < t.n_rows; ++r)
      target.hessian.push_back(0.1 + 0.02 * (noise(seed + 1, r) + 6));
    target.l2 = 0.5;
  } else if (weighted) {
    target.weight = make_weight(t.n_rows, seed + 2, seed % 2 == 0);
  }
  return target;
}

}  // namespace growth_test
