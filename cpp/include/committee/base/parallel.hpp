// Threads: the one place of the engine that starts, wakes and waits for them.
//
// A small pool of our own instead of OpenMP: it is built lazily, keyed by process id so that a
// forked child works, and it stays good on a busy machine. Work is handed out in small chunks from
// one atomic counter, the caller works too, waiting spins for microseconds only and then parks.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace committee {

/// Thrown out of parallel_for on the calling thread when `Context::poll` asked to stop (Ctrl-C).
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

/// What a call may use: a bound on threads, and a question asked on the calling thread every few
/// milliseconds.
struct Context {
  int n_threads = 1;
  bool (*poll)() = nullptr;  // returns true to stop; called on the calling thread only
};

/// Cores this process may use: affinity and the container's CPU quota (cgroup v1 and v2, as it was
/// at most a second ago), at least 1.
int available_threads();

/// A borrowed callable `void(std::size_t task, int slot)`: no allocation, valid during the call
/// only.
class TaskRef {
 public:
  template <class F>
  TaskRef(
      const F& f)  // NOLINT(google-explicit-constructor): a lambda at the call site is the point
      : object_(&f), call_([](const void* o, std::size_t task, int slot) {
          (*static_cast<const F*>(o))(task, slot);
        }) {}
  void operator()(std::size_t task, int slot) const { call_(object_, task, slot); }

 private:
  const void* object_;
  void (*call_)(const void*, std::size_t, int);
};

/// Runs body(task, slot) once for each task in [0, n_tasks), on at most context.n_threads threads,
/// the caller among them (slot 0). `slot` is in [0, n_threads) and no two tasks run at once with
/// the same slot, so it can index private buffers. Returns when all tasks are done. If tasks throw,
/// the rest is skipped, all threads are waited for, and the exception of the lowest failed task is
/// rethrown here. Polls for interruption between the caller's tasks and while waiting (at least
/// every 20 ms, at most every 5 ms); an interruption takes precedence over a task's exception.
///
/// A nested call runs serially in its own slot 0; one made from the only task of a call, or from a
/// call on one thread, is not nested in this sense and may use threads. A call from several threads
/// at once shares the workers: each is served by those that are free, at worst by none. Threads
/// that cannot be started are done without.
void parallel_for(std::size_t n_tasks, const Context& context, TaskRef body);

/// Asks context.poll (rate limited) and throws Interrupted; for long serial stretches, within tasks
/// too. On a worker it never polls, but it throws once the caller of the running parallel_for was
/// interrupted.
void check_interrupt(const Context& context);

/// Sends the idle workers away and waits until they have left (they also leave on their own after
/// about a second without work). Those serving another thread's call are left alone; the next call
/// starts new ones.
void shutdown_threads();

namespace detail {
/// Cores granted by the quotas of the process's cgroup and its parents (a fraction is possible),
/// infinity if none is set. `membership` is the text of /proc/self/cgroup, `mount` the root of the
/// cgroup file system.
double cgroup_cores(const std::string& membership, const std::string& mount);
}  // namespace detail

}  // namespace committee
