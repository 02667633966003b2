// Criteria by hand: the weather data (9 yes, 5 no) and small regressions.
#include "check.hpp"
#include "committee/search/criterion.hpp"

using namespace committee;

namespace {

bool near(double a, double b, double tolerance = 1e-12) { return std::abs(a - b) <= tolerance; }
double bits(double nats) { return nats / std::log(2.0); }

double score(Criterion c, std::vector<std::uint32_t> n_classes, const std::vector<double>& sums,
             double l2 = 0) {
  return node_score(c, {sums.size(), std::move(n_classes), l2}, sums.data());
}

}  // namespace

TEST(criterion_weather_entropy) {
  const double parent = score(Criterion::entropy, {2}, {9, 5});
  CHECK(near(bits(-parent / 14), 0.940286, 1e-6));
  // windy: false (6, 2), true (3, 3)
  const double gain =
      score(Criterion::entropy, {2}, {6, 2}) + score(Criterion::entropy, {2}, {3, 3}) - parent;
  CHECK(near(bits(gain / 14), 0.048127, 1e-6));
  CHECK(near(normalised(Criterion::gain_ratio, gain, parent, 8, 6), 0.048849, 1e-6));
  // outlook = overcast (4, 0) against the rest (5, 5)
  const double overcast =
      score(Criterion::entropy, {2}, {4, 0}) + score(Criterion::entropy, {2}, {5, 5}) - parent;
  CHECK(near(bits(overcast / 14), 0.940286 - 10.0 / 14, 1e-6));
  const double split = bits(normalised(Criterion::gain_ratio, overcast, parent, 4, 10));
  CHECK(near(split * std::log(2.0), 0.226000 / 0.863121, 1e-5));
  const double joint = 2 * 0.226000 / (0.863121 + 0.940286);
  CHECK(near(normalised(Criterion::normalized_gain, overcast, parent, 4, 10), joint, 1e-5));
  CHECK(near(normalised(Criterion::normalized_gain, -score(Criterion::entropy, {2}, {7, 7}),
                        score(Criterion::entropy, {2}, {7, 7}), 7, 7),
             1.0));
  CHECK(normalised(Criterion::gini, 3.5, -1, 1, 1) == 3.5);
  CHECK(normalised(Criterion::normalized_gain, 0.0, 0.0, 5, 0) == 0.0);
  for (const Criterion c : {Criterion::gain_ratio, Criterion::normalized_gain}) {
    for (double left = 1; left < 30; ++left) {  // mirrored splits tie
      for (double right = 1; right < left; ++right)
        CHECK(normalised(c, 1.5, -2.5, left, right) == normalised(c, 1.5, -2.5, right, left));
    }
  }
}

TEST(criterion_classes_by_hand) {
  CHECK(near(score(Criterion::gini, {2}, {9, 5}), 106.0 / 14));
  CHECK(near(score(Criterion::gini, {3}, {1, 2, 3}), 14.0 / 6));
  CHECK(score(Criterion::error, {3}, {1, 2, 3}) == 3);
  CHECK(near(score(Criterion::entropy, {3}, {2, 2, 2}), -6 * std::log(3.0)));
  CHECK(score(Criterion::entropy, {2}, {4, 0}) == 0);
  CHECK(score(Criterion::gain_ratio, {2}, {3, 4}) == score(Criterion::entropy, {2}, {3, 4}));
  CHECK(score(Criterion::exponential, {2}, {9, 4}) == -12);    // 2 sqrt(36)
  CHECK(score(Criterion::exponential, {3}, {1, 0, 9}) == -6);  // sqrt(1 9) + 0 + sqrt(9 1)
  CHECK(score(Criterion::exponential, {3}, {0, 5, 0}) == 0);
  CHECK(score(Criterion::exponential, {2, 2}, {9, 4, 0, 13}) == -12);
  // what the many light ones weigh beside a heavy one is not lost
  CHECK(near(score(Criterion::exponential, {3}, {0x1p60, 1, 3}),
             -(std::sqrt(0x1p62) + std::sqrt(0x1p60) + std::sqrt(3 * 0x1p60)), 1e-3));
  // several outputs add up
  CHECK(near(score(Criterion::gini, {2, 3}, {9, 5, 4, 4, 6}), 106.0 / 14 + 68.0 / 14));
  CHECK(score(Criterion::error, {2, 2}, {9, 5, 6, 8}) == 17);
}

TEST(criterion_pairs_equal_many) {
  for (double a = 0; a < 6; ++a) {
    for (double b = 1; b < 6; b += 0.75) {
      CHECK(pair::Gini{}(a, b) == score(Criterion::gini, {2}, {a, b}));
      CHECK(pair::Entropy{}(a, b) == score(Criterion::entropy, {2}, {a, b}));
      CHECK(pair::Error{}(a, b) == score(Criterion::error, {2}, {a, b}));
      CHECK(pair::Exponential{}(a, b) == score(Criterion::exponential, {2}, {a, b}));
      CHECK(pair::Squared{}(a, b) == score(Criterion::squared_error, {}, {a, b}));
      CHECK(pair::Squared{2}(a, b) == score(Criterion::newton, {}, {a, b}, 2));
      CHECK(pair::Poisson{}(a, b) == score(Criterion::poisson, {}, {a, b}));
    }
  }
}

TEST(criterion_regression_by_hand) {
  CHECK(score(Criterion::squared_error, {}, {6, 3}) == 12);
  CHECK(score(Criterion::squared_error, {}, {6, 3, 3}) == 15);  // two outputs
  CHECK(score(Criterion::newton, {}, {-6, 3}, 1) == 9);
  CHECK(score(Criterion::newton, {}, {5, 0}, 0) == 0);  // no curvature, no step
  CHECK(near(score(Criterion::poisson, {}, {6, 3}), 6 * std::log(2.0)));
  CHECK(score(Criterion::poisson, {}, {0, 3}) == -std::numeric_limits<double>::infinity());
  CHECK_THROWS(score(Criterion::absolute_error, {}, {1, 2}), std::invalid_argument);
}
