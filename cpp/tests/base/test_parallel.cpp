// The pool: every task once, private slots, failures, nesting, several callers, fork, interruption,
// idle exit.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "committee/base/parallel.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#if defined(__SANITIZE_THREAD__)
#define THREAD_SANITIZER 1
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define ANY_SANITIZER 1
#endif

using namespace committee;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

namespace {

void sleep_ms(int n) { std::this_thread::sleep_for(milliseconds(n)); }

Context threads(int n) { return Context{n, nullptr}; }

// Each task once, however many threads; plain (non-atomic) cells let the thread sanitizer judge the
// hand-over.
bool each_once(std::size_t n_tasks, const Context& context) {
  std::vector<int> cells(n_tasks, 0);
  parallel_for(n_tasks, context, [&](std::size_t task, int) { ++cells[task]; });
  for (const int cell : cells) {
    if (cell != 1) return false;
  }
  return true;
}

int failing_task(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::out_of_range& error) {
    return std::stoi(error.what());
  }
  return -1;
}

#if defined(__linux__)
int pool_threads() {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    count += name == "committee";
  }
  return count;
}
#endif

}  // namespace

TEST(parallel_runs_each_task_once) {
  for (const int n : {1, 2, 4, 7}) {
    for (const std::size_t size : {0, 1, 2, 3, 5, 8, 31, 100, 1000, 20000}) {
      CHECK(each_once(size, threads(n)));
    }
    for (int repeat = 0; repeat < 300; ++repeat) CHECK(each_once(repeat % 9, threads(n)));
  }
  CHECK(each_once(10, threads(0)));
  CHECK(each_once(10, threads(-3)));
}

TEST(parallel_slots_are_exclusive_and_bounded) {
  for (const int n : {2, 4, 7}) {
    std::vector<std::atomic<int>> inside(n);
    std::atomic<bool> good{true};
    std::atomic<int> slots_seen{0};
    const auto caller = std::this_thread::get_id();
    parallel_for(400, threads(n), [&](std::size_t, int slot) {
      if (slot < 0 || slot >= n) {
        good = false;
        return;
      }
      if (inside[slot].fetch_add(1) != 0) good = false;
      if ((slot == 0) != (std::this_thread::get_id() == caller)) good = false;
      slots_seen |= 1 << slot;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      inside[slot].fetch_sub(1);
    });
    CHECK(good);
    CHECK(slots_seen == (1 << n) - 1);
  }
}

TEST(parallel_reports_the_lowest_failure_and_stays_usable) {
  for (const int n : {1, 2, 4, 7}) {
    for (int repeat = 0; repeat < 100; ++repeat) {
      std::atomic<int> ran{0};
      const int lowest = failing_task([&] {
        parallel_for(5000, threads(n), [&](std::size_t task, int) {
          ++ran;
          if (task == 20) std::this_thread::sleep_for(std::chrono::microseconds(100));
          if (task >= 20 && task % 3 == 2) throw std::out_of_range(std::to_string(task));
        });
      });
      CHECK(lowest == 20);
      CHECK(ran >= 21 && ran < 5000);
    }
    CHECK(each_once(1000, threads(n)));
  }
  const auto no_memory = [](std::size_t, int) { throw std::bad_alloc(); };
  CHECK_THROWS(parallel_for(64, threads(4), no_memory), std::bad_alloc);
  const auto no_exception = [](std::size_t, int) { throw 7; };
  CHECK_THROWS(parallel_for(64, threads(4), no_exception), int);
}

TEST(parallel_nests) {
  std::atomic<long> sum{0};
  std::atomic<bool> serial{true};
  parallel_for(50, threads(4), [&](std::size_t, int) {
    const auto self = std::this_thread::get_id();
    parallel_for(40, threads(4), [&](std::size_t inner, int slot) {
      if (slot != 0 || std::this_thread::get_id() != self) serial = false;
      sum += static_cast<long>(inner);
    });
  });
  CHECK(sum == 50 * 780);
  CHECK(serial);
  const int lowest = failing_task([] {
    parallel_for(6, threads(4), [](std::size_t outer, int) {
      parallel_for(6, threads(4), [&](std::size_t inner, int) {
        if (inner >= 4) throw std::out_of_range(std::to_string(outer * 10 + inner));
      });
    });
  });
  CHECK(lowest == 4);
}

