// The best cut of a feature, against one that tries each cut by the definition.
#include <algorithm>
#include <cmath>

#include "check.hpp"
#include "committee/base/random.hpp"
#include "committee/search/criterion.hpp"
#include "search/newton_scan.hpp"

using namespace committee;

namespace {

struct Bins {
  std::vector<std::int64_t> g, h;
  std::vector<std::int64_t> words(unsigned shift) const {
    std::vector<std::int64_t> cells;
    for (std::size_t b = 0; b < g.size(); ++b)
      cells.push_back(g[b] * (std::int64_t{1} << shift) + h[b]);
    return cells;
  }
};

Bins draw(std::size_t n, std::uint64_t seed, std::int64_t most) {
  Bins bins;
  for (std::size_t b = 0; b < n; ++b) {
    const std::uint64_t key = mix(seed, b);
    const bool empty = key % 4 == 0;
    bins.g.push_back(empty ? 0 : static_cast<std::int64_t>(mix(key, 1) % (2 * most)) - most);
    bins.h.push_back(empty ? 0 : static_cast<std::int64_t>(mix(key, 2) % most) + 1);
  }
  return bins;
}

struct Setting {
  double unit_gradient, unit_hessian, l2, least;
};

/// Cut by cut: GL^2 / (HL + l2) + GR^2 / (HR + l2) - G^2 / (H + l2), in extended precision.
NewtonCut tried(const Bins& bins, std::int64_t aside_g, std::int64_t aside_h, std::int64_t total_g,
                std::int64_t total_h, const Setting& setting) {
  NewtonCut best;
  long double top = -1, g = aside_g, h = aside_h;
  for (std::size_t b = 0; b < bins.g.size(); ++b) {
    g += bins.g[b];
    h += bins.h[b];
    const long double left = h * setting.unit_hessian, right = (total_h - h) * setting.unit_hessian;
    if (left < setting.least || right < setting.least) continue;
    const long double gl = g * setting.unit_gradient, gr = (total_g - g) * setting.unit_gradient;
    const long double score = gl * gl / (left + setting.l2) + gr * gr / (right + setting.l2);
    if (!(score > top)) continue;
    top = score;
    const long double all = total_g * setting.unit_gradient;
    const long double parent = all * all / (total_h * setting.unit_hessian + setting.l2);
    best = {static_cast<double>(score - parent), static_cast<std::uint32_t>(b)};
  }
  return best;
}

}  // namespace

TEST(newton_scan_finds_the_best_cut) {
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const std::size_t n = 1 + mix(seed, 7) % (seed % 10 == 0 ? 1000 : 255);
    const unsigned shift = seed % 3 == 0 ? 32 : 12 + seed % 26;  // hessians below 2^shift
    const auto most =
        std::max<std::int64_t>(2, (std::int64_t{1} << std::min(shift - 11, 52 - shift)));
    const Bins bins = draw(n, seed, most);
    const std::int64_t aside_g = seed % 2 == 0 ? 0 : most / 2, aside_h = seed % 2 == 0 ? 0 : most;
    std::int64_t total_g = aside_g, total_h = aside_h;
    for (std::size_t b = 0; b < n; ++b) total_g += bins.g[b], total_h += bins.h[b];
    const double unit = 0x1p-5;
    const double l2 = seed % 5 == 0 ? 0 : 1.5;
    const Setting setting{0x1p-3, unit, l2, static_cast<double>(total_h) * unit * 0.05 + unit};
    const NewtonTerms terms(total_g * (std::int64_t{1} << shift) + total_h, shift,
                            setting.unit_gradient, unit, l2, setting.least);
    const std::int64_t aside = aside_g * (std::int64_t{1} << shift) + aside_h;
    const NewtonCut cut = best_newton_cut(bins.words(shift).data(), n, aside, terms);
    const NewtonCut expected = tried(bins, aside_g, aside_h, total_g, total_h, setting);
    CHECK(std::isfinite(cut.gain) == std::isfinite(expected.gain));
    if (!std::isfinite(cut.gain)) continue;
    ++found;
    CHECK(cut.bin == expected.bin);
    CHECK(std::abs(cut.gain - expected.gain) <= 1e-9 * std::abs(expected.gain) + 1e-12);
  }
  CHECK(found > 300);
}

