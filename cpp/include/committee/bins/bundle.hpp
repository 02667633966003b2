// Bundles: features of which at most one leaves its usual bin in any row, such as the indicators of
// one category, share one byte. A row then has fewer bytes to read and fewer sums to add to, and
// the histogram of each feature is read off its bundle's: all that is not in one of its other bins
// is in the usual one (exclusive feature bundling, Ke et al. 2017; here without any conflict, so
// that sums stay exact).
#pragma once

#include "committee/base/parallel.hpp"
#include "committee/base/types.hpp"

namespace committee {

class BinnedMatrix;

/// Behind the bins of a row: its gradient and hessian, 16 bits each.
inline constexpr std::size_t kStatBytes = 4;

class Bundles {
 public:
  Bundles() = default;
  /// Empty unless the matrix has columns of bytes, some of which go together, so that rows become
  /// so much shorter that it pays.
  Bundles(const BinnedMatrix& matrix, const Context& context);

  bool empty() const { return places_.empty(); }
  /// Rows lie inside cache lines, stride() bytes apart, a byte for each bundle, with room for
  /// statistics at the end.
  const std::uint8_t* rows() const { return bytes_.data() + origin_; }
  std::uint8_t* room() { return bytes_.data() + origin_ + stride_ - kStatBytes; }
  std::size_t stride() const { return stride_; }
  std::size_t size() const { return n_; }
  std::size_t n_bytes() const { return bytes_.size(); }

  /// Adds a histogram of bundles (one word a bin, kApart8 words from bundle to bundle) to that of
  /// the features.
  void expand(const std::int64_t* sums, std::int64_t* out) const;

 private:
  /// Where a feature's bins are: code c in byte first + c of its bundle, but the usual code, and
  /// codes above it are one lower. Of a feature that is alone, bytes are codes.
  struct Place {
    std::uint32_t bundle = 0, first = 0;
    std::uint32_t usual = 0, n_codes = 0;
    bool alone = true;
    std::uint8_t byte(std::uint32_t code) const {
      return static_cast<std::uint8_t>(first + code - (code > usual ? 1 : 0));
    }
  };
  struct Open;  // a bundle that is being filled
  bool join(const BinnedMatrix& matrix, std::uint32_t feature, std::vector<Open>& open);
  void number(const std::vector<Open>& open);
  void write(const BinnedMatrix& matrix, const Context& context);

  std::vector<Place> places_;  // by feature
  std::size_t n_ = 0, stride_ = 0, origin_ = 0;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace committee
