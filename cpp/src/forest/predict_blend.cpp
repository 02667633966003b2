// The kernel of the ranked form: ranks of a block of rows, then each tree from its leaves up, 64
// rows at a time. Trees too large for that are walked (predict_ranked_walk.cpp).
#include <algorithm>
#include <cstring>

#include "committee/base/clones.hpp"
#include "forest/predict_ranked.hpp"

namespace committee {
namespace {

// A result may take the place of an operand, but never of another row's operand.
#if defined(__clang__)
#define COMMITTEE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define COMMITTEE_INDEPENDENT _Pragma("GCC ivdep")
#else
#define COMMITTEE_INDEPENDENT
#endif

/// ranks[r] = the number of cuts below numbers[r]; a missing value is below all.
COMMITTEE_CLONES
void rank_numbers(const double* cuts, const double* numbers, std::size_t n, std::uint8_t* ranks) {
  std::uint32_t at[kRankRows];
  for (std::size_t r = 0; r < n; ++r) at[r] = cuts[127] < numbers[r] ? 128 : 0;
  for (std::uint32_t half = 64; half > 0; half /= 2) {
    const double* probe = cuts + half - 1;
    for (std::size_t r = 0; r < n; ++r) at[r] += probe[at[r]] < numbers[r] ? half : 0;
  }
  for (std::size_t r = 0; r < n; ++r) ranks[r] = static_cast<std::uint8_t>(at[r]);
}

COMMITTEE_CLONES
void send_missing_right(const double* numbers, std::size_t n, std::uint8_t* ranks) {
  for (std::size_t r = 0; r < n; ++r) ranks[r] = numbers[r] != numbers[r] ? 255 : ranks[r];
}

COMMITTEE_CLONES
void run_steps(const RankedForest::Step* steps, std::size_t n_steps, const std::uint8_t* ranks,
               std::uint8_t* arena, std::size_t n_rows) {
  for (std::size_t s = 0; s < n_steps; ++s) {
    const RankedForest::Step& step = steps[s];
    const std::uint8_t* rank = ranks + step.column;
    const std::uint8_t* left = arena + step.left;
    const std::uint8_t* right = arena + step.right;
    std::uint8_t* out = arena + step.out;
    const std::uint8_t code = step.code;
    const std::size_t left_moves = step.left_moves, right_moves = step.right_moves;
    for (std::size_t r = 0; r < n_rows; r += kLaneRows) {
      COMMITTEE_INDEPENDENT
      for (std::size_t k = 0; k < kLaneRows; ++k) {
        // Masks instead of a choice: compilers load both sides then, and make it a blend of whole
        // lanes.
        const std::uint8_t a = left[k], b = right[k];
        const auto mask = static_cast<std::uint8_t>(rank[r + k] <= code ? 0xFF : 0);
        out[r + k] = static_cast<std::uint8_t>((a & mask) | (b & ~mask));
      }
      left += left_moves;
      right += right_moves;
    }
  }
}

/// Numbers of the leaves of a symmetric tree: the first question gives the highest bit.
COMMITTEE_CLONES
void run_questions(const RankedForest::Question* questions, std::size_t n_questions,
                   const std::uint8_t* ranks, std::uint8_t* numbers, std::size_t n_rows) {
  constexpr std::size_t kBytes = 32;  // no larger vectors than most machines have
  static_assert(kLaneRows % kBytes == 0);
  using Bytes = std::uint8_t __attribute__((vector_size(kBytes)));
  for (std::size_t r = 0; r < n_rows; r += kBytes) {
    Bytes number{}, rank;
    for (std::size_t q = 0; q < n_questions; ++q) {
      std::memcpy(&rank, ranks + questions[q].column + r, sizeof(rank));
      number += number - reinterpret_cast<Bytes>(rank > questions[q].code);  // true is -1
    }
    std::memcpy(numbers + r, &number, sizeof(number));
  }
}

}  // namespace

RankedBlock::RankedBlock(const RankedForest& ranked)
    : ranked_(ranked),
      ranks_(ranked.columns.size() * (kRankRows / kLaneRows)),
      arena_(RankedForest::kMaxLeaves + ranked.n_slots * (kRankRows / kLaneRows)) {
  for (std::size_t i = 0; i < RankedForest::kMaxLeaves; ++i) {
    std::fill_n(arena_[i].bytes, kLaneRows, static_cast<std::uint8_t>(i));
  }
}

void RankedBlock::load(const RowSource& source, std::size_t begin, std::size_t end) {
  n_rows_ = end - begin;
  const std::size_t n_used = ranked_.cuts.size() / RankedForest::kCuts;
  numbers_.resize((source.sparse() ? n_used : 1) * kRankRows);
  if (source.sparse()) source.load_sparse_columns(begin, end, numbers_.data());
  std::size_t loaded = n_used;
  for (std::size_t c = 0; c < ranked_.columns.size(); ++c) {
    const auto& [position, missing_left] = ranked_.columns[c];
    std::uint8_t* ranks = ranks_[0].bytes + c * kRankRows;
    const double* numbers = numbers_.data() + (source.sparse() ? position * n_rows_ : 0);
    if (position != loaded) {
      if (!source.sparse()) source.load_used(position, begin, end, numbers_.data());
      rank_numbers(ranked_.cuts.data() + position * RankedForest::kCuts, numbers, n_rows_, ranks);
      loaded = position;
    } else {
      std::memcpy(ranks, ranks - kRankRows, n_rows_);
    }
    if (!missing_left) send_missing_right(numbers, n_rows_, ranks);
  }
}

const std::uint8_t* RankedBlock::leaf_numbers(std::size_t tree) {
  const RankedForest::Tree &here = ranked_.trees[tree], &next = ranked_.trees[tree + 1];
  if (const std::size_t n = next.first_question - here.first_question; n > 0) {
    std::uint8_t* const numbers = arena_[RankedForest::kMaxLeaves].bytes;
    run_questions(ranked_.questions.data() + here.first_question, n, ranks_[0].bytes, numbers,
                  n_rows_);
    return numbers;
  }
  const std::size_t first = here.first_step, n_steps = next.first_step - first;
  if (n_steps == 0) return lone_leaf_;
  const RankedForest::Step* steps = ranked_.steps.data() + first;
  run_steps(steps, n_steps, ranks_[0].bytes, arena_[0].bytes, n_rows_);
  return arena_[0].bytes + steps[n_steps - 1].out;
}

}  // namespace committee
