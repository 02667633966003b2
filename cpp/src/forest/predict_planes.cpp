// The kernel of the ranked form: ranks of a block of rows, the planes of all conditions, then each
// tree's gates or questions. Trees too large for that are walked (predict_ranked_walk.cpp).
#include <algorithm>
#include <cstring>

#include "committee/base/clones.hpp"
#include "forest/predict_ranked.hpp"

namespace committee {
namespace {

/// Ranks as bytes, with those of missing values.
template <class Real>
COMMITTEE_CLONES void write_ranks(const Real* numbers, const std::uint16_t* below, std::size_t n,
                                  std::uint8_t missing, std::uint8_t* ranks) {
  for (std::size_t r = 0; r < n; ++r) {
    ranks[r] = numbers[r] == numbers[r] ? static_cast<std::uint8_t>(below[r]) : missing;
  }
}

// No vectors larger than most machines have; and where there are larger ones these are as fast.
using Halves = std::uint16_t __attribute__((vector_size(32)));
using Bytes = std::uint8_t __attribute__((vector_size(32)));

constexpr std::size_t kLanes = RankedBlock::kLanes;
constexpr std::size_t kPart = sizeof(Halves) / sizeof(std::uint16_t);  // lanes of a vector

/// planes[cut + 1]: the rows whose rank is above the cut. First each row's bit in the plane of its
/// rank, then each plane takes those above it in.
COMMITTEE_CLONES
void set_planes(const std::uint8_t* ranks, std::size_t n_rows, std::size_t n_cuts,
                RankedBlock::Plane* planes) {
  std::memset(planes, 0, (n_cuts + 1) * sizeof(*planes));
  for (std::size_t first = 0; first < n_rows; first += kLanes) {
    const auto bit = static_cast<std::uint16_t>(1u << first / kLanes);
    const std::size_t n = std::min(kLanes, n_rows - first);
    for (std::size_t i = 0; i < n; ++i) planes[ranks[first + i]].lane[i] |= bit;
  }
  Halves above[kLanes / kPart] =
      {};  // never read again from where it was just written, which waits
  for (std::size_t cut = n_cuts + 1; cut-- > 0;) {
    for (std::size_t i = 0; i < std::size(above); ++i) {
      Halves here;
      std::memcpy(&here, planes[cut].lane + i * kPart, sizeof(here));
      above[i] |= here;
      std::memcpy(planes[cut].lane + i * kPart, &above[i], sizeof(here));
    }
  }
}

COMMITTEE_CLONES
void run_gates(const Gate* gates, std::size_t n_gates, RankedBlock::Plane* planes) {
  const auto plane = [&](PlaneId id) { return reinterpret_cast<std::byte*>(planes + id); };
  for (std::size_t i = 0; i < n_gates; ++i) {
    const Gate gate = gates[i];
    const std::byte *which = plane(gate.which()), *zero = plane(gate.zero()),
                    *one = plane(gate.one());
    std::byte* out = plane(gate.out());
    for (std::size_t at = 0; at < sizeof(*planes); at += sizeof(Halves)) {
      Halves w, z, o;
      std::memcpy(&w, which + at, sizeof(w));
      std::memcpy(&z, zero + at, sizeof(z));
      std::memcpy(&o, one + at, sizeof(o));
      o = z ^ (w & (z ^ o));
      std::memcpy(out + at, &o, sizeof(o));
    }
  }
}

/// One step of turning 16 vectors like squares of 16 x 16 bits: in squares of twice the side, the
/// upper right quarter changes places with the lower left one.
template <std::uint16_t side, std::uint16_t low>
COMMITTEE_INLINE void turn(Halves (&square)[16]) {
#pragma GCC unroll 16
  for (std::size_t i = 0; i < 16; ++i) {
    if ((i & side) != 0) continue;
    const Halves change = ((square[i] >> side) ^ square[i + side]) & low;
    square[i + side] ^= change;
    square[i] ^= change << side;
  }
}

/// numbers[row] from the planes of their bits.
COMMITTEE_CLONES
void read_numbers(const PlaneId* bits, std::size_t n_bits, const RankedBlock::Plane* planes,
                  std::uint16_t* numbers) {
  for (std::size_t part = 0; part < kLanes; part += kPart) {
    Halves square[16] = {};
    for (std::size_t b = 0; b < n_bits; ++b) {
      std::memcpy(&square[b], planes[bits[b]].lane + part, sizeof(Halves));
    }
    turn<8, 0x00FF>(square);
    turn<4, 0x0F0F>(square);
    turn<2, 0x3333>(square);
    turn<1, 0x5555>(square);
    for (std::size_t i = 0; i < 16; ++i) {
      std::memcpy(numbers + i * kLanes + part, &square[i], sizeof(Halves));
    }
  }
}

/// Numbers of the leaves of a symmetric tree: the first question gives the highest bit.
COMMITTEE_CLONES
void run_questions(const RankedForest::Question* questions, std::size_t n_questions,
                   const std::uint8_t* ranks, std::size_t n_rows, std::uint16_t* numbers) {
  for (std::size_t r = 0; r < n_rows; r += sizeof(Bytes)) {
    Bytes number{}, rank;
    for (std::size_t q = 0; q < n_questions; ++q) {
      std::memcpy(&rank, ranks + questions[q].column + r, sizeof(rank));
      number += number - reinterpret_cast<Bytes>(rank > questions[q].code);  // true is -1
    }
    for (std::size_t i = 0; i < sizeof(Bytes); ++i) numbers[r + i] = number[i];
  }
}

}  // namespace

RankedBlock::RankedBlock(const RankedForest& ranked)
    : ranked_(ranked), ranks_(ranked.columns.size() * kRankRows) {
  if (ranked.n_planes == 0) return;
  planes_ = std::make_unique_for_overwrite<Plane[]>(ranked.n_planes);
  std::fill_n(planes_[Circuit::kZero].lane, kLanes, std::uint16_t{0});
  std::fill_n(planes_[Circuit::kOne].lane, kLanes, std::uint16_t{0xFFFF});
}

template <class Real, class Column>
void RankedBlock::rank_columns(const std::vector<SearchTable<Real>>& tables, const Column& column) {
  std::uint16_t below[kRankRows];
  const Real* numbers = nullptr;
  for (std::size_t c = 0; c < ranked_.columns.size(); ++c) {
    const auto& [position, n_cuts, missing_left, first_plane] = ranked_.columns[c];
    if (c == 0 || ranked_.columns[c - 1].position != position) {
      numbers = column(position);
      tables[position].count_below(numbers, n_rows_, below);
    }
    std::uint8_t* ranks = ranks_.data() + c * kRankRows;
    const std::uint32_t missing = missing_left ? 0 : n_cuts;
    write_ranks(numbers, below, n_rows_, static_cast<std::uint8_t>(missing), ranks);
    if (planes_ != nullptr) set_planes(ranks, n_rows_, n_cuts, &planes_[first_plane]);
  }
}

void RankedBlock::load(const RowSource& source, std::size_t begin, std::size_t end) {
  n_rows_ = end - begin;
  if (source.sparse()) {
    numbers_.resize(ranked_.doubles.size() * kRankRows);
    source.load_sparse_columns(begin, end, numbers_.data());
    rank_columns(ranked_.doubles, [&](std::size_t position) -> const double* {
      return numbers_.data() + position * n_rows_;
    });
    return;
  }
  const auto rank_dense = [&]<class Real>(const std::vector<SearchTable<Real>>& tables) {
    Real numbers[kRankRows];
    rank_columns(tables, [&](std::size_t position) -> const Real* {
      source.load_used(position, begin, end, numbers);
      return numbers;
    });
  };
  if (source.fits_float()) {
    rank_dense(ranked_.floats);
  } else {
    rank_dense(ranked_.doubles);
  }
}

void RankedBlock::find_leaves(std::size_t tree, std::uint16_t* numbers) {
  const RankedForest::Tree &here = ranked_.trees[tree], &next = ranked_.trees[tree + 1];
  if (const std::size_t n_bits = next.first_bit - here.first_bit; n_bits > 0) {
    run_gates(ranked_.gates.data() + here.first_gate, next.first_gate - here.first_gate,
              planes_.get());
    read_numbers(ranked_.bits.data() + here.first_bit, n_bits, planes_.get(), numbers);
  } else {  // as many as none, where the tree is a leaf
    run_questions(ranked_.questions.data() + here.first_question,
                  next.first_question - here.first_question, ranks_.data(), n_rows_, numbers);
  }
}

}  // namespace committee
