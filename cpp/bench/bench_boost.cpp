// Rounds of gradient boosting: milliseconds a tree, logistic loss, leaf by leaf (0), or by depth,
// level by level (1) or symmetric (2).
// usage: bench_boost [rows] [features] [leaves] [threads] [rounds] [fewest rows of a leaf] [l2]
//                    [growth]
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "committee/base/random.hpp"
#include "committee/bins/input.hpp"
#include "committee/boosting/boost.hpp"

using namespace committee;

/// Milliseconds a tree: of ten parts of the rounds the fastest, since others disturb some.
double fastest(const BoostTask& task, std::size_t rounds, std::span<double> raw,
               const Context& context) {
  double least = std::numeric_limits<double>::infinity();
  const std::size_t part = std::max<std::size_t>(1, rounds / 10);
  for (std::size_t first = 0; first < rounds; first += part) {
    const auto start = std::chrono::steady_clock::now();
    boost(task, first, part, raw, context);
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - start;
    least = std::min(least, spent.count() / static_cast<double>(part));
  }
  return least;
}

int main(int argc, char** argv) {
  const auto argument = [&](int i, std::size_t otherwise) {
    return argc > i ? static_cast<std::size_t>(std::atoll(argv[i])) : otherwise;
  };
  const std::size_t n = argument(1, 1000000), p = argument(2, 28), leaves = argument(3, 63);
  const Context context{static_cast<int>(argument(4, 1))};
  const std::size_t rounds = argument(5, 30);
  std::vector<float> x(n * p);
  for (std::size_t i = 0; i < x.size(); ++i) {
    double sum = -6;  // nearly normal
    for (std::uint64_t k = 0; k < 12; ++k)
      sum += static_cast<double>(mix(mix(i), k) >> 11) * 0x1p-53;
    x[i] = static_cast<float>(sum);
  }
  std::vector<double> y(n);
  for (std::size_t r = 0; r < n; ++r) {
    const float* row = x.data() + r * p;
    const double noise = 4 * (static_cast<double>(mix(~r) >> 11) * 0x1p-53 - 0.5);
    y[r] = row[0] * row[1] + std::sin(row[2]) + row[3] * row[3] / 2 + row[4] + noise > 0.5 ? 1 : 0;
  }
  Input input;
  input.n_rows = n;
  input.n_features = p;
  input.dense = {reinterpret_cast<const std::byte*>(x.data()), DType::f32,
                 static_cast<std::ptrdiff_t>(p * sizeof(float)), sizeof(float)};
  BinningParams binning;
  binning.max_bins = 255;
  binning.n_levels.assign(p, 0);
  const BinMapper mapper = BinMapper::fit(input, {}, binning, context);
  BinnedMatrix matrix = mapper.transform(input, context);
  matrix.add_columns(context);
  matrix.spread_rows(context);
  TreeParams params;
  params.criterion = Criterion::newton;
  const std::size_t growth = argument(8, 0);
  params.growth = growth == 0   ? Growth::best_first
                  : growth == 1 ? Growth::depth_first
                                : Growth::symmetric;
  if (growth == 0) params.max_leaves = leaves;
  if (growth > 0) params.max_depth = std::bit_width(leaves - 1);
  params.min_rows_leaf = argument(6, 20);
  params.l2 = static_cast<double>(argument(7, 1));
  params.min_weight_leaf = 1e-3;
  params.min_gain = 0;
  std::vector<double> raw(n, 0.0);
  const BoostTask task{matrix, mapper, {LossKind::logistic, 0}, y, {}, {}, 1, params, 0.1, 1};
  std::printf("%zu rows, %zu features, %zu leaves, %d thread(s): %.3f ms a tree\n", n, p, leaves,
              context.n_threads, fastest(task, rounds, raw, context));
}
