#include "growth/drawn_profiles.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "committee/base/clones.hpp"

namespace committee {
namespace {

constexpr std::size_t kAhead = 16;        // rows prefetched ahead of the one being added
constexpr std::size_t kTogether = 8;      // features summed in one pass over the rows
constexpr std::size_t kChunkRows = 8192;  // of one task when a node is shared among threads

/// Packed words, one byte a bin, kN features at once.
template <std::size_t kN, class Word>
void add_packed8(const std::uint8_t* codes, std::size_t stride, std::span<const RowId> rows,
                 const std::uint32_t* features, Word word, std::int64_t* cells) {
  std::array<std::size_t, kN> f;
  std::copy_n(features, kN, f.begin());
  const std::size_t n = rows.size();
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t ahead = rows[std::min(i + kAhead, n - 1)];
    __builtin_prefetch(codes + ahead * stride);
    word.prefetch(ahead);
    const std::uint8_t* x = codes + std::size_t{rows[i]} * stride;
    const std::int64_t a = word(rows[i]);
    for (std::size_t k = 0; k < kN; ++k) cells[k * kApart8 + x[f[k]]] += a;
  }
}

template <class Word, std::size_t... kN>
void add_packed8(std::size_t n_features, const std::uint8_t* codes, std::size_t stride,
                 std::span<const RowId> rows, const std::uint32_t* features, Word word,
                 std::int64_t* cells, std::index_sequence<kN...>) {
  const bool done = ((n_features == kN + 1 &&
                      (add_packed8<kN + 1>(codes, stride, rows, features, word, cells), true)) ||
                     ...);
  static_cast<void>(done);
}

std::size_t cells_of(const BinnedMatrix& matrix) {
  if (matrix.layout == Layout::dense8) return kApart8;
  return *std::max_element(matrix.n_bins.begin(), matrix.n_bins.end()) + 1;
}

}  // namespace

DrawnProfiles::DrawnProfiles(const BinnedMatrix& matrix, const Stats& stats)
    : matrix_(matrix),
      stats_(stats),
      column_(cells_of(matrix) * stats.width),
      place_(matrix.n_features) {}

void DrawnProfiles::focus(std::span<const RowId> rows, const Context& context) {
  rows_ = rows;
  context_ = context;
  features_.clear();
}

void DrawnProfiles::add(std::span<const RowId> rows, std::span<const std::uint32_t> features,
                        std::int64_t* cells) const {
  const std::size_t p = matrix_.n_features;
  if (matrix_.layout == Layout::dense8 && stats_.packed_histogram()) {
    return stats_.with_words([&](auto word) {
      for (std::size_t first = 0; first < features.size(); first += kTogether) {
        add_packed8(std::min(kTogether, features.size() - first), matrix_.rows8(),
                    matrix_.stride8(), rows, features.data() + first, word, cells + first * column_,
                    std::make_index_sequence<kTogether>());
      }
    });
  }
  for (const RowId row : rows) {
    for (std::size_t k = 0; k < features.size(); ++k) {
      const std::size_t code = matrix_.layout == Layout::dense8
                                   ? matrix_.rows8()[row * matrix_.stride8() + features[k]]
                                   : matrix_.codes16[row * p + features[k]];
      stats_.add_row(row, cells + k * column_ + code * stats_.width);
    }
  }
}

/// Sums of more features, behind those that are there.
void DrawnProfiles::sum(std::span<const std::uint32_t> features) const {
  const std::size_t begin = features_.size() * column_, size = features.size() * column_;
  for (const std::uint32_t f : features) {
    place_[f] = static_cast<std::uint32_t>(features_.size());
    features_.push_back(f);
  }
  cells_.resize(begin);
  cells_.resize(begin + size, 0);
  const std::size_t n_chunks = (rows_.size() + kChunkRows - 1) / kChunkRows;
  if (context_.n_threads <= 1 || n_chunks < 2) return add(rows_, features, cells_.data() + begin);
  std::vector<std::vector<std::int64_t>> own(static_cast<std::size_t>(context_.n_threads));
  parallel_for(n_chunks, context_, [&](std::size_t chunk, int slot) {
    std::vector<std::int64_t>& mine = own[static_cast<std::size_t>(slot)];
    if (mine.empty()) mine.resize(size, 0);
    const std::size_t first = chunk * kChunkRows;
    add(rows_.subspan(first, std::min(kChunkRows, rows_.size() - first)), features, mine.data());
  });
  for (const std::vector<std::int64_t>& mine : own) {
    for (std::size_t i = 0; i < mine.size(); ++i) cells_[begin + i] += mine[i];
  }
}

void DrawnProfiles::expect(std::span<const std::uint32_t> features) const {
  features_.clear();
  sum(features);
}

const std::int64_t* DrawnProfiles::cells(std::size_t feature) const {
  const auto f = static_cast<std::uint32_t>(feature);
  const std::uint32_t place = place_[f];
  if (place >= features_.size() || features_[place] != f) sum({&f, 1});  // all drawn are constant
  return cells_.data() + place_[f] * column_;
}

void DrawnProfiles::read(std::size_t feature, Profile& out) const {
  read_cells(cells(feature), matrix_.n_bins[feature], stats_.width, out);
}

}  // namespace committee
