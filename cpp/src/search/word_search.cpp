#include "committee/search/word_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace committee {
namespace {

// Shares of the total weight.
constexpr double kMargin = 1e-5;  // words this close to the best come into question
constexpr double kSame = 1e-13;   // weights that agree to this were multiplied by the same factor
constexpr double kTie = 1e-11;    // scores closer than this are equal: the first word wins

constexpr std::size_t kFullPass = 2;  // a pass over all documents needs half the time a non-zero
constexpr std::size_t kLeaders = 32;  // words kept in mind, since one of them is often good again

double cell_score(RuleKind kind, double plus, double minus) {
  plus = std::max(plus, 0.0);  // rounding
  minus = std::max(minus, 0.0);
  if (kind == RuleKind::discrete) return -std::abs(plus - minus);
  return 2 * std::sqrt(plus * minus);
}

}  // namespace

double word_score(RuleKind kind, const double* present, const double* total, std::size_t n_labels) {
  double score = 0;
  for (std::size_t k = 0; k < n_labels; ++k) {
    const std::size_t other = n_labels + k;
    score += cell_score(kind, present[k], present[other]);
    const double plus = total[k] - present[k], minus = total[other] - present[other];
    score += kind == RuleKind::abstaining ? plus + minus : cell_score(kind, plus, minus);
  }
  return score;
}

GainBound gain_bound(RuleKind kind, std::span<const double> total) {
  const std::size_t n_labels = total.size() / 2;
  const std::vector<double> nothing(total.size());
  GainBound bound{word_score(kind, nothing.data(), total.data(), n_labels),
                  std::vector<double>(total.size(), kind == RuleKind::discrete ? 2.0 : 1.0)};
  if (kind != RuleKind::real) return bound;
  for (std::size_t s = 0; s < total.size(); ++s) {
    const double whole = 2 * std::sqrt(total[s % n_labels] * total[n_labels + s % n_labels]);
    bound.most[s] = total[s] > 0 ? whole / total[s] : 0;
  }
  return bound;
}

WordSearch::WordSearch(std::span<const std::int64_t> word_begin,
                       std::span<const std::int32_t> word_rows,
                       std::span<const std::uint8_t> has_label, std::size_t n_rows, RuleKind kind)
    : n_rows_(n_rows),
      n_labels_(n_rows > 0 ? has_label.size() / n_rows : 0),
      kind_(kind),
      word_begin_(word_begin.begin(), word_begin.end()),
      word_rows_(word_rows.begin(), word_rows.end()) {
  const auto out_of_range = [&](std::int32_t row) {
    return row < 0 || static_cast<std::size_t>(row) >= n_rows;
  };
  if (n_labels_ == 0 || has_label.size() != n_rows * n_labels_ || word_begin_.empty() ||
      word_begin_.front() != 0 || word_begin_.back() != word_rows.size() ||
      !std::is_sorted(word_begin_.begin(), word_begin_.end()) ||
      std::any_of(word_rows.begin(), word_rows.end(), out_of_range)) {
    throw std::invalid_argument("the arrays of the words do not fit each other");
  }
  turn();
  side_.resize(has_label.size());
  for (std::size_t pair = 0; pair < side_.size(); ++pair) {
    const std::size_t label = pair % n_labels_;
    side_[pair] = static_cast<std::uint32_t>(has_label[pair] != 0 ? label : n_labels_ + label);
  }
  before_.resize(has_label.size());
  has_last_.resize(n_rows);
  sums_.resize(n_words() * 2 * n_labels_);
  present_.resize(2 * n_labels_);
  leaders_.resize(std::min(kLeaders, n_words()));
  std::iota(leaders_.begin(), leaders_.end(), std::size_t{0});
}

/// Lists the words of each document, ascending.
void WordSearch::turn() {
  row_begin_.assign(n_rows_ + 1, 0);
  for (const std::uint32_t row : word_rows_) ++row_begin_[row + 1];
  std::partial_sum(row_begin_.begin(), row_begin_.end(), row_begin_.begin());
  row_words_.resize(word_rows_.size());
  std::vector<std::size_t> next(row_begin_.begin(), row_begin_.end() - 1);
  for (std::size_t word = 0; word < n_words(); ++word) {
    for (std::size_t at = word_begin_[word]; at < word_begin_[word + 1]; ++at)
      row_words_[next[word_rows_[at]]++] = static_cast<std::uint32_t>(word);
  }
}

std::size_t WordSearch::best(std::span<const double> weight) {
  if (!carried_on(weight)) pass_over_all(weight);
  // In the order of documents, like the sums of words: so what is left where no document lacks a
  // word is exactly 0.
  std::vector<double> total(2 * n_labels_);
  for (std::size_t pair = 0; pair < weight.size(); ++pair) total[side_[pair]] += weight[pair];
  const double mass = std::accumulate(total.begin(), total.end(), 0.0);
  const std::vector<std::size_t> words = near(total, kMargin * mass);
  if (words.empty()) throw std::invalid_argument("no words, or weights that are no numbers");
  const std::size_t found =
      words.size() == 1 ? words[0] : first_of(words, weight, total, kTie * mass);
  std::copy(weight.begin(), weight.end(), before_.begin());
  std::fill(has_last_.begin(), has_last_.end(), std::uint8_t{0});
  for (std::size_t at = word_begin_[found]; at < word_begin_[found + 1]; ++at)
    has_last_[word_rows_[at]] = 1;
  asked_ = true;
  return found;
}