TEST(newton_gains_are_added_cut_by_cut) {
  for (const std::size_t n : {1u, 4u, 7u, 255u}) {
    std::vector<double> gain(n, 0.5), expected = gain;
    for (std::uint64_t node = 0; node < 3; ++node) {
      const Bins bins = draw(n, 11 + node, 1000);
      const std::int64_t aside = node == 1 ? (std::int64_t{40} << 32) + 700 : 0;
      const auto cells = bins.words(32);
      std::int64_t total = aside;
      for (const std::int64_t cell : cells) total += cell;
      const NewtonTerms terms{total, 32, 0x1p-3, 0x1p-5, 0.5, 30};
      CHECK(terms.unit() == 0x1p-6 / 0x1p-5);
      add_newton_gains(cells.data(), n, aside, terms, gain.data());
      for (std::size_t b = 0; b < n; ++b) {
        const NewtonCut one = best_newton_cut(cells.data(), n, aside, terms, {b, b + 1});
        if (std::isfinite(one.gain)) expected[b] += one.gain / terms.unit();
      }
    }
    CHECK(gain == expected);
  }
}

TEST(newton_scan_takes_the_lower_of_equal_cuts) {
  // Mirrored: -3 | 0 | 3, and empty bins that repeat the cut before them.
  Bins bins{{0, -3, 0, 0, 0, 0, 3, 0, 0}, {0, 2, 0, 0, 5, 0, 2, 0, 0}};
  const auto cells = bins.words(20);
  const NewtonTerms terms{9, 20, 1, 1, 0, 1};
  const NewtonCut cut = best_newton_cut(cells.data(), cells.size(), 0, terms);
  CHECK(cut.bin == 1);
  CHECK(std::abs(cut.gain - (9 / 2.0 + 9 / 7.0)) < 1e-14);
  const NewtonTerms heavier{9, 20, 1, 1, 0, 5};  // no cut leaves 5 on both sides
  CHECK(!std::isfinite(best_newton_cut(cells.data(), cells.size(), 0, heavier).gain));
}

TEST(newton_scan_gains_alike_whichever_side_is_left) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::size_t n = 2 + mix(seed, 9) % 254;
    Bins bins = draw(n, seed, 1000 + static_cast<std::int64_t>(seed) * 977), turned = bins;
    std::reverse(turned.g.begin(), turned.g.end());
    std::reverse(turned.h.begin(), turned.h.end());
    const auto cells = bins.words(32), back = turned.words(32);
    std::int64_t total = 0;
    for (const std::int64_t cell : cells) total += cell;
    const NewtonTerms terms{total, 32, 0x1p-3, 0x1p-5, seed % 2 == 0 ? 0 : 0.3, 0x1p-5};
    std::vector<double> gain(n, 0.0), mirrored(n, 0.0);
    add_newton_gains(cells.data(), n, 0, terms, gain.data());
    add_newton_gains(back.data(), n, 0, terms, mirrored.data());
    for (std::size_t b = 0; b + 1 < n; ++b) CHECK(gain[b] == mirrored[n - 2 - b]);
  }
}

TEST(newton_scan_needs_no_cut_below_a_floor) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::size_t n = 1 + mix(seed, 3) % 255;
    const auto cells = draw(n, seed, 1000).words(32);
    std::int64_t total = 0;
    for (const std::int64_t cell : cells) total += cell;
    const NewtonTerms terms{total, 32, 0x1p-3, 0x1p-5, 0.5, 30};
    const NewtonCut best = best_newton_cut(cells.data(), n, 0, terms);
    if (!std::isfinite(best.gain)) continue;
    for (const double share : {-1.0, 0.0, 0.5, 0.999, 1.0}) {  // a tie reaches it
      const NewtonCut cut = best_newton_cut(cells.data(), n, 0, terms, {}, share * best.gain);
      CHECK(cut.gain == best.gain && cut.bin == best.bin);
    }
    const double above = best.gain + std::abs(best.gain) * 1e-9 + 1e-9;
    CHECK(best_newton_cut(cells.data(), n, 0, terms, {}, above).gain < above);
  }
}

