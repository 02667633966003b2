// Words of a side, in place or not, are kept, copied and compared alike.
#include "check.hpp"
#include "committee/sums/side_sums.hpp"

using namespace committee;

TEST(side_sums_keep_few_and_many_words) {
  for (const std::size_t n : {0u, 1u, 2u, 3u, 7u}) {
    SideSums sums;
    sums.assign(n, 4);
    for (std::size_t i = 0; i < n; ++i) sums[i] += static_cast<std::int64_t>(i);
    const SideSums same = sums;
    CHECK(same.size() == n && static_cast<std::size_t>(same.end() - same.begin()) == n);
    for (std::size_t i = 0; i < n; ++i) CHECK(same[i] == static_cast<std::int64_t>(4 + i));
    CHECK(same == sums);
    if (n == 0) continue;
    sums[n - 1] = 0;
    CHECK(!(same == sums));
    sums.resize(n - 1);
    CHECK(sums.size() == n - 1 && !(same == sums));
  }
}
