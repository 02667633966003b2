#include "boosting/ranked_group.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "committee/base/clones.hpp"

namespace committee {
namespace {

constexpr std::size_t kTaskRows = 1024;  // small groups are handed out together
constexpr std::size_t kFewLevels = 64;   // up to so many, inserting is faster than sorting all
constexpr double kWidest = 600;          // exp(+-300) and sums and inverses of two such are normal

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

/// All relevances that occur, highest first, however many.
std::vector<double> sorted_levels(std::span<const double> relevance) {
  std::vector<double> levels(relevance.begin(), relevance.end());
  std::sort(levels.begin(), levels.end(), std::greater<>());
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  return levels;
}

COMMITTEE_CLONES
void write_powers(const double* score, std::size_t n, double sigmoid, double middle, double* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = det_exp(sigmoid * (score[i] - middle));
}

}  // namespace

std::vector<double> discounts(std::span<const std::int64_t> begin) {
  std::int64_t most = 0;
  for (std::size_t g = 0; g + 1 < begin.size(); ++g) most = std::max(most, begin[g + 1] - begin[g]);
  std::vector<double> out(static_cast<std::size_t>(most));
  const double log2 = det_log(2.0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = log2 / det_log(2.0 + static_cast<double>(i));
  }
  return out;
}

double gain_of(double relevance, bool linear) {
  if (linear) return relevance;
  const double whole = std::floor(relevance);  // powers of whole numbers are exact
  const double rest = relevance - whole;
  const double factor = rest == 0 ? 1.0 : det_exp(rest * det_log(2.0));
  return std::ldexp(factor, static_cast<int>(whole)) - 1.0;
}

void check_queries(std::span<const double> score, const Queries& queries) {
  const std::span<const std::int64_t> begin = queries.begin;
  if (queries.relevance.size() != score.size()) {
    throw std::invalid_argument("scores and relevances differ in length");
  }
  if (begin.empty() || begin.front() != 0 || !std::is_sorted(begin.begin(), begin.end()) ||
      begin.back() != static_cast<std::int64_t>(score.size())) {
    throw std::invalid_argument("begin must rise from 0 to the number of rows");
  }
  for (std::size_t g = 0; g + 1 < begin.size(); ++g) {
    if (begin[g + 1] - begin[g] > std::numeric_limits<std::uint32_t>::max()) {
      throw std::invalid_argument("a group has too many rows");
    }
  }
  if (!all_finite(score) || !all_finite(queries.relevance)) {
    throw std::invalid_argument("scores and relevances must be finite");
  }
}

void check_relevance(std::span<const double> relevance, const Gains& gains) {
  const double most = gains.linear ? kMostLinear : kMostExponent;
  const auto fits = [&](double r) { return r >= 0 && r <= most; };
  if (!std::all_of(relevance.begin(), relevance.end(), fits)) {
    throw std::invalid_argument("relevances must be 0 to 31, for linear gains to 1e150");
  }
  if (gains.k == 0) throw std::invalid_argument("k must be 1 or more");
}

void for_groups(std::span<const std::int64_t> begin, const Context& context, TaskRef body) {
  std::vector<std::size_t> first{0};
  for (std::size_t g = 1; g + 1 < begin.size(); ++g) {
    if (static_cast<std::size_t>(begin[g] - begin[first.back()]) >= kTaskRows) first.push_back(g);
  }
  first.push_back(begin.size() - 1);
  parallel_for(first.size() - 1, context, [&](std::size_t task, int slot) {
    for (std::size_t g = first[task]; g < first[task + 1]; ++g) body(g, slot);
  });
}

void Documents::resize(std::size_t n) {
  for (std::vector<double>* column : {&score, &power, &gain, &discount}) column->resize(n);
  for (std::vector<double>* sums : {&first, &second}) sums->assign(n, 0.0);
  row.resize(n);
  level.resize(n);
}

void GroupLayout::arrange(std::span<const double> score, std::span<const double> relevance) {
  const std::size_t n = score.size();
  placed_.resize(n);
  for (std::size_t i = 0; i < n; ++i) placed_[i] = {score[i], static_cast<std::uint32_t>(i)};
  std::sort(placed_.begin(), placed_.end());
  place_.resize(n);
  for (std::size_t i = 0; i < n; ++i) place_[placed_[i].row] = static_cast<std::uint32_t>(i);
  narrow_ = n > 0 && sigmoid_ * (placed_.front().score - placed_.back().score) <= kWidest;
  pair_first.resize(n);
  pair_second.resize(n);
  find_levels(relevance);
  lay_out(n, all);
  if (truncated()) lay_out(gains_.k, top);
}

void GroupLayout::find_levels(std::span<const double> relevance) {
  levels_.clear();
  for (const double r : relevance) {
    const auto found = std::lower_bound(levels_.begin(), levels_.end(), r, std::greater<>());
    if (found != levels_.end() && *found == r) continue;
    if (levels_.size() == kFewLevels) {
      levels_ = sorted_levels(relevance);
      break;
    }
    levels_.insert(found, r);
  }
  level_gain_.clear();
  for (const double level : levels_) level_gain_.push_back(gain_of(level, gains_.linear));
  code_.clear();
  for (const double r : relevance) {
    const auto found = std::lower_bound(levels_.begin(), levels_.end(), r, std::greater<>());
    code_.push_back(static_cast<std::uint32_t>(found - levels_.begin()));
  }
}

void GroupLayout::lay_out(std::size_t n_places, Documents& documents) {
  documents.resize(n_places);
  std::vector<std::uint32_t>& end = documents.level_end;
  end.assign(levels_.size() + 1, 0);
  for (std::size_t i = 0; i < n_places; ++i) ++end[code_[placed_[i].row] + 1];
  for (std::size_t c = 0; c < levels_.size(); ++c) end[c + 1] += end[c];
  // Now end[c] is where level c begins; each document moves it on, at last to the level's end.
  for (std::size_t i = 0; i < n_places; ++i) {
    const std::uint32_t code = code_[placed_[i].row];
    const std::uint32_t at = end[code]++;
    documents.row[at] = placed_[i].row;
    documents.level[at] = code;
    documents.score[at] = placed_[i].score;
    documents.gain[at] = level_gain_[code];
    documents.discount[at] = (*discount_)[i];
  }
  if (narrow_) set_powers(documents);
}

void GroupLayout::set_powers(Documents& documents) const {
  const double middle = 0.5 * placed_.front().score + 0.5 * placed_.back().score;
  write_powers(documents.score.data(), documents.size(), sigmoid_, middle, documents.power.data());
}

double GroupLayout::ideal_dcg() const {
  double sum = 0;
  const std::size_t n = std::min(gains_.k, all.size());
  for (std::size_t i = 0; i < n; ++i) sum += all.gain[i] * (*discount_)[i];
  return sum;
}

}  // namespace committee
