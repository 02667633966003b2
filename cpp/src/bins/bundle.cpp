#include "committee/bins/bundle.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/large_pages.hpp"
#include "committee/base/clones.hpp"
#include "committee/bins/matrix.hpp"

namespace committee {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kReadablePast = 64;  // bytes a kernel may read past the last row
constexpr std::size_t kSampleRows = 1024;  // by which the usual code is known
constexpr std::size_t kMostTried = 8;      // bundles, before a feature gets one of its own
constexpr std::size_t kFirstRows = 4096;   // of a comparison, which most conflicts end
constexpr std::size_t kChunkRows = 4096;

/// The code of more than half of the sample, or 256.
std::uint32_t usual_code(const std::uint8_t* column, std::size_t n_rows) {
  std::array<std::uint32_t, 256> count{};
  const std::size_t step = std::max<std::size_t>(1, n_rows / kSampleRows);
  std::size_t n = 0;
  for (std::size_t r = 0; r < n_rows; r += step, ++n) ++count[column[r]];
  const auto top = std::max_element(count.begin(), count.end());
  return 2 * *top > n ? static_cast<std::uint32_t>(top - count.begin()) : 256;
}

COMMITTEE_CLONES
bool meets(const std::uint8_t* column, std::uint8_t usual, const std::uint8_t* taken,
           std::size_t n) {
  std::uint8_t both = 0;
  for (std::size_t r = 0; r < n; ++r)
    both = static_cast<std::uint8_t>(both | (column[r] != usual ? taken[r] : 0));
  return both != 0;
}

COMMITTEE_CLONES
void take_rows(const std::uint8_t* column, std::uint8_t usual, std::uint8_t* taken, std::size_t n) {
  for (std::size_t r = 0; r < n; ++r)
    taken[r] = static_cast<std::uint8_t>(taken[r] | (column[r] != usual ? 1 : 0));
}

}  // namespace

struct Bundles::Open {
  std::uint32_t n_bytes = 1;        // in use; byte 0: every feature has its usual code
  std::vector<std::uint8_t> taken;  // rows in which a feature has another code
  std::vector<std::uint32_t> features;
};

/// The feature joins the first bundle that has room and shares no row with it; false where it stays
/// alone.
bool Bundles::join(const BinnedMatrix& matrix, std::uint32_t feature, std::vector<Open>& open) {
  Place& place = places_[feature];
  const std::size_t n_rows = matrix.n_rows;
  const std::uint8_t* const column = matrix.columns8.data() + feature * n_rows;
  place.usual = usual_code(column, n_rows);
  place.n_codes = matrix.n_bins[feature] + 1;
  if (place.usual >= place.n_codes || place.n_codes >= 255) return false;  // no room for another
  const auto usual = static_cast<std::uint8_t>(place.usual);
  std::size_t n_tried = 0;
  for (Open& bundle : open) {
    if (bundle.n_bytes + place.n_codes - 1 > 256) continue;
    if (++n_tried > kMostTried) return false;
    const std::size_t n_first = std::min(n_rows, kFirstRows);
    if (meets(column, usual, bundle.taken.data(), n_first) ||
        meets(column, usual, bundle.taken.data(), n_rows))
      continue;
    place.first = bundle.n_bytes;
    bundle.n_bytes += place.n_codes - 1;
    bundle.features.push_back(feature);
    take_rows(column, usual, bundle.taken.data(), n_rows);
    return true;
  }
  open.push_back({place.n_codes, std::vector<std::uint8_t>(n_rows, 0), {feature}});
  place.first = 1;
  take_rows(column, usual, open.back().taken.data(), n_rows);
  return true;
}

/// In the order of their first features.
void Bundles::number(const std::vector<Open>& open) {
  std::vector<const Open*> of(places_.size(), nullptr);
  for (const Open& bundle : open) {
    if (bundle.features.size() < 2) continue;
    for (const std::uint32_t f : bundle.features) of[f] = &bundle;
  }
  for (std::size_t f = 0; f < places_.size(); ++f) {
    places_[f].alone = of[f] == nullptr;
    const bool first = places_[f].alone || of[f]->features[0] == f;
    places_[f].bundle =
        first ? static_cast<std::uint32_t>(n_++) : places_[of[f]->features[0]].bundle;
  }
}

Bundles::Bundles(const BinnedMatrix& matrix, const Context& context) {
  if (matrix.columns8.empty()) return;
  places_.resize(matrix.n_features);
  const std::size_t most = std::min(kLine - kStatBytes, matrix.n_features * 3 / 4);
  std::vector<Open> open;
  std::size_t n_alone = 0;
  for (std::uint32_t f = 0; f < matrix.n_features; ++f) {
    n_alone += join(matrix, f, open) ? 0 : 1;
    if (n_alone + open.size() > most) {  // it does not pay
      *this = Bundles{};
      return;
    }
  }
  number(open);
  stride_ = 16;
  while (stride_ < n_ + kStatBytes) stride_ *= 2;
  write(matrix, context);
}

void Bundles::write(const BinnedMatrix& matrix, const Context& context) {
  const std::size_t n_rows = matrix.n_rows;
  resize_on_large_pages(bytes_, n_rows * stride_ + kLine + kReadablePast);
  origin_ = (kLine - reinterpret_cast<std::uintptr_t>(bytes_.data()) % kLine) % kLine;
  parallel_for((n_rows + kChunkRows - 1) / kChunkRows, context, [&](std::size_t k, int) {
    const std::size_t begin = k * kChunkRows, end = std::min(n_rows, begin + kChunkRows);
    std::uint8_t* const rows = bytes_.data() + origin_;
    std::fill(rows + begin * stride_, rows + end * stride_, std::uint8_t{0});
    for (std::size_t f = 0; f < places_.size(); ++f) {
      const Place& place = places_[f];
      const std::uint8_t* const column = matrix.columns8.data() + f * n_rows;
      std::uint8_t* const to = rows + place.bundle;
      for (std::size_t r = begin; r < end; ++r) {
        if (place.alone) {
          to[r * stride_] = column[r];
        } else if (column[r] != place.usual) {
          to[r * stride_] = place.byte(column[r]);
        }
      }
    }
  });
}

void Bundles::expand(const std::int64_t* sums, std::int64_t* out) const {
  const std::int64_t all = std::accumulate(sums, sums + 256, std::int64_t{0});  // in every bundle
  for (std::size_t f = 0; f < places_.size(); ++f, out += kApart8) {
    const Place& place = places_[f];
    const std::int64_t* const from = sums + place.bundle * kApart8;
    if (place.alone) {
      for (std::size_t b = 0; b < 256; ++b) out[b] += from[b];
      continue;
    }
    std::int64_t others = 0;
    for (std::uint32_t code = 0; code < place.n_codes; ++code) {
      if (code == place.usual) continue;
      const std::int64_t sum = from[place.byte(code)];
      out[code] += sum;
      others += sum;
    }
    out[place.usual] += all - others;
  }
}

}  // namespace committee
