// Nanoseconds per histogram update, one thread: the engine's `accumulate` beside plain loops of
// other layouts, in turn, best of several rounds. Rows in order, and every fourth row gathered.
// Prints features, rows, kernel, nanoseconds (minimum, median); argument: a scale of the row count.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "committee/base/clones.hpp"
#include "committee/base/random.hpp"
#include "committee/sums/histogram.hpp"

using namespace committee;

namespace {

struct Data {
  BinnedMatrix matrix;
  std::vector<std::uint8_t> columns;  // the same codes, column by column
  std::vector<double> gradient, hessian;
  std::vector<float> gradient32, hessian32;
  std::vector<std::int64_t> packed;
  std::vector<std::uint32_t> labels;
};

Data make_data(std::size_t n, std::size_t p) {
  Data d;
  d.matrix.n_rows = n;
  d.matrix.n_features = p;
  d.matrix.codes8.resize(n * p + 64);
  d.columns.resize(n * p);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < p; ++j) {
      const auto code = static_cast<std::uint8_t>(mix(i * p + j) % 255);
      d.matrix.codes8[i * p + j] = d.columns[j * n + i] = code;
    }
  }
  d.matrix.n_bins.assign(p, 255);
  d.matrix.zero_bin.assign(p, 0);
  d.matrix.categorical.assign(p, 0);
  for (std::size_t j = 0; j <= p; ++j) d.matrix.column_offset.push_back(j * kApart8);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t draw = mix(~i);
    const int g = static_cast<int>(draw % 65535) - 32767, h = static_cast<int>(draw >> 40) % 16384;
    d.gradient.push_back(g / 32768.0);
    d.hessian.push_back(h / 65536.0);
    d.packed.push_back(static_cast<std::int64_t>(g) * (std::int64_t{1} << 32) + h);
    d.labels.push_back(draw >> 63);
  }
  d.gradient32.assign(d.gradient.begin(), d.gradient.end());
  d.hessian32.assign(d.hessian.begin(), d.hessian.end());
  return d;
}

// --- the reference loops; `rows` ascend ---

COMMITTEE_CLONES
void by_column(const Data& d, std::span<const RowId> rows, double* out) {
  const std::size_t n = d.matrix.n_rows;
  std::vector<float> g(rows.size()), h(rows.size());
  for (std::size_t k = 0; k < rows.size(); ++k) {
    g[k] = d.gradient32[rows[k]];
    h[k] = d.hessian32[rows[k]];
  }
  for (std::size_t j = 0; j < d.matrix.n_features; ++j, out += 512) {
    const std::uint8_t* x = d.columns.data() + j * n;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      double* cell = out + 2 * x[rows[k]];
      cell[0] += static_cast<double>(g[k]);
      cell[1] += static_cast<double>(h[k]);
    }
  }
}

COMMITTEE_CLONES
void by_row(const Data& d, std::span<const RowId> rows, double* out) {
  const std::size_t p = d.matrix.n_features;
  for (const RowId row : rows) {
    const std::uint8_t* x = d.matrix.codes8.data() + row * p;
    const double g = d.gradient[row], h = d.hessian[row];
    for (std::size_t j = 0; j < p; ++j) {
      double* cell = out + 512 * j + 2 * x[j];
      cell[0] += g;
      cell[1] += h;
    }
  }
}

COMMITTEE_CLONES
void packed_bytes(const Data& d, std::span<const RowId> rows, std::int64_t* out) {
  const std::size_t p = d.matrix.n_features;
  for (const RowId row : rows) {
    const std::uint8_t* x = d.matrix.codes8.data() + row * p;
    const std::int64_t a = d.packed[row];
    for (std::size_t j = 0; j < p; ++j) out[256 * j + x[j]] += a;
  }
}

COMMITTEE_CLONES
void packed_words(const Data& d, std::span<const RowId> rows, std::int64_t* out) {
  const std::size_t p = d.matrix.n_features, whole = p / 8 * 8;
  for (const RowId row : rows) {
    const std::uint8_t* x = d.matrix.codes8.data() + row * p;
    const std::int64_t a = d.packed[row];
    std::int64_t* h = out;
    for (std::size_t j = 0; j < whole; j += 8, h += 2048) {
      std::uint64_t w;
      std::memcpy(&w, x + j, 8);
      h[w & 255] += a;
      h[256 + (w >> 8 & 255)] += a;
      h[512 + (w >> 16 & 255)] += a;
      h[768 + (w >> 24 & 255)] += a;
      h[1024 + (w >> 32 & 255)] += a;
      h[1280 + (w >> 40 & 255)] += a;
      h[1536 + (w >> 48 & 255)] += a;
      h[1792 + (w >> 56)] += a;
    }
    for (std::size_t j = whole; j < p; ++j, h += 256) h[x[j]] += a;
  }
}

// --- in turn ---

struct Contestant {
  const char* name;
  std::function<void()> run;
  std::vector<double> seconds = {};
};

void race(std::vector<Contestant>& contestants, std::size_t p, const char* order,
          std::size_t updates) {
  for (int round = -1; round < 9; ++round) {
    for (Contestant& c : contestants) {
      const auto start = std::chrono::steady_clock::now();
      c.run();
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
      if (round >= 0) c.seconds.push_back(time.count());
    }
  }
  for (Contestant& c : contestants) {
    std::sort(c.seconds.begin(), c.seconds.end());
    const double scale = 1e9 / static_cast<double>(updates);
    std::printf("%zu\t%s\t%s\t%.4f\t%.4f\n", p, order, c.name, c.seconds[0] * scale,
                c.seconds[c.seconds.size() / 2] * scale);
  }
}

void measure(std::size_t n, std::size_t p) {
  const Data d = make_data(n, p);
  const Stats newton = Stats::newton(d.gradient, d.hessian, 16, false);
  const std::uint32_t two[] = {2};
  const Stats classes = Stats::classes(d.labels, two, {}, false);
  Histogram sums(d.matrix.histogram_size() * newton.width), single(d.matrix.histogram_size());
  std::vector<double> pairs(d.matrix.histogram_size() * 2);
  const auto zero = [](auto& v) { std::fill(v.begin(), v.end(), 0); };
  std::vector<RowId> all(n), quarter;
  for (std::size_t i = 0; i < n; ++i) {
    all[i] = static_cast<RowId>(i);
    if (mix(i + n) % 4 == 0) quarter.push_back(static_cast<RowId>(i));
  }
  for (const bool gathered : {false, true}) {
    const std::span<const RowId> rows = gathered ? quarter : all;
    std::vector<Contestant> contestants{
        {"committee newton", [&] { zero(sums), accumulate(d.matrix, newton, rows, sums); }},
        {"committee classes", [&] { zero(single), accumulate(d.matrix, classes, rows, single); }},
        {"packed words", [&] { zero(single), packed_words(d, rows, single.data()); }},
        {"packed bytes", [&] { zero(single), packed_bytes(d, rows, single.data()); }},
        {"float64 pairs by row", [&] { zero(pairs), by_row(d, rows, pairs.data()); }},
        {"float64 pairs by column", [&] { zero(pairs), by_column(d, rows, pairs.data()); }},
    };
    race(contestants, p, gathered ? "gathered 1/4" : "in order", rows.size() * p);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const double scale = argc > 1 ? std::atof(argv[1]) : 1;
  const auto scaled = [&](double n) {
    return static_cast<std::size_t>(std::max(2000.0, n * scale));
  };
  measure(scaled(500000), 8);
  measure(scaled(500000), 28);
  measure(scaled(200000), 100);
  measure(scaled(50000), 400);
  return 0;
}