TEST(parallel_below_a_single_task_still_uses_threads) {
  std::atomic<int> slots_seen{0};
  parallel_for(1, threads(2), [&](std::size_t, int) {
    parallel_for(100, threads(2), [&](std::size_t, int slot) {
      slots_seen |= 1 << slot;
      sleep_ms(1);
    });
  });
  CHECK(slots_seen == 3);
}

TEST(parallel_serves_several_callers) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 8; ++caller) {
    callers.emplace_back([&wrong, caller] {
      for (int repeat = 0; repeat < 300; ++repeat) {
        if (!each_once(17 * caller + repeat % 50, threads(1 + (caller + repeat) % 5))) ++wrong;
        if (repeat % 40 != 0) continue;
        const int lowest = failing_task([&] {
          parallel_for(100, threads(3), [&](std::size_t task, int) {
            if (task >= std::size_t(caller)) throw std::out_of_range(std::to_string(task));
          });
        });
        if (lowest != caller) ++wrong;
      }
    });
  }
  for (auto& caller : callers) caller.join();
  CHECK(wrong == 0);
}

namespace {
Clock::time_point poll_from;
std::thread::id poll_thread;
int poll_count;
bool poll_elsewhere;
bool poll_after_20_ms() {
  ++poll_count;
  if (std::this_thread::get_id() != poll_thread) poll_elsewhere = true;
  return Clock::now() - poll_from > milliseconds(20);
}
void start_polling() {
  poll_from = Clock::now();
  poll_thread = std::this_thread::get_id();
  poll_count = 0;
  poll_elsewhere = false;
}
}  // namespace

TEST(parallel_can_be_interrupted_between_tasks) {
  for (const int n : {1, 2, 4}) {
    start_polling();
    std::atomic<int> running{0}, ran{0};
    const auto task = [&](std::size_t, int) {
      ++running;
      sleep_ms(1);
      ++ran;
      --running;
    };
    CHECK_THROWS(parallel_for(100000, (Context{n, poll_after_20_ms}), task), Interrupted);
    CHECK(running == 0 && ran > 0);
    CHECK(Clock::now() - poll_from < milliseconds(500));
    CHECK(poll_count <= 500 / 4 && !poll_elsewhere);
    CHECK(each_once(100, threads(n)));
  }
}

TEST(parallel_can_be_interrupted_while_waiting) {
  start_polling();
  const Context context{2, poll_after_20_ms};
  std::atomic<bool> worker_in{false};
  std::atomic<bool> stopped_early{false};
  // The worker's task never ends by itself: check_interrupt must see that the waiting caller was
  // asked.
  const auto task = [&](std::size_t, int slot) {
    if (slot == 0) {
      while (!worker_in) sleep_ms(1);
      return;
    }
    worker_in = true;
    try {
      for (int i = 0; i < 5000; ++i) {
        check_interrupt(context);
        sleep_ms(1);
      }
    } catch (const Interrupted&) {
      stopped_early = true;
      throw;
    }
  };
  CHECK_THROWS(parallel_for(2, context, task), Interrupted);
  CHECK(stopped_early);
  CHECK(Clock::now() - poll_from < milliseconds(1000));
  CHECK(!poll_elsewhere);
}

TEST(parallel_check_interrupt_on_a_serial_stretch) {
  start_polling();
  const Context context{1, poll_after_20_ms};
  CHECK_THROWS(for (;;) check_interrupt(context), Interrupted);
  CHECK(poll_count < 100);
  check_interrupt(threads(1));
}

