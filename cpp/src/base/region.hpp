// One call of parallel_for: its counter of tasks, its failures, and the polling of the caller.
//
// Private to the pool. Tasks are handed out one by one, in order, from a single atomic counter;
// stopping means moving that counter to the end.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>

#include "committee/base/parallel.hpp"

#if defined(__linux__)
#include <time.h>
#endif

namespace committee::detail {

struct Region;
constexpr std::int64_t kPollInterval = 5;                  // milliseconds
inline constinit thread_local Region* t_region = nullptr;  // whose task this thread is running
inline constinit thread_local bool t_is_worker = false;
inline constinit thread_local std::int64_t t_last_poll = -kPollInterval;

// Asked between tasks that may last less than a microsecond, hence the coarse clock.
inline std::int64_t coarse_milliseconds() {
#if defined(__linux__)
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
#else
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
#endif
}

inline bool asked_to_stop(const Context& context) {
  if (context.poll == nullptr || t_is_worker) return false;
  const std::int64_t now = coarse_milliseconds();
  if (now - t_last_poll < kPollInterval) return false;
  t_last_poll = now;
  return context.poll();
}

// One call of parallel_for. Lives on the caller's stack until no worker is left inside.
struct Region {
  Region(std::size_t n, int threads, TaskRef task_body)
      : body(task_body), n_tasks(n), n_slots(threads) {}

  TaskRef body;
  const std::size_t n_tasks;
  const int n_slots;
  int next_slot = 1;  // guarded by the pool's mutex, like `next`
  Region* next = nullptr;
  std::atomic<bool> interrupted{false};
  std::mutex error_mutex;
  std::exception_ptr error;
  std::size_t error_task = std::numeric_limits<std::size_t>::max();
  alignas(64) std::atomic<std::size_t> next_task{0};
  alignas(64) std::atomic<int> active{0};

  bool has_room() const {
    return next_slot < n_slots && next_task.load(std::memory_order_relaxed) < n_tasks;
  }
  void stop() { next_task.store(n_tasks, std::memory_order_relaxed); }
  void interrupt() {
    interrupted.store(true, std::memory_order_relaxed);
    stop();
  }
  // Tasks are handed out in order and those handed out always end, so the lowest failure is the one
  // that a single thread would have met first.
  void fail(std::size_t task) {
    stop();
    const std::lock_guard lock(error_mutex);
    if (task >= error_task) return;
    error_task = task;
    error = std::current_exception();
  }

  void run_task(std::size_t task, int slot) {
    try {
      body(task, slot);
    } catch (const Interrupted&) {
      interrupt();
    } catch (...) {
      // Python ends daemon threads at exit by unwinding them, which is no exception of C++;
      // swallowing it would abort the process.
      if (std::current_exception() == nullptr) throw;
      fail(task);
    }
  }

  // `context` is null on workers: only the caller polls.
  void drain(int slot, const Context* context) {
    struct Entered {
      Region* const outer = t_region;
      explicit Entered(Region* region) { t_region = region; }
      ~Entered() { t_region = outer; }
    } const entered(this);
    for (;;) {
      if (context != nullptr && asked_to_stop(*context)) return interrupt();
      const std::size_t task = next_task.fetch_add(1, std::memory_order_relaxed);
      if (task >= n_tasks) return;
      run_task(task, slot);
    }
  }
};

}  // namespace committee::detail
