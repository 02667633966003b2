// The whole test framework of the engine: CHECK that counts, TEST that registers, one line at the
// end.
#pragma once

#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace check {
struct Case {
  const char* name;
  std::function<void()> body;
};
inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}
inline int& failures() {
  static int n = 0;
  return n;
}
inline bool add(const char* name, std::function<void()> body) {
  cases().push_back({name, std::move(body)});
  return true;
}
inline void fail(const char* file, int line, const char* what) {
  ++failures();
  std::printf("%s:%d: failed: %s\n", file, line, what);
}
}  // namespace check

#define CHECK(condition)                                           \
  do {                                                             \
    if (!(condition)) check::fail(__FILE__, __LINE__, #condition); \
  } while (false)
#define CHECK_THROWS(expression, exception)                                          \
  do {                                                                               \
    bool thrown = false;                                                             \
    try {                                                                            \
      expression;                                                                    \
    } catch (const exception&) {                                                     \
      thrown = true;                                                                 \
    }                                                                                \
    if (!thrown) check::fail(__FILE__, __LINE__, #expression " throws " #exception); \
  } while (false)
#define TEST(name)                                                      \
  static void test_##name();                                            \
  static const bool registered_##name = check::add(#name, test_##name); \
  static void test_##name()
