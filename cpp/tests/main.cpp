// Runs every registered test; a test that throws has failed.
#include "check.hpp"

int main() {
  for (const auto& test : check::cases()) {
    const int before = check::failures();
    try {
      test.body();
    } catch (const std::exception& error) {
      check::fail(test.name, 0, error.what());
    }
    if (check::failures() != before) std::printf("  in %s\n", test.name);
  }
  std::printf("C++: %zu tests, %d failures\n", check::cases().size(), check::failures());
  return check::failures() == 0 ? 0 : 1;
}
