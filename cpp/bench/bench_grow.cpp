// Where small nodes change method (block_rows): nanoseconds per node and feature of having the
// profiles of a node, read from its rows in a block, or from histograms of both children of a
// split, one of them summed and the other subtracted. The search that follows is the same. One
// thread; best of several rounds. Prints the rows of a node, the method, nanoseconds (minimum,
// median).
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "committee/base/random.hpp"
#include "committee/growth/block.hpp"

using namespace committee;

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kRows = 100000, kFeatures = 28, kNodes = 64;

BinnedMatrix make_matrix() {
  BinnedMatrix m;
  m.n_rows = kRows;
  m.n_features = kFeatures;
  m.codes8.resize(kRows * kFeatures + 64);
  for (std::size_t i = 0; i < kRows * kFeatures; ++i)
    m.codes8[i] = static_cast<std::uint8_t>(mix(i) % 255);
  m.n_bins.assign(kFeatures, 255);
  m.zero_bin.assign(kFeatures, 0);
  m.categorical.assign(kFeatures, 0);
  for (std::size_t j = 0; j <= kFeatures; ++j) m.column_offset.push_back(j * 256);
  return m;
}

struct Bench {
  BinnedMatrix matrix = make_matrix();
  std::vector<std::uint32_t> labels = std::vector<std::uint32_t>(kRows);
  Stats stats;
  Block block;
  Profile profile;
  Histogram parent, child;

  static Stats label_stats(std::vector<std::uint32_t>& labels) {
    for (std::size_t i = 0; i < kRows; ++i) labels[i] = mix(~i) >> 63;
    const std::uint32_t two[] = {2};
    return Stats::classes(labels, two, {}, false);
  }

  Bench() : stats(label_stats(labels)), block(matrix, stats) {
    profile.reserve(256, stats.width);
    parent.assign(matrix.histogram_size() * stats.width, 0);
    child = parent;
  }

  void read(const ProfileSource& source) {
    for (std::size_t f = 0; f < kFeatures; ++f) source.read(f, profile);
  }

  /// Loading is done once for a whole subtree, reading at each of its nodes: told apart.
  void from_rows(std::span<const RowId> rows, double& loading, double& reading) {
    const auto start = Clock::now();
    block.load(rows);
    const auto loaded = Clock::now();
    block.focus(0, rows.size());
    read(block);
    loading += std::chrono::duration<double>(loaded - start).count();
    reading += std::chrono::duration<double>(Clock::now() - loaded).count();
  }

  /// One child is summed, the other is what remains of the parent.
  double from_histogram(std::span<const RowId> a, std::span<const RowId> b) {
    std::fill(parent.begin(), parent.end(), 0);
    accumulate(matrix, stats, a, parent);
    accumulate(matrix, stats, b, parent);
    const auto start = Clock::now();
    std::fill(child.begin(), child.end(), 0);
    accumulate(matrix, stats, a, child);
    subtract(parent, child);
    read(HistogramProfiles(matrix, stats, child));
    read(HistogramProfiles(matrix, stats, parent));
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
};

void measure(Bench& bench, std::size_t n_rows) {
  std::vector<RowId> rows(kNodes * n_rows);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<RowId>(mix(i) % kRows);
  const auto node = [&](std::size_t k) { return std::span(rows).subspan(k * n_rows, n_rows); };
  for (std::size_t k = 0; k < kNodes; ++k) std::sort(node(k).begin(), node(k).end());
  std::vector<double> seconds[3];
  for (int round = 0; round < 15; ++round) {
    double sum[3] = {0, 0, 0};
    for (std::size_t k = 0; k < kNodes; k += 2) {
      bench.from_rows(node(k), sum[2], sum[0]);
      bench.from_rows(node(k + 1), sum[2], sum[0]);
      sum[1] += bench.from_histogram(node(k), node(k + 1));
    }
    for (int method = 0; method < 3; ++method) seconds[method].push_back(sum[method]);
  }
  const char* names[] = {"from its rows", "from a histogram", "loading its rows"};
  for (int method = 0; method < 3; ++method) {
    std::vector<double>& s = seconds[method];
    std::sort(s.begin(), s.end());
    constexpr double kScale = 1e9 / (kNodes * kFeatures);
    std::printf("%zu\t%s\t%.2f\t%.2f\n", n_rows, names[method], s[0] * kScale,
                s[s.size() / 2] * kScale);
  }
}

}  // namespace

int main() {
  Bench bench;
  for (std::size_t n_rows = 8; n_rows <= 512; n_rows *= 2) measure(bench, n_rows);
  return 0;
}
