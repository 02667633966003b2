#include "committee/boosting/loss.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "committee/base/clones.hpp"
#include "committee/base/det_math.hpp"

namespace committee {
namespace {

using det_detail::select;

constexpr std::size_t kChunkRows = 8192;
constexpr double kMost = 1e30;  // of a derivative: a float holds it, and sums of them

/// Derivatives of one row.
struct Slope {
  double g, h;
};

struct Squared {
  Slope operator()(double y, double f) const { return {f - y, 1}; }
};
struct Absolute {
  Slope operator()(double y, double f) const {
    return {select(f > y, 1.0, select(f < y, -1.0, 0.0)), 1};
  }
};
struct Huber {
  double delta;
  Slope operator()(double y, double f) const {
    const double r = f - y;
    return {select(r > delta, delta, select(r < -delta, -delta, r)), 1};
  }
};
struct Quantile {
  double level;
  Slope operator()(double y, double f) const {
    return {select(f == y, 0.0, select(f > y, 1 - level, -level)), 1};
  }
};
struct Poisson {
  Slope operator()(double y, double f) const {
    const double mean = det_exp(f);
    return {mean - y, mean};
  }
};
struct Gamma {
  Slope operator()(double y, double f) const {
    const double ratio = y * det_exp(-f);
    return {1 - ratio, ratio};
  }
};
struct Tweedie {
  double power;
  Slope operator()(double y, double f) const {
    const double a = y * det_exp((1 - power) * f), b = det_exp((2 - power) * f);
    return {b - a, (2 - power) * b - (1 - power) * a};
  }
};
struct Logistic {
  Slope operator()(double y, double f) const {
    const double p = 1 / (1 + det_exp(-f));
    return {p - y, p * (1 - p)};
  }
};
/// exp(-s f) with s = -1 or 1 for y = 0 or 1.
struct Exponential {
  Slope operator()(double y, double f) const {
    const double s = 2 * y - 1, e = det_exp(-s * f);
    return {-s * e, e};
  }
};

inline float bounded(double x) {
  return static_cast<float>(select(x > kMost, kMost, select(x < -kMost, -kMost, x)));
}

/// body(first row, rows) in chunks on all threads.
template <class Body>
void over_chunks(std::size_t n, const Context& context, Body body) {
  parallel_for((n + kChunkRows - 1) / kChunkRows, context, [&](std::size_t k, int) {
    body(k * kChunkRows, std::min(kChunkRows, n - k * kChunkRows));
  });
}

struct Rows {
  const double *y, *raw, *weight, *norm;  // weight and norm may be null
  float *g, *h;                           // h may be null
  std::size_t n;
  double factor;  // multinomial: of the hessian
};

template <class Derivatives>
COMMITTEE_INLINE void write(const Rows& rows, Derivatives slope) {
  const double* __restrict y = rows.y, * __restrict raw = rows.raw, * __restrict weight = rows.weight;
  float* __restrict g = rows.g, * __restrict h = rows.h;
  const std::size_t n = rows.n;
  if (h == nullptr) {
    for (std::size_t i = 0; i < n; ++i) g[i] = bounded(slope(y[i], raw[i]).g);
  } else if (weight == nullptr) {
    for (std::size_t i = 0; i < n; ++i) {
      const Slope s = slope(y[i], raw[i]);
      g[i] = bounded(s.g);
      h[i] = bounded(s.h);
    }
  } else {
    for (std::size_t i = 0; i < n; ++i) {
      const Slope s = slope(y[i], raw[i]);
      g[i] = bounded(s.g * weight[i]);
      h[i] = bounded(s.h * weight[i]);
    }
  }
}

// One function a loss: clones cannot be templates.
#define COMMITTEE_LOSS(name, ...)                                                           \
  COMMITTEE_CLONES void write_##name(const Rows& rows, [[maybe_unused]] double parameter) { \
    write(rows, __VA_ARGS__);                                                               \
  }
COMMITTEE_LOSS(squared, Squared{})
COMMITTEE_LOSS(absolute, Absolute{})
COMMITTEE_LOSS(huber, Huber{parameter})
COMMITTEE_LOSS(quantile, Quantile{parameter})
COMMITTEE_LOSS(poisson, Poisson{})
COMMITTEE_LOSS(gamma, Gamma{})
COMMITTEE_LOSS(tweedie, Tweedie{parameter})
COMMITTEE_LOSS(logistic, Logistic{})
COMMITTEE_LOSS(exponential, Exponential{})
#undef COMMITTEE_LOSS

/// Of one class, whose score and those of all others (`norm`) make its share. Restricted pointers,
/// and weights without a branch: five times as fast.
template <class Weight>
COMMITTEE_INLINE void write_class(const Rows& rows, double output, Weight weight) {
  const double* __restrict y = rows.y, * __restrict raw = rows.raw, * __restrict norm = rows.norm;
  float* __restrict g = rows.g, * __restrict h = rows.h;
  const double factor = rows.factor;
  const std::size_t n = rows.n;
  for (std::size_t i = 0; i < n; ++i) {
    const double p = det_exp(raw[i] - norm[i]), w = weight(i);
    g[i] = bounded((p - select(y[i] == output, 1.0, 0.0)) * w);
    h[i] = bounded(factor * (p * (1 - p)) * w);
  }
}

COMMITTEE_CLONES
void write_multinomial(const Rows& rows, double output) {
  const double* __restrict weight = rows.weight;
  if (weight == nullptr) {
    write_class(rows, output, [](std::size_t) { return 1.0; });
  } else {
    write_class(rows, output, [weight](std::size_t i) { return weight[i]; });
  }
}

using Writer = void (*)(const Rows&, double);

Writer writer_of(LossKind kind) {
  switch (kind) {
    case LossKind::squared:
      return write_squared;
    case LossKind::absolute:
      return write_absolute;
    case LossKind::huber:
      return write_huber;
    case LossKind::quantile:
      return write_quantile;
    case LossKind::poisson:
      return write_poisson;
    case LossKind::gamma:
      return write_gamma;
    case LossKind::tweedie:
      return write_tweedie;
    case LossKind::logistic:
      return write_logistic;
    case LossKind::exponential:
      return write_exponential;
    default:
      return write_multinomial;
  }
}

/// The largest score goes first, so that no exponential overflows.
COMMITTEE_CLONES
void write_norms(const double* raw, std::size_t stride, std::size_t n_outputs, std::size_t n,
                 double* norm) {
  for (std::size_t i = 0; i < n; ++i) norm[i] = raw[i];
  for (std::size_t k = 1; k < n_outputs; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      const double f = raw[k * stride + i];
      norm[i] = f > norm[i] ? f : norm[i];
    }
  }
  double sum[512];
  for (std::size_t first = 0; first < n; first += std::size(sum)) {
    const std::size_t size = std::min(std::size(sum), n - first);
    std::fill_n(sum, size, 0.0);
    for (std::size_t k = 0; k < n_outputs; ++k) {
      const double* f = raw + k * stride + first;
      for (std::size_t i = 0; i < size; ++i) sum[i] += det_exp(f[i] - norm[first + i]);
    }
    for (std::size_t i = 0; i < size; ++i) norm[first + i] += det_log(sum[i]);
  }
}

}  // namespace