#if defined(__linux__)
TEST(parallel_workers_leave) {
  CHECK(each_once(1000, threads(4)));
  CHECK(pool_threads() >= 1);
  shutdown_threads();
  sleep_ms(50);  // a detached thread is listed until the kernel is done with it
  CHECK(pool_threads() == 0);
  CHECK(each_once(1000, threads(4)));
  sleep_ms(50);  // and bears its name only once it has run
  CHECK(pool_threads() == 3);
  const auto end = Clock::now() + milliseconds(5000);
  while (pool_threads() > 0 && Clock::now() < end) sleep_ms(20);
  CHECK(pool_threads() == 0);
  CHECK(each_once(1000, threads(4)));
}

TEST(parallel_workers_block_signals) {
  std::atomic<int> blocked{0}, workers{0};
  parallel_for(50, threads(2), [&](std::size_t, int slot) {
    sleep_ms(1);
    if (slot == 0) return;
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    ++workers;
    blocked += sigismember(&mask, SIGINT) == 1 && sigismember(&mask, SIGSEGV) == 0;
  });
  CHECK(workers > 0 && blocked == workers);
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  CHECK(sigismember(&mask, SIGINT) == 0);
}
#endif

#if defined(__GLIBC__)
// What Python does to a daemon thread that asks for the interpreter's lock while the process exits.
TEST(parallel_caller_may_be_ended_while_polling) {
  static std::atomic<int> polls{0};
  const Context context{3, [] {
                          if (++polls >= 3) pthread_exit(nullptr);
                          return false;
                        }};
  std::atomic<int> running{0};
  std::thread([&] {
    parallel_for(100000, context, [&](std::size_t, int) {
      ++running;
      parallel_for(2, context, [](std::size_t, int) { sleep_ms(1); });
      --running;
    });
  }).join();
  CHECK(polls == 3 && running <= 1);
  CHECK(each_once(1000, threads(3)));
}
#endif

#if (defined(__unix__) || defined(__APPLE__)) && !defined(THREAD_SANITIZER)
namespace {
// Runs the body in a forked child that dies after ten seconds; true if it came back true.
bool in_child(const std::function<bool()>& body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    bool good = false;
    try {
      good = body();
    } catch (...) {
    }
    _exit(good ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
}  // namespace

TEST(parallel_works_in_a_forked_child) {
  CHECK(each_once(1000, threads(4)));
  const auto grandchild = [] { return each_once(1000, threads(4)); };
  CHECK(in_child([&] { return grandchild() && in_child(grandchild) && grandchild(); }));
  CHECK(in_child([&] { return in_child(grandchild); }));
  CHECK(each_once(1000, threads(4)));
}

TEST(parallel_works_in_children_forked_while_busy) {
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) each_once(50, threads(4));
  });
  for (int repeat = 0; repeat < 30; ++repeat) {
    CHECK(in_child([] { return each_once(500, threads(4)); }));
  }
  stop = true;
  busy.join();
}

TEST(parallel_fork_inside_a_task_does_not_hang_the_child) {
  const pid_t parent = getpid();
  pid_t child = -1;
  bool child_told = false;
  try {
    parallel_for(200, threads(2), [&](std::size_t, int slot) {
      sleep_ms(1);
      if (slot == 0 && child == -1) child = fork();
      if (child == 0) alarm(10);
    });
  } catch (const std::runtime_error&) {
    child_told = true;
  }
  if (getpid() != parent) _exit(child_told && each_once(1000, threads(4)) ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(!child_told);
}

#if defined(__linux__) && !defined(ANY_SANITIZER)
TEST(parallel_does_without_threads_it_cannot_start) {
  CHECK(in_child([] {
    long pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t limit = pages * sysconf(_SC_PAGESIZE) + (2 << 20);
    const rlimit memory{limit, limit};
    if (setrlimit(RLIMIT_AS, &memory) != 0) return false;
    for (int repeat = 0; repeat < 20; ++repeat) {
      if (!each_once(3000, threads(500))) return false;
    }
    return pool_threads() < 100;
  }));
}

TEST(parallel_does_not_hang_the_exit_of_a_busy_process) {
  CHECK(in_child([] {
    std::thread([] {
      for (;;) each_once(1000, threads(3));
    }).detach();
    sleep_ms(30);
    std::exit(0);
    return false;
  }));
}
#endif
#endif
