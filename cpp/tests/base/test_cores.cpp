// The count of usable cores: affinity, and quotas read from a made-up cgroup tree.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "check.hpp"
#include "committee/base/parallel.hpp"

#if defined(__linux__)
#include <sched.h>
#endif

using namespace committee;

TEST(cores_respect_affinity) {
  CHECK(available_threads() >= 1);
  CHECK(available_threads() <= static_cast<int>(std::thread::hardware_concurrency()));
#if defined(__linux__)
  cpu_set_t before, one;
  sched_getaffinity(0, sizeof(before), &before);
  CPU_ZERO(&one);
  for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core) {
    if (CPU_ISSET(core, &before)) CPU_SET(core, &one);
  }
  sched_setaffinity(0, sizeof(one), &one);
  CHECK(available_threads() == 1);
  sched_setaffinity(0, sizeof(before), &before);
#endif
}

TEST(cores_respect_container_quotas) {
  namespace fs = std::filesystem;
  const fs::path root = fs::temp_directory_path() / "committee_test_cgroup";
  fs::remove_all(root);
  const auto put = [&](const std::string& file, const std::string& text) {
    fs::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text << "\n";
  };
  const auto cores = [&](const std::string& text) {
    return detail::cgroup_cores(text, root.string());
  };
  CHECK(std::isinf(cores("0::/\n")));
  put("a/b/cpu.max", "max 100000");
  put("a/cpu.max", "250000 100000");
  put("a/b/c/cpu.max", "400000 100000");
  CHECK(cores("0::/a/b/c\n") == 2.5);
  CHECK(cores("0::/a/b\n") == 2.5);
  CHECK(std::isinf(cores("0::/elsewhere\n")));
  put("cpu.max", "50000 100000");
  CHECK(cores("0::/host/path/unseen/here\n") == 0.5);
  put("cpu,cpuacct/job/cpu.cfs_quota_us", "150000");
  put("cpu,cpuacct/job/cpu.cfs_period_us", "50000");
  put("cpu,cpuacct/cpu.cfs_quota_us", "-1");
  put("cpu,cpuacct/cpu.cfs_period_us", "100000");
  CHECK(cores("4:memory:/job\n3:cpu,cpuacct:/job/task\n") == 3.0);
  CHECK(std::isinf(cores("3:cpu,cpuacct:/\n2:cpuset:/job\n")));
  put("cpu/cpu.cfs_quota_us", "20000");
  put("cpu/cpu.cfs_period_us", "10000");
  CHECK(cores("3:cpu:/x\n") == 2.0);
  CHECK(std::isinf(cores("")) && std::isinf(cores("nonsense\n1:cpu\n:::\n")));
  fs::remove_all(root);
}