bool has_unit_hessian(LossKind kind) {
  return kind == LossKind::squared || kind == LossKind::absolute || kind == LossKind::huber ||
         kind == LossKind::quantile;
}

void write_gradients(const GradientTask& task, std::span<float> gradient, std::span<float> hessian,
                     const Context& context) {
  const Writer writer = writer_of(task.loss.kind);
  const bool multinomial = task.loss.kind == LossKind::multinomial;
  const double parameter =
      multinomial ? static_cast<double>(task.output) : task.loss.parameter_of(task.output);
  // All scores of a row move in one round: Friedman's (K - 1) / K on the step, here on its divisor.
  const auto k = static_cast<double>(task.n_outputs);
  const double factor = multinomial ? k / (k - 1) : 1;
  const auto from = [](auto span, std::size_t first) {
    return span.empty() ? nullptr : span.data() + first;
  };
  over_chunks(gradient.size(), context, [&](std::size_t first, std::size_t n) {
    writer({from(task.y, first), from(task.raw, first), from(task.weight, first),
            from(task.norm, first), gradient.data() + first, from(hessian, first), n, factor},
           parameter);
  });
}

void log_sum_exp(std::span<const double> raw, std::size_t n_outputs, std::span<double> norm,
                 const Context& context) {
  over_chunks(norm.size(), context, [&](std::size_t first, std::size_t n) {
    write_norms(raw.data() + first, norm.size(), n_outputs, n, norm.data() + first);
  });
}

void add_leaves(std::span<const std::uint32_t> leaf, std::span<const double> value, double scale,
                std::span<double> raw, const Context& context) {
  over_chunks(raw.size(), context, [&](std::size_t first, std::size_t n) {
    for (std::size_t i = first; i < first + n; ++i) raw[i] += scale * value[leaf[i]];
  });
}

}  // namespace committee
