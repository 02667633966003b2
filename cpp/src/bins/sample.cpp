// The k smallest of the contents' keys: guess a bound that a few more than k keys stay below if no
// two rows are equal, keep the rows below it block by block, merge the blocks. Where equal rows
// make the guess too low, it is raised.
#include "bins/sample.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "bins/radix.hpp"
#include "committee/bins/row_keys.hpp"

namespace committee {
namespace {
constexpr std::size_t kBlock = std::size_t{1} << 16;
constexpr std::size_t kChunk = 1024;
constexpr double kRaise = 4.0;

/// Rows [begin, end) of positive weight whose key is at most the bound.
template <class Take>
void for_rows_below(std::uint64_t bound, std::span<const std::uint64_t> keys,
                    std::span<const double> weight, std::size_t begin, std::size_t end,
                    const Take& take) {
  RowId found[kChunk];
  for (; begin < end; begin += kChunk) {
    std::size_t n = 0;
    for (std::size_t row = begin; row < std::min(end, begin + kChunk); ++row) {
      found[n] = static_cast<RowId>(row);  // without a branch: which rows stay cannot be predicted
      n += keys[row] <= bound ? 1 : 0;
    }
    for (const RowId row : std::span(found, n)) {
      if (weight.empty() || weight[row] > 0.0) take(row);
    }
  }
}

}  // namespace

RowSample::RowSample(const Input& input, std::span<const double> weight, const MassScale& scale,
                     std::size_t size, std::uint64_t seed, const Context& context)
    : n_rows_(input.n_rows), every_row_(input.n_rows <= size), every_content_(every_row_) {
  if (every_row_) return;
  std::vector<std::uint64_t> keys = table_keys(input, {}, 0, context);
  const std::uint64_t stream = mix(seed, static_cast<std::uint64_t>(Use::cut_sample));
  parallel_for((n_rows_ + kBlock - 1) / kBlock, context, [&](std::size_t block, int) {
    const std::size_t end = std::min(n_rows_, (block + 1) * kBlock);
    for (std::size_t row = block * kBlock; row < end; ++row) keys[row] = mix(stream, keys[row]);
  });
  keep(draw(keys, weight, scale, size, context));
}

std::vector<RowSample::Content> RowSample::draw(std::span<const std::uint64_t> keys,
                                                std::span<const double> weight,
                                                const MassScale& scale, std::size_t size,
                                                const Context& context) {
  const auto wanted = static_cast<double>(size);
  double share =
      (wanted + 6.0 * std::sqrt(wanted) + 16.0) / static_cast<double>(scale.n_counting());
  std::vector<std::vector<Content>> parts;
  for (bool enough = false; !enough; share *= kRaise) {
    const std::uint64_t bound = share < 1.0 ? static_cast<std::uint64_t>(share * 0x1.0p64) : ~0ULL;
    parts.assign((n_rows_ + kBlock - 1) / kBlock, {});
    parallel_for(parts.size(), context, [&](std::size_t block, int) {
      std::vector<Content> found, spare;
      found.reserve(static_cast<std::size_t>(std::min(1.0, 1.1 * share) * kBlock));
      for_rows_below(bound, keys, weight, block * kBlock, std::min(n_rows_, (block + 1) * kBlock),
                     [&](RowId row) {
                       found.push_back({keys[row], weight.empty() ? 1 : scale(weight[row]), row});
                     });
      radix_sort(std::span(found), spare);
      parts[block] = merge(found, {}, size + 1);
    });
    for (std::size_t step = 1; step < parts.size(); step *= 2) {
      parallel_for((parts.size() - step + 2 * step - 1) / (2 * step), context,
                   [&](std::size_t pair, int) {
                     auto& into = parts[2 * step * pair];
                     into = merge(into, std::exchange(parts[2 * step * pair + step], {}), size + 1);
                   });
    }
    enough = parts[0].size() > size || bound == ~0ULL;
  }
  every_content_ = parts[0].size() <= size;
  parts[0].resize(std::min(parts[0].size(), size));
  return std::move(parts[0]);
}

/// Both are ascending by key; equal keys become one content.
std::vector<RowSample::Content> RowSample::merge(std::span<const Content> a,
                                                 std::span<const Content> b, std::size_t most) {
  std::vector<Content> merged;
  merged.reserve(std::min(most, a.size() + b.size()));
  while (!a.empty() || !b.empty()) {
    auto& from = b.empty() || (!a.empty() && a.front().key <= b.front().key) ? a : b;
    const Content& next = from.front();
    if (!merged.empty() && merged.back().key == next.key) {
      merged.back().mass += next.mass;
    } else if (merged.size() < most) {
      merged.push_back(next);
    } else {
      break;
    }
    from = from.subspan(1);
  }
  return merged;
}

void RowSample::keep(std::span<const Content> drawn) {
  taken_.resize((n_rows_ + 63) / 64);
  for (const Content& content : drawn) taken_[content.row / 64] |= 1ULL << content.row % 64;
  before_.resize(taken_.size());
  rows_.reserve(drawn.size());
  for (std::size_t word = 0; word < taken_.size(); ++word) {
    before_[word] = static_cast<std::uint32_t>(rows_.size());
    for (std::uint64_t bits = taken_[word]; bits != 0; bits &= bits - 1) {
      rows_.push_back(static_cast<RowId>(word * 64 + std::countr_zero(bits)));
    }
  }
  const auto equal = [&](const Content& content) { return content.mass == drawn[0].mass; };
  if (std::all_of(drawn.begin(), drawn.end(), equal)) return;
  mass_.resize(drawn.size());
  for (const Content& content : drawn) mass_[position(content.row)] = content.mass;
}

std::size_t RowSample::position(std::size_t row) const {
  if (every_row_) return row;
  const std::uint64_t lower = (1ULL << row % 64) - 1;
  return before_[row / 64] + static_cast<std::size_t>(std::popcount(taken_[row / 64] & lower));
}

}  // namespace committee
