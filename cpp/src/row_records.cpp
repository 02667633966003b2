#include "row_records.hpp"

#include <algorithm>
#include <cstring>

#include "large_pages.hpp"

namespace committee {
namespace {

constexpr std::size_t kChunkRows = 4096;
constexpr std::size_t kStatBytes = 4;
constexpr std::size_t kMostFeatures = 60;

}  // namespace

RowRecords::RowRecords(const BinnedMatrix& matrix, const Context& context)
    : n_rows_(matrix.n_rows) {
  const std::size_t p = matrix.n_features;
  if (matrix.layout != Layout::dense8 || p > kMostFeatures) return;
  size_ = 16;
  while (size_ < p + kStatBytes) size_ *= 2;
  resize_on_large_pages(bytes_, n_rows_ * size_ + 64);
  std::uint8_t* const to = base();
  parallel_for((n_rows_ + kChunkRows - 1) / kChunkRows, context, [&](std::size_t k, int) {
    const std::size_t last = std::min(n_rows_, (k + 1) * kChunkRows);
    for (std::size_t r = k * kChunkRows; r < last; ++r)
      std::memcpy(to + r * size_, matrix.codes8.data() + r * p, p);
  });
}

void RowRecords::write(Stats& stats, const Context& context) {
  if (size_ == 0 || !stats.narrow()) return;
  const std::int64_t mask = (std::int64_t{1} << stats.shift) - 1;
  std::uint8_t* const to = base() + size_ - kStatBytes;
  parallel_for((n_rows_ + kChunkRows - 1) / kChunkRows, context, [&](std::size_t k, int) {
    const std::size_t last = std::min(n_rows_, (k + 1) * kChunkRows);
    for (std::size_t r = k * kChunkRows; r < last; ++r) {
      const std::int64_t word = stats.words[r];
      const auto g = static_cast<std::uint32_t>(word >> stats.shift) & 0xffffU;
      const std::uint32_t both = g << 16 | static_cast<std::uint32_t>(word & mask);
      std::memcpy(to + r * size_, &both, kStatBytes);
    }
  });
  stats.records = base();
  stats.record_size = size_;
}

}  // namespace committee
