// CPU nanoseconds per value of fitting and of transforming, one thread, best of several runs:
// float32 and float64, C and F order, narrow and wide. Build with the engine's sources; no
// arguments.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "committee/base/random.hpp"
#include "committee/bins/binning.hpp"

using namespace committee;

namespace {

template <class F>
double best_seconds(int runs, const F& body) {
  double best = 1e300;
  for (int i = 0; i < runs; ++i) {
    const std::clock_t start = std::clock();
    body();
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

template <class T>
void measure(const char* name, DType dtype, std::size_t n, std::size_t m, bool by_row,
             bool weighted = false) {
  std::vector<T> x(n * m);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double u = static_cast<double>(mix(i) >> 11) * 0x1.0p-53;
    x[i] = static_cast<T>(std::log(u + 1e-9));
  }
  const auto size = static_cast<std::ptrdiff_t>(sizeof(T));
  Input input;
  input.n_rows = n;
  input.n_features = m;
  input.dense = {reinterpret_cast<const std::byte*>(x.data()), dtype,
                 by_row ? size * static_cast<std::ptrdiff_t>(m) : size,
                 by_row ? size : size * static_cast<std::ptrdiff_t>(n)};
  std::vector<double> weight(weighted ? n : 0);
  for (std::size_t r = 0; r < weight.size(); ++r) weight[r] = static_cast<double>(mix(r) % 5);
  const Context context;
  BinMapper mapper({});
  const double fit = best_seconds(3, [&] { mapper = BinMapper::fit(input, weight, {}, context); });
  const double transform = best_seconds(5, [&] { (void)mapper.transform(input, context); });
  const auto values = static_cast<double>(n * m);
  const auto sampled = static_cast<double>(std::min(n, kCutSample) * m);
  std::printf(
      "%-4s %s %8zu x %-6zu%s fit %7.1f ms (%5.2f ns per sampled value)  transform %7.1f ms (%5.2f "
      "ns per value)\n",
      name, by_row ? "C" : "F", n, m, weighted ? " weighted" : "", fit * 1e3, fit * 1e9 / sampled,
      transform * 1e3, transform * 1e9 / values);
}

}  // namespace

int main() {
  measure<float>("f32", DType::f32, 500000, 28, true);
  measure<float>("f32", DType::f32, 500000, 28, false);
  measure<double>("f64", DType::f64, 500000, 28, true);
  measure<double>("f64", DType::f64, 500000, 28, false);
  measure<double>("f64", DType::f64, 500000, 28, true, true);
  measure<float>("f32", DType::f32, 2000, 8192, true);
  measure<float>("f32", DType::f32, 2000, 8192, false);
  measure<double>("f64", DType::f64, 2000, 8192, true);
  measure<double>("f64", DType::f64, 2000, 8192, false);
  return 0;
}
