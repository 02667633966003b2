// The search for words against sums over all documents, and its bound against the scores.
#include <cmath>
#include <random>

#include "check.hpp"
#include "committee/search/word_search.hpp"

using namespace committee;

namespace {

constexpr RuleKind kKinds[] = {RuleKind::real, RuleKind::abstaining, RuleKind::discrete};

/// Documents with random words, and labels.
struct Texts {
  std::size_t n_rows, n_words, n_labels;
  std::vector<std::uint8_t> has_word;  // n_rows * n_words
  std::vector<std::uint8_t> has_label;
  std::vector<std::int64_t> begin{0};
  std::vector<std::int32_t> rows;

  Texts(std::size_t n_rows, std::size_t n_words, std::size_t n_labels, std::mt19937_64& random)
      : n_rows(n_rows), n_words(n_words), n_labels(n_labels), has_word(n_rows * n_words) {
    for (std::size_t i = 0; i < n_rows * n_labels; ++i) has_label.push_back(random() % 3 == 0);
    for (std::size_t word = 0; word < n_words; ++word) {
      const std::uint64_t rarity = 2 + random() % 30;
      for (std::size_t row = 0; row < n_rows; ++row) {
        if (random() % rarity != 0) continue;
        has_word[row * n_words + word] = 1;
        rows.push_back(static_cast<std::int32_t>(row));
      }
      begin.push_back(static_cast<std::int64_t>(rows.size()));
    }
  }

  WordSearch search(RuleKind kind) const { return {begin, rows, has_label, n_rows, kind}; }

  std::vector<double> sums(std::size_t word, const std::vector<double>& weight, bool all) const {
    std::vector<double> out(2 * n_labels);
    for (std::size_t row = 0; row < n_rows; ++row) {
      if (!all && has_word[row * n_words + word] == 0) continue;
      for (std::size_t k = 0; k < n_labels; ++k) {
        const std::size_t pair = row * n_labels + k;
        out[has_label[pair] != 0 ? k : n_labels + k] += weight[pair];
      }
    }
    return out;
  }

  double score(RuleKind kind, std::size_t word, const std::vector<double>& weight) const {
    const std::vector<double> own = sums(word, weight, false), total = sums(0, weight, true);
    return word_score(kind, own.data(), total.data(), n_labels);
  }
};

}  // namespace

TEST(word_search_scores_by_hand) {
  const double total[] = {0.6, 0.4}, present[] = {0.5, 0.1};
  const double cells = 2 * std::sqrt(0.5 * 0.1);
  const auto is = [&](RuleKind kind, double expected) {
    return std::abs(word_score(kind, present, total, 1) - expected) < 1e-15;
  };
  CHECK(is(RuleKind::real, cells + 2 * std::sqrt(0.1 * 0.3)));
  CHECK(is(RuleKind::abstaining, cells + 0.4));
  CHECK(is(RuleKind::discrete, -0.4 - 0.2));
}

TEST(word_search_finds_what_all_sums_find) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(0, 0.5);
  for (std::size_t n_labels = 1; n_labels <= 3; ++n_labels) {
    for (const RuleKind kind : kKinds) {
      const Texts texts(80, 200, n_labels, random);
      WordSearch search = texts.search(kind);
      std::vector<double> weight(texts.n_rows * n_labels, 1.0);
      std::size_t carried = 0;
      for (int round = 0; round < 40; ++round) {
        const std::size_t found = search.best(weight);
        carried += search.looked_at() < texts.n_rows;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t word = 0; word < texts.n_words; ++word)
          least = std::min(least, texts.score(kind, word, weight));
        CHECK(texts.score(kind, found, weight) <= least + 1e-9);
        for (std::size_t k = 0; k < n_labels; ++k) {
          const double absent = kind == RuleKind::abstaining ? 0 : normal(random) / 5;
          const double present = normal(random);
          for (std::size_t row = 0; row < texts.n_rows; ++row) {
            const bool has = texts.has_word[row * texts.n_words + found] != 0;
            const double sign = texts.has_label[row * n_labels + k] != 0 ? 1 : -1;
            weight[row * n_labels + k] *= std::exp(-sign * (has ? present : absent));
          }
        }
      }
      CHECK(carried > 5);
    }
  }
}

TEST(word_search_bound_is_never_exceeded) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (const RuleKind kind : kKinds) {
    for (int i = 0; i < 2000; ++i) {
      const std::size_t n_labels = 1 + random() % 3;
      std::vector<double> total(2 * n_labels), present(2 * n_labels);
      for (std::size_t s = 0; s < total.size(); ++s) {
        total[s] = random() % 7 == 0 ? 0 : std::pow(10, -6 * uniform(random));
        present[s] = total[s] * std::pow(uniform(random), 3);
      }
      const GainBound bound = gain_bound(kind, total);
      double reach = 0;
      for (std::size_t k = 0; k < n_labels; ++k)
        reach +=
            std::abs(bound.most[k] * present[k] - bound.most[n_labels + k] * present[n_labels + k]);
      const double score = word_score(kind, present.data(), total.data(), n_labels);
      CHECK(bound.none - score <= reach + 1e-12);
    }
  }
}