/// By what the weights of each side were multiplied in the larger cell of the last answer.
std::vector<double> WordSearch::factors(std::span<const double> weight) const {
  const auto present =
      static_cast<std::size_t>(std::count(has_last_.begin(), has_last_.end(), std::uint8_t{1}));
  const std::uint8_t most = 2 * present > n_rows_ ? 1 : 0;
  std::vector<double> old(2 * n_labels_), factor(2 * n_labels_, 1.0);
  for (std::size_t row = 0; row < n_rows_; ++row) {
    if (has_last_[row] != most) continue;
    for (std::size_t pair = row * n_labels_; pair < (row + 1) * n_labels_; ++pair) {
      const std::size_t s = side_[pair];
      if (!(before_[pair] > old[s])) continue;  // the heaviest tells it best
      old[s] = before_[pair];
      factor[s] = weight[pair] / before_[pair];
    }
  }
  return factor;
}

/// Brings the sums to new weights; false where nothing is saved, or rounding becomes too large.
bool WordSearch::carried_on(std::span<const double> weight) {
  if (!asked_) return false;
  const std::vector<double> factor = factors(weight);
  const double error = error_ * *std::max_element(factor.begin(), factor.end()) + kSame;
  if (!(2 * std::sqrt(error) <= kMargin / 2)) return false;
  std::vector<std::size_t> changed;
  std::size_t size = 0;
  for (std::size_t row = 0; row < n_rows_; ++row) {
    bool moved = false;
    for (std::size_t pair = row * n_labels_; pair < (row + 1) * n_labels_; ++pair) {
      const double expected = factor[side_[pair]] * before_[pair];
      moved |= !(std::abs(weight[pair] - expected) <= kSame * weight[pair]);
    }
    if (!moved) continue;
    changed.push_back(row);
    size += row_begin_[row + 1] - row_begin_[row];
  }
  if (kFullPass * size > row_words_.size()) return false;
  error_ = error;
  for (std::size_t s = 0; s < scale_.size(); ++s) scale_[s] *= factor[s];
  for (const std::size_t row : changed) {
    for (std::size_t pair = row * n_labels_; pair < (row + 1) * n_labels_; ++pair) {
      const std::size_t s = side_[pair];
      const double amount = (weight[pair] - factor[s] * before_[pair]) / scale_[s];
      for (std::size_t at = row_begin_[row]; at < row_begin_[row + 1]; ++at)
        sums_[row_words_[at] * scale_.size() + s] += amount;
    }
  }
  looked_at_ = changed.size();
  return true;
}

void WordSearch::pass_over_all(std::span<const double> weight) {
  std::fill(sums_.begin(), sums_.end(), 0.0);
  scale_.assign(2 * n_labels_, 1.0);
  error_ = kSame;
  for (std::size_t row = 0; row < n_rows_; ++row) {
    for (std::size_t pair = row * n_labels_; pair < (row + 1) * n_labels_; ++pair) {
      const std::size_t s = side_[pair];
      for (std::size_t at = row_begin_[row]; at < row_begin_[row + 1]; ++at)
        sums_[row_words_[at] * scale_.size() + s] += weight[pair];
    }
  }
  looked_at_ = n_rows_;
}

double WordSearch::score(std::size_t word, const double* total) {
  const double* own = sums_.data() + word * scale_.size();
  for (std::size_t s = 0; s < scale_.size(); ++s)
    present_[s] = std::max(own[s] * scale_[s], 0.0);  // rounding
  return word_score(kind_, present_.data(), total, n_labels_);
}

/// Names the words whose scores, by the sums as they are, are close to the smallest; ascending.
std::vector<std::size_t> WordSearch::near(const std::vector<double>& total, double margin) {
  GainBound bound = gain_bound(kind_, total);
  for (std::size_t s = 0; s < scale_.size(); ++s) bound.most[s] *= scale_[s];
  double least = std::numeric_limits<double>::infinity();
  for (const std::size_t word : leaders_) least = std::min(least, score(word, total.data()));
  std::vector<std::pair<double, std::size_t>> able;
  for (std::size_t word = 0; word < n_words(); ++word) {
    const double* own = sums_.data() + word * scale_.size();
    double gain = 0;
    for (std::size_t k = 0; k < n_labels_; ++k)
      gain += std::abs(bound.most[k] * own[k] - bound.most[n_labels_ + k] * own[n_labels_ + k]);
    if (gain < bound.none - least - margin) continue;
    able.emplace_back(score(word, total.data()), word);
    least = std::min(least, able.back().first);
  }
  std::vector<std::size_t> words;
  for (const auto& [left, word] : able) {
    if (left <= least + margin) words.push_back(word);
  }
  if (able.size() > kLeaders) {
    std::nth_element(able.begin(), able.begin() + kLeaders, able.end());
    for (std::size_t i = 0; i < leaders_.size(); ++i) leaders_[i] = able[i].second;
  }
  return words;
}

/// Adds up some words anew and returns the best, the first of those that are equal.
std::size_t WordSearch::first_of(const std::vector<std::size_t>& words,
                                 std::span<const double> weight, const std::vector<double>& total,
                                 double tie) const {
  std::vector<double> scores, present(total.size());
  for (const std::size_t word : words) {
    std::fill(present.begin(), present.end(), 0.0);
    for (std::size_t at = word_begin_[word]; at < word_begin_[word + 1]; ++at) {
      const std::size_t begin = word_rows_[at] * n_labels_;
      for (std::size_t pair = begin; pair < begin + n_labels_; ++pair)
        present[side_[pair]] += weight[pair];
    }
    scores.push_back(word_score(kind_, present.data(), total.data(), n_labels_));
  }
  const double least = *std::min_element(scores.begin(), scores.end());
  const auto first = std::find_if(scores.begin(), scores.end(),
                                  [&](double score) { return score <= least + tie; });
  return words[static_cast<std::size_t>(first - scores.begin())];
}

}  // namespace committee
