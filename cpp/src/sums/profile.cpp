#include "committee/sums/profile.hpp"

#include <algorithm>
#include <numeric>

namespace committee {

void Profile::reserve(std::size_t bins, std::size_t width) {
  if (bin.size() < bins) bin.resize(bins);
  if (raw.size() < bins * width) raw.resize(bins * width);
  if (missing.size() < width) missing.resize(width);
}

void read_cells(const std::int64_t* sums, std::size_t n_bins, std::size_t width, Profile& out) {
  out.reserve(n_bins, width);
  std::size_t n = 0;
  if (width == 1) {
    for (std::size_t b = 0; b < n_bins; ++b) {
      out.bin[n] = static_cast<std::uint32_t>(b);
      out.raw[n] = sums[b];
      n += sums[b] != 0;
    }
  } else {
    for (std::size_t b = 0; b < n_bins; ++b) {
      const std::int64_t* cell = sums + b * width;
      if (std::all_of(cell, cell + width, [](std::int64_t v) { return v == 0; })) continue;
      out.bin[n] = static_cast<std::uint32_t>(b);
      std::copy_n(cell, width, out.raw.data() + n * width);
      ++n;
    }
  }
  out.n = n;
  std::copy_n(sums + n_bins * width, width, out.missing.data());
  out.has_missing =
      std::any_of(out.missing.begin(), out.missing.begin() + static_cast<std::ptrdiff_t>(width),
                  [](std::int64_t v) { return v != 0; });
}

void halve(Profile& profile, std::uint32_t bin, std::size_t width) {
  const auto first = profile.bin.begin();
  const auto above = static_cast<std::size_t>(
      std::upper_bound(first, first + static_cast<std::ptrdiff_t>(profile.n), bin) - first);
  std::int64_t* raw = profile.raw.data();
  const auto join = [&](std::size_t begin, std::size_t end, std::size_t to) {
    if (begin != to) std::copy_n(raw + begin * width, width, raw + to * width);
    for (std::size_t i = begin + 1; i < end; ++i) {
      for (std::size_t j = 0; j < width; ++j) raw[to * width + j] += raw[i * width + j];
    }
  };
  const std::uint32_t below = profile.bin[above - 1];
  join(0, above, 0);
  join(above, profile.n, 1);
  profile.bin[1] = profile.bin[above];
  profile.bin[0] = below;
  profile.n = 2;
}

Ends ProfileSource::ends(std::size_t feature) const {
  thread_local Profile profile;
  read(feature, profile);
  if (profile.n == 0) return {0, 0, false, profile.has_missing};
  return {profile.bin[0], profile.bin[profile.n - 1], true, profile.has_missing};
}

void ProfileSource::sum_below(std::size_t feature, std::uint32_t bin, std::size_t width,
                              Profile& out) const {
  halves(feature, bin, width, out);
}

void ProfileSource::halves(std::size_t feature, std::uint32_t bin, std::size_t width,
                           Profile& out) const {
  read(feature, out);
  halve(out, bin, width);
}

void HistogramProfiles::read(std::size_t feature, Profile& out) const {
  read_cells(cells(feature), matrix_.n_bins[feature], width_, out);
}

void HistogramProfiles::halves(std::size_t feature, std::uint32_t bin, std::size_t width,
                               Profile& out) const {
  if (width_ != 1) return ProfileSource::halves(feature, bin, width, out);
  const std::int64_t* const sums = cells(feature);
  out.reserve(2, 1);
  out.n = 2;
  out.raw[0] = std::accumulate(sums, sums + bin + 1, std::int64_t{0});
  out.bin[0] = bin;
  while (sums[out.bin[0]] == 0) --out.bin[0];
  out.bin[1] = bin + 1;
  while (sums[out.bin[1]] == 0) ++out.bin[1];
  out.missing[0] = sums[matrix_.n_bins[feature]];
  out.has_missing = out.missing[0] != 0;
}

}  // namespace committee
