// The thread pool behind parallel_for.
//
// A call is a Region on the caller's stack, linked into the pool's list. Workers enter a region
// under the pool's mutex; the caller unlinks it under the same mutex and then waits only for those
// that entered, so a worker the system never schedules costs nothing. The pool object is never
// destroyed: its detached workers may still be parked on it while the process exits, and a forked
// child must not touch its parent's.
#include "committee/base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>

#include "base/region.hpp"

#if defined(__unix__) || defined(__APPLE__)
#define COMMITTEE_POSIX 1
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#endif

namespace committee {
namespace {

using namespace detail;

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr auto kWorkerSpin = microseconds(200);  // bridges the serial gap between two regions
constexpr auto kCallerSpin = microseconds(50);   // a task's time; then a worker may need the core
constexpr auto kParkTime = milliseconds(10);     // a parked caller still polls this often
constexpr auto kIdleLife = milliseconds(200);    // a worker without work ends itself
constexpr int kMaxThreads = 1024;                // a bound on absurd requests, not a tuning

void pause_core() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

template <class Condition>
bool spin_until(microseconds limit, const Condition& condition) {
  const auto end = Clock::now() + limit;
  do {
    for (int i = 0; i < 16; ++i) {
      if (condition()) return true;
      pause_core();
    }
  } while (Clock::now() < end);
  return false;
}

class Pool {
 public:
  static Pool& current();
  static Pool* existing();
  static void forget() { current_.store(nullptr, std::memory_order_relaxed); }
  bool is_current() const { return current_.load(std::memory_order_relaxed) == this; }

  void open(Region& region);
  void close(Region& region);
  bool wait_spinning(const Region& region) const;
  void wait_parked(const Region& region);
  void dismiss_idle();

 private:
  static std::atomic<Pool*> current_;

