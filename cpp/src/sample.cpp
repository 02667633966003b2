// The k smallest of n hashes in one pass: guess a bound that about k + 6 sqrt(k) hashes stay below,
// keep those, select among them. A guess that was too low (about once in a billion) is doubled.
#include "sample.hpp"

#include <algorithm>
#include <cmath>

namespace committee {
namespace {
constexpr std::size_t kBlock = std::size_t{1} << 18;
constexpr std::size_t kChunk = 1024;
}  // namespace

RowSample::RowSample(std::size_t n_rows, std::size_t size, std::uint64_t seed,
                     const Context& context)
    : n_rows_(n_rows),
      stream_(mix(seed, static_cast<std::uint64_t>(Use::cut_sample))),
      all_(n_rows <= size) {
  if (all_) return;
  const auto wanted = static_cast<double>(size);
  double share = (wanted + 6.0 * std::sqrt(wanted) + 16.0) / static_cast<double>(n_rows);
  std::vector<std::uint64_t> keys;
  std::vector<std::vector<RowId>> blocks;
  while (keys.size() < size) {
    const bool whole = share >= 1.0;
    blocks = candidates(whole ? ~0ULL : static_cast<std::uint64_t>(share * 0x1.0p64), context);
    keys.clear();
    for (const auto& block : blocks) {
      for (const RowId row : block) keys.push_back(key(row));
    }
    share *= 2.0;
  }
  const auto last = keys.begin() + static_cast<std::ptrdiff_t>(size - 1);
  std::nth_element(keys.begin(), last, keys.end());
  largest_key_ = *last;
  rows_.reserve(size);
  for (const auto& block : blocks) {
    for (const RowId row : block) {
      if (key(row) <= largest_key_) rows_.push_back(row);
    }
  }
}

std::vector<std::vector<RowId>> RowSample::candidates(std::uint64_t bound,
                                                      const Context& context) const {
  std::vector<std::vector<RowId>> blocks((n_rows_ + kBlock - 1) / kBlock);
  parallel_for(blocks.size(), context, [&](std::size_t block, int) {
    const std::size_t end = std::min(n_rows_, (block + 1) * kBlock);
    RowId found[kChunk];
    for (std::size_t begin = block * kBlock; begin < end; begin += kChunk) {
      std::size_t n = 0;
      for (std::size_t row = begin; row < std::min(end, begin + kChunk); ++row) {
        found[n] =
            static_cast<RowId>(row);  // without a branch: which rows stay cannot be predicted
        n += key(row) <= bound ? 1 : 0;
      }
      blocks[block].insert(blocks[block].end(), found, found + n);
    }
  });
  return blocks;
}

}  // namespace committee
