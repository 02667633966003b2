// How many cores the process may use: its affinity mask and the CPU quota of its container.
//
// The number the hardware has is wrong in a container with a quota: more threads than the quota
// only get throttled, all at once.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/region.hpp"
#include "committee/base/parallel.hpp"

#if defined(__linux__)
#include <sched.h>
#endif

namespace committee {
namespace detail {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// A missing file, "max" (v2) and -1 (v1) all mean that there is no limit.
double quota_in(const std::string& folder, bool version_2) {
  double quota = -1, period = -1;
  if (version_2) {
    std::ifstream(folder + "/cpu.max") >> quota >> period;
  } else {
    std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;
    std::ifstream(folder + "/cpu.cfs_period_us") >> period;
  }
  return quota > 0 && period > 0 ? quota / period : kNoLimit;
}

// Each parent limits too. Inside a container the path may be the host's and not exist here; the
// walk then ends at the mount's root, which is the container's own group.
double tightest(const std::string& root, std::string path, bool version_2) {
  double cores = quota_in(root, version_2);
  while (path.size() > 1) {
    cores = std::min(cores, quota_in(root + path, version_2));
    path.erase(path.find_last_of('/'));
  }
  return cores;
}

}  // namespace

double cgroup_cores(const std::string& membership, const std::string& mount) {
  double cores = kNoLimit;
  std::istringstream lines(membership);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos || line.compare(second + 1, 1, "/") != 0) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      cores = std::min(cores, tightest(mount, path, true));
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      cores = std::min(cores, tightest(mount + "/" + controllers, path, false));
      cores = std::min(cores, tightest(mount + "/cpu", path, false));
    }
  }
  return cores;
}

}  // namespace detail

namespace {

int schedulable_cores() {
#if defined(__linux__)
  // The kernel refuses a mask smaller than its own, hence the growth.
  for (std::size_t sets = 1; sets <= 64; sets *= 2) {
    std::vector<cpu_set_t> mask(sets);
    if (sched_getaffinity(0, sets * sizeof(cpu_set_t), mask.data()) == 0) {
      return CPU_COUNT_S(sets * sizeof(cpu_set_t), mask.data());
    }
  }
#endif
  return static_cast<int>(std::thread::hardware_concurrency());
}

#if defined(__linux__)
constexpr std::int64_t kQuotaLife = 1000;  // milliseconds

/// The cores of the process's group. Reading its files takes as long as some trees of few rows, so
/// what they said is believed for a while.
double granted_cores() {
  static std::atomic<double> known{0};
  static std::atomic<std::int64_t> until{0};
  const std::int64_t now = detail::coarse_milliseconds();
  if (now < until.load(std::memory_order_acquire)) return known.load(std::memory_order_relaxed);
  std::ifstream file("/proc/self/cgroup");
  std::ostringstream membership;
  membership << file.rdbuf();
  const double cores = detail::cgroup_cores(membership.str(), "/sys/fs/cgroup");
  known.store(cores, std::memory_order_relaxed);
  until.store(now + kQuotaLife, std::memory_order_release);
  return cores;
}
#endif

}  // namespace

int available_threads() {
  double cores = std::max(schedulable_cores(), 1);
#if defined(__linux__)
  cores = std::min(cores, std::ceil(granted_cores()));
#endif
  return std::max(static_cast<int>(cores), 1);
}

}  // namespace committee
