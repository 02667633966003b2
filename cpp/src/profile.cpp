#include "committee/profile.hpp"

#include <algorithm>

namespace committee {

void Profile::reserve(std::size_t bins, std::size_t width) {
  if (bin.size() < bins) bin.resize(bins);
  if (raw.size() < bins * width) raw.resize(bins * width);
  if (missing.size() < width) missing.resize(width);
}

void HistogramProfiles::read(std::size_t feature, Profile& out) const {
  const std::size_t n_bins = matrix_.n_bins[feature];
  const std::int64_t* sums = histogram_.data() + matrix_.column_offset[feature] * width_;
  out.reserve(n_bins, width_);
  std::size_t n = 0;
  if (width_ == 1) {
    for (std::size_t b = 0; b < n_bins; ++b) {
      out.bin[n] = static_cast<std::uint32_t>(b);
      out.raw[n] = sums[b];
      n += sums[b] != 0;
    }
  } else {
    for (std::size_t b = 0; b < n_bins; ++b) {
      const std::int64_t* cell = sums + b * width_;
      if (std::all_of(cell, cell + width_, [](std::int64_t v) { return v == 0; })) continue;
      out.bin[n] = static_cast<std::uint32_t>(b);
      std::copy_n(cell, width_, out.raw.data() + n * width_);
      ++n;
    }
  }
  out.n = n;
  std::copy_n(sums + n_bins * width_, width_, out.missing.data());
  out.has_missing =
      std::any_of(out.missing.begin(), out.missing.begin() + static_cast<std::ptrdiff_t>(width_),
                  [](std::int64_t v) { return v != 0; });
}

}  // namespace committee
