// Walking large trees by ranks. A step waits for its node, so several rows go in step; rows that
// have arrived are dropped after every few steps, since depths differ much in a tree that was not
// pruned.
#include <algorithm>

#include "forest/predict_ranked.hpp"

namespace committee {
namespace {

constexpr std::size_t kWalks = 12;                   // rows in step: as many loads are on their way
constexpr int kSteps = 8;                            // before those that have arrived are dropped
constexpr std::size_t kNear = std::size_t{1} << 17;  // bytes of ranks that leave a tree its place

/// kWalks rows, kSteps down.
void walk_down(const RankedForest::WalkNode* nodes, const std::uint8_t* ranks, std::size_t stride,
               const std::uint32_t* row, std::uint32_t* at) {
  const std::uint8_t* rank[kWalks];
  std::uint32_t here[kWalks];
  for (std::size_t k = 0; k < kWalks; ++k) {
    rank[k] = ranks + row[k] * stride;
    here[k] = at[k];
  }
  for (int step = 0; step < kSteps; ++step) {
    for (std::size_t k = 0; k < kWalks; ++k) {
      const RankedForest::WalkNode node = nodes[here[k]];
      here[k] = node.left + (rank[k][node.column] > node.code ? 1 : 0);
    }
  }
  std::copy_n(here, kWalks, at);
}

}  // namespace

RankedRows::RankedRows(const RankedForest& ranked)
    : ranked_(ranked), block_(ranked), stride_((ranked.columns.size() + 31) / 32 * 32) {}

std::size_t RankedRows::most_rows(const RankedForest& ranked) {
  const std::size_t stride = (ranked.columns.size() + 31) / 32 * 32;
  return std::max(kRankRows, kNear / std::max<std::size_t>(1, stride));
}

void RankedRows::load(const RowSource& source, std::size_t begin, std::size_t end) {
  n_rows_ = end - begin;
  ranks_.resize(n_rows_ * stride_);
  for (std::size_t first = begin; first < end; first += kRankRows) {
    const std::size_t n = std::min(kRankRows, end - first);
    block_.load(source, first, first + n);
    std::uint8_t* to = ranks_.data() + (first - begin) * stride_;
    for (std::size_t c = 0; c < ranked_.columns.size(); ++c) {
      const std::uint8_t* from = block_.column(c);
      for (std::size_t r = 0; r < n; ++r) to[r * stride_ + c] = from[r];
    }
  }
}

void RankedRows::walk(const RankedForest::WalkNode* nodes) {
  row_.resize(n_rows_ + kWalks);
  at_.assign(n_rows_ + kWalks, 0);
  leaf_.resize(n_rows_);
  kind_.resize(n_rows_);
  for (std::size_t r = 0; r < n_rows_; ++r) row_[r] = static_cast<std::uint32_t>(r);
  for (std::size_t n = n_rows_; n > 0;) {
    // The last few walks take one of the rows along several times.
    std::fill_n(row_.begin() + static_cast<std::ptrdiff_t>(n), kWalks, row_[n - 1]);
    std::fill_n(at_.begin() + static_cast<std::ptrdiff_t>(n), kWalks, at_[n - 1]);
    for (std::size_t i = 0; i < n; i += kWalks) {
      walk_down(nodes, ranks_.data(), stride_, row_.data() + i, at_.data() + i);
    }
    std::size_t left = 0;
    for (std::size_t i = 0; i < n; ++i) {  // without a branch: who has arrived cannot be predicted
      const std::uint32_t row = row_[i], at = at_[i];
      leaf_[row] = at;
      kind_[row] = nodes[at].kind;
      row_[left] = row;
      at_[left] = at;
      left += nodes[at].code != RankedForest::kLeafCode ? 1 : 0;
    }
    n = left;
  }
}

}  // namespace committee