TEST(newton_scan_keeps_to_a_range_of_bins) {
  const Bins bins = draw(300, 5, 1000);
  std::int64_t g = 0, h = 0;
  for (std::size_t b = 0; b < 300; ++b) g += bins.g[b], h += bins.h[b];
  const auto cells = bins.words(32);
  const NewtonTerms terms{g * (std::int64_t{1} << 32) + h, 32, 1, 1, 0, 1};
  NewtonCut best;
  for (std::size_t b = 0; b < 300; ++b) {
    const NewtonCut one = best_newton_cut(cells.data(), 300, 0, terms, {b, b + 1});
    if (one.gain > best.gain) best = one;
    CHECK(!std::isfinite(one.gain) || one.bin == b);
  }
  const NewtonCut all = best_newton_cut(cells.data(), 300, 0, terms);
  CHECK(best.gain == all.gain && best.bin == all.bin);
  const NewtonCut late = best_newton_cut(cells.data(), 300, 0, terms, {270, 300});
  CHECK(late.bin >= 270 && late.gain <= all.gain);
  CHECK(!std::isfinite(best_newton_cut(cells.data(), 300, 0, terms, {20, 10}).gain));
}

TEST(newton_scan_scores_as_profiles_are_scored) {
  const Bins bins = draw(200, 3, 1000);
  double a = 0, b = 0, total_a = 0, total_b = 0;
  for (std::size_t i = 0; i < 200; ++i) {
    total_a += static_cast<double>(bins.g[i]);
    total_b += static_cast<double>(bins.h[i]);
  }
  const auto word = static_cast<std::int64_t>(total_a) * (std::int64_t{1} << 32) +
                    static_cast<std::int64_t>(total_b);
  const NewtonCut cut = best_newton_cut(bins.words(32).data(), 200, 0, {word, 32, 1, 1, 0.5, 10});
  for (std::size_t i = 0; i <= cut.bin; ++i) {
    a += static_cast<double>(bins.g[i]);
    b += static_cast<double>(bins.h[i]);
  }
  double score;
  score_boundaries(Criterion::newton, 0.5, &a, &b, 1, total_a, total_b, &score);
  CHECK(score == cut.gain);  // to the last bit: nodes of either kind are compared
}

TEST(newton_scan_of_several_features_is_that_of_one_after_the_other) {
  std::size_t n_found = 0, n_first = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const std::size_t n_features = 1 + seed % 9;
    std::vector<std::vector<std::int64_t>> cells;
    std::int64_t total = 0;
    for (std::size_t f = 0; f < n_features; ++f) {
      // All have the words of the first, in another order and with empty bins between.
      const std::size_t n = 2 + mix(seed, 3) % 70;
      if (f == 0) {
        cells.push_back(draw(n, seed, 1000).words(32));
        for (const std::int64_t cell : cells[0]) total += cell;
        continue;
      }
      if (f % 4 == 3) {  // a copy: its cuts tie
        cells.push_back(cells[mix(seed, f) % f]);
        continue;
      }
      std::vector<std::int64_t> turned = cells[0];
      for (std::size_t i = turned.size(); i > 1; --i)
        std::swap(turned[i - 1], turned[mix(mix(seed, f), i) % i]);
      turned.insert(turned.begin() + static_cast<std::ptrdiff_t>(n / 2), f, 0);
      cells.push_back(turned);
    }
    const NewtonTerms terms{total, 32, 0x1p-3, 0x1p-5, seed % 2 == 0 ? 0 : 0.3, 0x1p-5};
    std::vector<NewtonWords> words;
    for (const auto& some : cells) words.push_back({some.data(), some.size()});
    NewtonChoice expected{{}, n_features};
    for (std::size_t f = 0; f < n_features; ++f) {
      const NewtonCut cut = best_newton_cut(cells[f].data(), cells[f].size(), 0, terms);
      if (cut.gain > expected.cut.gain) expected = {cut, f};
    }
    const double gain = expected.cut.gain, infinity = std::numeric_limits<double>::infinity();
    for (const double floor : {-infinity, 0.5 * gain, std::nextafter(gain, 0.0)}) {
      const NewtonChoice choice = best_newton_of(words, terms, floor);
      CHECK(choice.which == expected.which);
      if (choice.which == n_features) continue;
      CHECK(choice.cut.gain == gain && choice.cut.bin == expected.cut.bin);
      ++n_found;
      n_first += choice.which == 0 ? 1 : 0;
    }
    CHECK(best_newton_of(words, terms, gain).which == n_features);
  }
  CHECK(n_found > 800 && n_first > 100 && n_first < n_found);
}
