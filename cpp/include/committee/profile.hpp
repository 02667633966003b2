// A feature's profile in a node: its occupied bins, ascending, with the sums of each, and the
// missing rows apart. The split search reads nothing else, so it decides alike wherever the sums
// came from: a histogram of a large node, the rows of a small one, or shards far away.
#pragma once

#include "committee/histogram.hpp"
#include "committee/matrix.hpp"
#include "committee/stats.hpp"

namespace committee {

struct Profile {
  std::size_t n = 0;               // occupied bins without the missing one
  std::vector<std::uint32_t> bin;  // n of them, ascending
  std::vector<std::int64_t> raw;   // n * width
  bool has_missing = false;
  std::vector<std::int64_t> missing;  // width

  void reserve(std::size_t bins, std::size_t width);
};

/// Where a node's profiles come from. read() may be called from several threads with different
/// profiles.
class ProfileSource {
 public:
  virtual ~ProfileSource() = default;
  virtual void read(std::size_t feature, Profile& out) const = 0;
  /// Features that may vary in the node, ascending, where the source knows; null: any may.
  virtual const std::vector<std::uint32_t>* varying() const { return nullptr; }
};

class HistogramProfiles final : public ProfileSource {
 public:
  HistogramProfiles(const BinnedMatrix& matrix, const Stats& stats, const Histogram& histogram)
      : matrix_(matrix), width_(stats.width), histogram_(histogram) {}
  void read(std::size_t feature, Profile& out) const override;

 private:
  const BinnedMatrix& matrix_;
  std::size_t width_;
  const Histogram& histogram_;
};

}  // namespace committee