  std::unique_lock<std::mutex> lock();
  void spawn(int count);
  void work();
  Region* enter_any();
  void leave(Region& region);
  bool rest(std::unique_lock<std::mutex>& held);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  Region* first_ = nullptr;
  int workers_ = 0;   // alive
  int idle_ = 0;      // of those, not inside a region
  int sleeping_ = 0;  // of those, parked
  bool dismissing_ = false;
  Clock::time_point no_spawn_before_{};
  std::atomic<std::uint64_t> posts_{0};
  std::atomic<int> parked_callers_{0};
  std::atomic<bool> may_spin_{false};  // spinning only helps when every thread has a core
  const int cores_ = available_threads();
#if defined(COMMITTEE_POSIX)
  const pid_t process_ = getpid();
#endif
};

std::atomic<Pool*> Pool::current_{nullptr};

#if defined(COMMITTEE_POSIX)
// At load time: a lazy registration could itself be cut in half by a fork.
[[maybe_unused]] const int kForkHandler = pthread_atfork(nullptr, nullptr, Pool::forget);
#endif

Pool* Pool::existing() {
  Pool* pool = current_.load(std::memory_order_acquire);
#if defined(COMMITTEE_POSIX)
  // The fork handler makes this almost redundant; a raw clone() does not run handlers.
  if (pool != nullptr && pool->process_ != getpid()) return nullptr;
#endif
  return pool;
}

Pool& Pool::current() {
  if (Pool* pool = existing()) return *pool;
  Pool* stale = current_.load(std::memory_order_acquire);
  Pool* fresh = new Pool;
  for (;;) {
    if (current_.compare_exchange_strong(stale, fresh)) return *fresh;
    if (Pool* other = existing()) {
      delete fresh;
      return *other;
    }
  }
}

// Held for nanoseconds, so a short spin nearly always avoids the system call.
std::unique_lock<std::mutex> Pool::lock() {
  std::unique_lock held(mutex_, std::try_to_lock);
  for (int i = 0; i < 64 && !held.owns_lock(); ++i) {
    pause_core();
    held.try_lock();
  }
  if (!held.owns_lock()) held.lock();
  return held;
}

void Pool::open(Region& region) {
  const std::size_t useful = std::min<std::size_t>(region.n_slots, region.n_tasks);
  const int wanted = static_cast<int>(useful) - 1;
  auto held = lock();
  region.next = first_;
  first_ = &region;
  posts_.fetch_add(1, std::memory_order_release);
  // The pool grows to the largest single call, not to the sum of concurrent ones: those share.
  int missing = std::max(wanted - workers_, 0);
  if (missing > 0 && Clock::now() < no_spawn_before_) missing = 0;
  workers_ += missing;
  idle_ += missing;
  may_spin_.store(workers_ < cores_, std::memory_order_relaxed);
  const int to_wake = std::min(wanted - (idle_ - sleeping_), sleeping_);
  held.unlock();
  for (int i = 0; i < to_wake; ++i) wake_.notify_one();
  if (missing > 0) spawn(missing);
}

void Pool::close(Region& region) {
  const auto held = lock();
  Region** link = &first_;
  while (*link != &region) link = &(*link)->next;
  *link = region.next;
}

// Workers take no signals (those belong to the program's own threads), except the faults of their
// own code.
void Pool::spawn(int count) {
#if defined(COMMITTEE_POSIX)
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) {
    sigdelset(&blocked, fault);
  }
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
#endif
  int started = 0;
  try {
    for (; started < count; ++started) std::thread([this] { work(); }).detach();
  } catch (const std::exception&) {
    const auto held = lock();
    workers_ -= count - started;
    idle_ -= count - started;
    no_spawn_before_ = Clock::now() + kIdleLife;
  }
#if defined(COMMITTEE_POSIX)
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
#endif
}

void Pool::work() {
  t_is_worker = true;
#if defined(__linux__)
  pthread_setname_np(pthread_self(), "committee");
#endif
  auto held = lock();
  for (;;) {
    Region* region = enter_any();
    if (region == nullptr) {
      if (rest(held)) continue;
      break;
    }
    const int slot = region->next_slot++;
    --idle_;
    held.unlock();
    region->drain(slot, nullptr);
    leave(*region);
    held = lock();
    ++idle_;
  }
  --workers_;
  --idle_;
  if (dismissing_) done_.notify_all();
}

// With the mutex held.
Region* Pool::enter_any() {
  for (Region* region = first_; region != nullptr; region = region->next) {
    if (!region->has_room()) continue;
    region->active.fetch_add(1, std::memory_order_relaxed);
    return region;
  }
  return nullptr;
}

// The region may be gone as soon as `active` has dropped: from there on only the pool is touched.
void Pool::leave(Region& region) {
  if (region.active.fetch_sub(1) != 1 || parked_callers_.load() == 0) return;
  {
    const auto held = lock();
  }
  done_.notify_all();
}

// False when the worker should end. Called and left with the mutex held.
bool Pool::rest(std::unique_lock<std::mutex>& held) {
  const std::uint64_t seen = posts_.load(std::memory_order_relaxed);
  const auto posted = [&] { return posts_.load(std::memory_order_acquire) != seen; };
  if (may_spin_.load(std::memory_order_relaxed) && !dismissing_) {
    held.unlock();
    spin_until(kWorkerSpin, posted);
    held = lock();
  }
  const auto end = Clock::now() + kIdleLife;
  while (!posted()) {
    if (dismissing_) return false;
    ++sleeping_;
    const auto status = wake_.wait_until(held, end);
    --sleeping_;
    if (status == std::cv_status::timeout && !posted()) return false;
  }
  return true;
}

bool Pool::wait_spinning(const Region& region) const {
  const auto left = [&] { return region.active.load(std::memory_order_acquire) == 0; };
  return left() || (may_spin_.load(std::memory_order_relaxed) && spin_until(kCallerSpin, left));
}

// Returns when the region is empty or after kParkTime. Announcing before the check pairs with
// leave().
void Pool::wait_parked(const Region& region) {
  auto held = lock();
  parked_callers_.fetch_add(1);
  if (region.active.load() != 0) done_.wait_for(held, kParkTime);
  parked_callers_.fetch_sub(1);
}

void Pool::dismiss_idle() {
  auto held = lock();
  dismissing_ = true;
  wake_.notify_all();
  const auto end = Clock::now() + kIdleLife;
  // A worker that has just left its region is not idle yet: with no region open, all of them are
  // waited for.
  const auto staying = [&] { return first_ == nullptr ? workers_ > 0 : idle_ > 0; };
  while (staying() && done_.wait_until(held, end) != std::cv_status::timeout) {
  }
  dismissing_ = false;
}

// Keeps the region in the pool's list; whatever is thrown meanwhile, no worker is left inside
// afterwards.
class Opened {
 public:
  Opened(Pool& pool, Region& region) : pool_(pool), region_(region) { pool_.open(region_); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() {
    region_.stop();
    close();
    if (!pool_.is_current()) return;
    while (region_.active.load(std::memory_order_acquire) != 0) pool_.wait_parked(region_);
  }

  void finish(const Context& context) {
    close();
    if (!pool_.is_current()) throw std::runtime_error("the process was forked inside a task");
    if (pool_.wait_spinning(region_)) return;
    while (region_.active.load(std::memory_order_acquire) != 0) {
      pool_.wait_parked(region_);
      if (!region_.interrupted.load() && asked_to_stop(context)) region_.interrupt();
    }
  }

 private:
  // In a child forked by a task the pool is the parent's: its mutex may be held for ever.
  void close() {
    if (linked_ && pool_.is_current()) pool_.close(region_);
    linked_ = false;
  }

  Pool& pool_;
  Region& region_;
  bool linked_ = true;
};

}  // namespace

void check_interrupt(const Context& context) {
  const bool stopping =
      t_region != nullptr && t_region->interrupted.load(std::memory_order_relaxed);
  if (stopping || asked_to_stop(context)) throw Interrupted();
}

void parallel_for(std::size_t n_tasks, const Context& context, TaskRef body) {
  if (n_tasks <= 1 || context.n_threads <= 1 || t_region != nullptr) {
    for (std::size_t task = 0; task < n_tasks; ++task) {
      check_interrupt(context);
      body(task, 0);
    }
    return;
  }
  Region region(n_tasks, std::min(context.n_threads, kMaxThreads), body);
  {
    Opened opened(Pool::current(), region);
    region.drain(0, &context);
    opened.finish(context);
  }
  if (region.interrupted.load()) throw Interrupted();
  if (region.error) std::rethrow_exception(std::move(region.error));
}

void shutdown_threads() {
  if (Pool* pool = Pool::existing()) pool->dismiss_idle();
}

}  // namespace committee
