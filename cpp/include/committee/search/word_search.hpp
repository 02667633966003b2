// The search for the best word of AdaBoost.MH (BoosTexter, Schapire and Singer 2000).
//
// Documents have weights per label; W+ of a word weighs the documents with the word that have the
// label, W- those that have it not, and where the word is absent there is what is left of the
// totals P and Q. One pass over the non-zeros adds up W+ and W- of all words. Two facts save most
// of this work:
//
// - A rule multiplies the weights of all documents without its word by the same factor, label by
//   label. So the sums of all words follow from those of the round before by that factor and by the
//   non-zeros of the documents with the word; or the other way round where most documents have it.
// - A word leaves at most 2 sqrt(P Q) |W+ / P - W- / Q| less than no word: the Hellinger distance
// is
//   at most the total variation. Most words cannot win.
//
// Sums that are carried on gather rounding. They only name the words that come into question: these
// are added up anew, and so the choice depends on the weights alone and on no round before.
#pragma once

#include "committee/base/types.hpp"

namespace committee {

/// What a rule says: how sure it is in both cells; in that of the present word alone; or -1 and +1.
enum class RuleKind : std::uint8_t { real, abstaining, discrete };

/// What a rule leaves, the less the better: of Z, or of minus its edge. `present` and `total` hold
/// W+ of all labels and then W- of all labels.
double word_score(RuleKind kind, const double* present, const double* total, std::size_t n_labels);

/// How far the score of a word can lie below `none`, that of no word: by the sum over labels of
/// |most[k] W+_k - most[n_labels + k] W-_k|.
struct GainBound {
  double none;
  std::vector<double> most;
};
GainBound gain_bound(RuleKind kind, std::span<const double> total);

class WordSearch {
 public:
  /// word_begin: n_words + 1 offsets into word_rows, the documents of each word, ascending.
  /// has_label: n_rows * n_labels, 0 or 1. Throws std::invalid_argument where they do not fit.
  WordSearch(std::span<const std::int64_t> word_begin, std::span<const std::int32_t> word_rows,
             std::span<const std::uint8_t> has_label, std::size_t n_rows, RuleKind kind);

  std::size_t n_rows() const { return n_rows_; }
  std::size_t n_labels() const { return n_labels_; }

  /// The word whose rule leaves least, the first of those that are equal up to rounding.
  /// weight: n_rows * n_labels, not negative. Throws std::invalid_argument where there is no word,
  /// or weights are no numbers.
  std::size_t best(std::span<const double> weight);

  /// How many documents the last question looked at to bring the sums up to date.
  std::size_t looked_at() const { return looked_at_; }

 private:
  std::size_t n_words() const { return word_begin_.size() - 1; }
  void turn();
  bool carried_on(std::span<const double> weight);
  std::vector<double> factors(std::span<const double> weight) const;
  void pass_over_all(std::span<const double> weight);
  double score(std::size_t word, const double* total);
  std::vector<std::size_t> near(const std::vector<double>& total, double margin);
  std::size_t first_of(const std::vector<std::size_t>& words, std::span<const double> weight,
                       const std::vector<double>& total, double tie) const;

  std::size_t n_rows_, n_labels_;
  RuleKind kind_;
  std::vector<std::size_t> word_begin_, row_begin_;
  std::vector<std::uint32_t> word_rows_, row_words_;
  std::vector<std::uint32_t> side_;  // of each document and label: where it belongs among the sums
  // Of the last question: the weights, and which documents have the word that was the answer.
  std::vector<double> before_;
  std::vector<std::uint8_t> has_last_;
  bool asked_ = false;
  std::vector<double> sums_;   // n_words * 2 n_labels, but for a factor per side
  std::vector<double> scale_;  // that factor
  double error_ = 0;           // how far they may be off
  std::vector<std::size_t> leaders_;
  std::vector<double> present_;  // scratch: the sums of one word
  std::size_t looked_at_ = 0;
};

}  // namespace committee
