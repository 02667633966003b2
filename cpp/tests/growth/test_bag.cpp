// Bags as functions of the content of rows alone: order, copies, strata, groups, members, refusals.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "bag_data.hpp"
#include "check.hpp"
#include "committee/base/parallel.hpp"
#include "random_table.hpp"

using namespace committee;
using testing::bits, testing::kDrawn, testing::plan_of, testing::some_keys, testing::sum,
    testing::weights;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The message of the error the plan is refused with.
std::string refusal(const std::vector<std::uint64_t>& keys, const BagPlan& plan) {
  try {
    const Bags bags(keys, plan);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

/// Rows of a few distinct contents: what a key, a stratum, a weight and a number of copies say.
struct Rows {
  std::vector<std::uint64_t> keys;
  BagPlan plan;
  std::vector<std::size_t> content;

  void add(std::uint64_t key, std::uint32_t units, std::uint32_t stratum, std::size_t what) {
    keys.push_back(key);
    plan.units.push_back(units);
    plan.strata.push_back(stratum);
    content.push_back(what);
  }

  Rows shuffled(testing::Random& random) const {
    std::vector<std::size_t> order(keys.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    Rows out;
    out.plan = plan;
    for (std::size_t i = 0; i < order.size(); ++i) {
      out.keys.push_back(keys[order[i]]);
      out.content.push_back(content[order[i]]);
      if (!plan.units.empty()) out.plan.units[i] = plan.units[order[i]];
      if (!plan.weight.empty()) out.plan.weight[i] = plan.weight[order[i]];
      if (!plan.strata.empty()) out.plan.strata[i] = plan.strata[order[i]];
      if (!plan.groups.empty()) out.plan.groups[i] = plan.groups[order[i]];
    }
    return out;
  }

  /// Bag weight of each content, added in the order of the rows.
  std::map<std::size_t, double> drawn(std::uint64_t member) const {
    std::map<std::size_t, double> total;
    const std::vector<double> weight = weights(Bags(keys, plan), member);
    for (std::size_t r = 0; r < keys.size(); ++r) total[content[r]] += weight[r];
    return total;
  }
};

}  // namespace

TEST(bag_copies_equal_units_in_any_order) {
  testing::Random random(1);
  for (int round = 0; round < 60; ++round) {
    for (const Draw draw : kDrawn) {
      const bool strata = round % 2 == 0;
      Rows counted, repeated;
      std::uint64_t n_units = 0;
      const std::size_t n = 1 + random() % 40;
      for (std::size_t i = 0; i < n; ++i) {
        const auto units = static_cast<std::uint32_t>(random() % 5);
        const auto stratum = static_cast<std::uint32_t>(random() % 3 * 10);
        const std::uint64_t key = random();
        counted.add(key, units, stratum, i);
        for (std::uint32_t k = 0; k < units; ++k) repeated.add(key, 1, stratum, i);
        n_units += units;
      }
      if (n_units == 0) continue;
      const std::uint64_t size = 1 + random() % n_units;
      for (Rows* rows : {&counted, &repeated}) {
        rows->plan.draw = draw;
        rows->plan.size = size;
        rows->plan.seed = random() % 3;
        if (!strata) rows->plan.strata.clear();
      }
      repeated.plan.seed = counted.plan.seed;
      repeated.plan.units.clear();
      for (const std::uint64_t member : {0, 1, 7}) {
        std::map<std::size_t, double> want = counted.drawn(member);
        std::erase_if(want, [&](const auto& entry) {
          return counted.plan.units[entry.first] == 0 && entry.second == 0.0;
        });
        CHECK(repeated.drawn(member) == want);
        CHECK(repeated.shuffled(random).drawn(member) == want);
        const auto other = counted.shuffled(random).drawn(member);
        for (const auto& [what, weight] : want) CHECK(other.at(what) == weight);
      }
    }
  }
}

TEST(bag_of_shuffled_rows_is_the_shuffled_bag) {
  testing::Random random(2);
  for (int round = 0; round < 40; ++round) {
    for (const Draw draw : kDrawn) {
      Rows rows;
      for (std::size_t i = 0; i < 60; ++i) {
        rows.add(round % 4 == 0 ? random() % 8 : random(), 1, random() % 3, i);
        rows.plan.weight.push_back(static_cast<double>(random() % 7) * 0.37);
        rows.plan.groups.push_back(rows.plan.strata.back() + 3 * (random() % 6));
      }
      rows.plan.units.clear();
      if (round % 4 == 0) {  // equal keys: told apart by their weight
        std::map<std::pair<std::uint64_t, double>, std::size_t> same;
        for (std::size_t i = 0; i < 60; ++i) {
          rows.plan.strata[i] = 0;
          rows.content[i] = same.try_emplace({rows.keys[i], rows.plan.weight[i]}, i).first->second;
        }
      }
      if (round % 4 != 1) rows.plan.groups.clear();
      if (round % 4 == 2) rows.plan.strata.clear();
      rows.plan.draw = draw;
      rows.plan.size = 9;
      const Rows other = rows.shuffled(random);
      if (draw == Draw::exponential && round % 4 == 0) {  // sums of equal rows: another order
        const auto a = rows.drawn(3), b = other.drawn(3);
        for (const auto& [what, weight] : a) CHECK(std::fabs(b.at(what) - weight) < 1e-12);
      } else {
        CHECK(rows.drawn(3) == other.drawn(3));
      }
    }
  }
}

TEST(bag_sizes_are_exact) {
  testing::Random random(3);
  for (const bool weighted : {false, true}) {
    for (const std::uint64_t size : {1, 10, 64, 100}) {
      BagPlan plan = plan_of(Draw::replace, size);
      if (weighted) {
        for (int i = 0; i < 100; ++i) plan.weight.push_back(1e-3 + testing::chance(random, 0.5));
      }
      CHECK(sum(weights(Bags(some_keys(100), plan), 5)) == static_cast<double>(size));
      plan.draw = Draw::subset;
      const std::vector<double> once = weights(Bags(some_keys(100), plan), 5);
      CHECK(sum(once) == static_cast<double>(size));
      CHECK(*std::max_element(once.begin(), once.end()) == 1.0);
    }
  }
  CHECK(sum(weights(Bags(some_keys(3), plan_of(Draw::replace, 1000)), 0)) == 1000.0);
}

TEST(bag_all_is_every_row_as_it_is) {
  BagPlan plan = plan_of(Draw::all, 0);
  CHECK(weights(Bags(some_keys(3), plan), 4) == std::vector<double>(3, 1.0));
  plan.units = {0, 2, 5};
  CHECK((weights(Bags(some_keys(3), plan), 4) == std::vector<double>{0, 2, 5}));
  CHECK(bits(Bags(some_keys(3), plan), 4)[0] == 0);
  plan.groups = {1, 1, 2};
  CHECK((weights(Bags(some_keys(3), plan), 4) == std::vector<double>{0, 2, 5}));
  plan.units.clear();
  plan.weight = {0.5, 0, 1e300};
  CHECK(weights(Bags(some_keys(3), plan), 4) == plan.weight);
}

TEST(bag_strata_have_exact_sizes) {
  // 10, 7 and 3 rows: 11 draws are due 5.5, 3.85 and 1.65, so 5 + 3 + 1, then the largest
  // remainders.
  BagPlan plan;
  for (std::uint32_t r = 0; r < 20; ++r) plan.strata.push_back(r < 10 ? 4U : r < 17 ? 9U : 70U);
  const auto per_stratum = [&](std::uint64_t size, Draw draw) {
    plan.size = size;
    plan.draw = draw;
    const std::vector<double> w = weights(Bags(some_keys(20), plan), 3);
    std::map<std::uint32_t, double> out;
    for (std::size_t r = 0; r < 20; ++r) out[plan.strata[r]] += w[r];
    return std::vector<double>{out[4], out[9], out[70]};
  };
  for (const Draw draw : {Draw::replace, Draw::subset}) {
    CHECK((per_stratum(11, draw) == std::vector<double>{5, 4, 2}));
    CHECK((per_stratum(20, draw) == std::vector<double>{10, 7, 3}));
    CHECK((per_stratum(4, draw) == std::vector<double>{2, 1, 1}));
    CHECK((per_stratum(3, draw) == std::vector<double>{1, 1, 1}));  // due 1.5, 1.05 and 0.45
    CHECK((per_stratum(1, draw) == std::vector<double>{1, 0, 0}));
  }
  plan.strata = {0, 0, 5, 5, 8, 8};  // ties go to the lower stratum
  plan.draw = Draw::replace;
  plan.size = 4;
  std::vector<double> w = weights(Bags(some_keys(6), plan), 3);
  CHECK(w[0] + w[1] == 2 && w[2] + w[3] == 1 && w[4] + w[5] == 1);
  plan.units = {1, 0, 3, 3, 0, 1};  // in units: 1, 6, 1
  plan.size = 8;
  plan.draw = Draw::subset;
  CHECK((weights(Bags(some_keys(6), plan), 3) == std::vector<double>{1, 0, 3, 3, 0, 1}));
  plan.units.clear();
  plan.weight = {1, 1, 100, 0, 1, 1};  // the heavy stratum has one row: the others share the rest
  plan.size = 3;
  w = weights(Bags(some_keys(6), plan), 3);
  CHECK(w[0] + w[1] == 1 && w[2] == 1 && w[3] == 0 && w[4] + w[5] == 1);
  plan.draw = Draw::replace;
  plan.size = 104;
  w = weights(Bags(some_keys(6), plan), 3);
  CHECK(w[0] + w[1] == 2 && w[2] == 100 && w[3] == 0 && w[4] + w[5] == 2);
}

TEST(bag_groups_stay_together) {
  testing::Random random(4);
  BagPlan plan;
  const std::size_t n = 200;
  for (std::size_t r = 0; r < n; ++r) {
    plan.groups.push_back(static_cast<std::uint32_t>(random() % 20) * 1000);
    plan.units.push_back(r % 3 == 0 ? 0 : static_cast<std::uint32_t>(1 + random() % 4));
    if (plan.groups.back() == 7000) plan.units.back() = 0;  // never drawn
  }
  for (const Draw draw : kDrawn) {
    plan.draw = draw;
    plan.size = 19;
    const Bags bags(some_keys(n), plan);
    const std::vector<double> w = weights(bags, 1);
    const std::vector<std::uint8_t> out = bits(bags, 1);
    std::map<std::uint32_t, double> amount;
    for (std::size_t r = 0; r < n; ++r) {
      const bool is_out = (out[r / 8] >> (r % 8) & 1) != 0;
      CHECK(is_out == (w[r] == 0.0 && plan.units[r] > 0));
      if (plan.units[r] == 0) {
        CHECK(w[r] == 0.0);
        continue;
      }
      const auto [at, first] = amount.try_emplace(plan.groups[r], w[r] / plan.units[r]);
      CHECK(first || std::fabs(at->second - w[r] / plan.units[r]) < 1e-12);
    }
    CHECK(amount.size() == 19 && !amount.contains(7000));
    double total = 0.0;
    for (const auto& [group, times] : amount) total += times;
    if (draw == Draw::replace || draw == Draw::subset) CHECK(std::fabs(total - 19.0) < 1e-9);
  }
  plan.draw = Draw::subset;
  plan.size = 20;
  CHECK(contains(refusal(some_keys(n), plan), "size is 20"));
}

TEST(bag_groups_within_strata) {
  BagPlan plan = plan_of(Draw::subset, 2);
  plan.groups = {3, 3, 1, 2, 2, 0, 0, 5};
  plan.strata = {0, 0, 0, 1, 1, 0, 0, 1};  // groups 0, 1, 3 and groups 2, 5: one of each stratum
  for (std::uint64_t m = 0; m < 20; ++m) {
    const std::vector<double> w = weights(Bags(some_keys(8), plan), m);
    CHECK(w[0] + w[2] + w[5] == 1 && w[3] + w[7] == 1);
    CHECK(w[0] == w[1] && w[3] == w[4] && w[5] == w[6]);
  }
}

TEST(bag_left_out_is_weight_zero) {
  testing::Random random(5);
  for (const Draw draw : kDrawn) {
    for (const std::size_t n : {1, 7, 8, 9, 333}) {
      BagPlan plan = plan_of(draw, 1 + n / 3);
      if (n % 2 == 1 && n > 1) {
        for (std::size_t r = 0; r < n; ++r) plan.weight.push_back(r % 4 == 3 ? 0.0 : 1.0 + r % 5);
      }
      const Bags bags(some_keys(n), plan);
      for (std::uint64_t member = 0; member < 5; ++member) {
        const std::vector<double> w = weights(bags, member);
        const std::vector<std::uint8_t> out = bits(bags, member);
        for (std::size_t r = 0; r < 8 * out.size(); ++r) {
          const bool never = r >= n || (!plan.weight.empty() && plan.weight[r] == 0.0);
          CHECK(((out[r / 8] >> (r % 8) & 1) != 0) == (!never && w[r] == 0.0));
          if (r < n && never) CHECK(w[r] == 0.0);
        }
      }
    }
  }
}

TEST(bag_members_differ_and_repeat) {
  for (const Draw draw : kDrawn) {
    const Bags bags(some_keys(50), plan_of(draw, 30));
    std::set<std::vector<double>> seen;
    for (std::uint64_t m = 0; m < 200; ++m) seen.insert(weights(bags, m));
    CHECK(seen.size() == 200);
    CHECK(weights(bags, 17) == weights(Bags(some_keys(50), plan_of(draw, 30)), 17));
    CHECK(weights(bags, 17) != weights(Bags(some_keys(50), plan_of(draw, 30, 2)), 17));
    std::vector<std::vector<double>> threaded(64, std::vector<double>(50));
    parallel_for(64, {4, nullptr}, [&](std::size_t m, int) { bags.draw(m, threaded[m]); });
    for (std::uint64_t m = 0; m < 64; ++m) CHECK(threaded[m] == weights(bags, m));
  }
}

TEST(bag_many_rows_of_one_key) {
  const std::vector<std::uint64_t> keys(5000, 42);
  CHECK(sum(weights(Bags(keys, plan_of(Draw::replace, 5000)), 0)) == 5000.0);
  BagPlan plan = plan_of(Draw::replace, 1000);
  plan.units.assign(5000, 4000000000U);  // 2e13 units are no table
  CHECK(sum(weights(Bags(keys, plan), 0)) == 1000.0);
}

TEST(bag_refuses) {
  const auto keys = some_keys(4);
  CHECK(contains(refusal({}, plan_of(Draw::all, 1)), "keys has 0 rows"));
  CHECK(contains(refusal(keys, plan_of(static_cast<Draw>(9), 1)), "draw is 9"));
  for (const Draw draw : {Draw::replace, Draw::subset, Draw::poisson}) {
    CHECK(contains(refusal(keys, plan_of(draw, 0)), "size is 0; it must be 1 to"));
    CHECK(contains(refusal(keys, plan_of(draw, 1ULL << 32)), "size is 4294967296"));
  }
  const std::string many = refusal(keys, plan_of(Draw::subset, 5));
  CHECK(contains(many, "size is 5") && contains(many, "at most 4"));
  BagPlan plan = plan_of(Draw::replace, 2);
  plan.units = {1, 1, 1};
  CHECK(contains(refusal(keys, plan), "units has 3 elements"));
  plan.units = {1, 1, 1, 1};
  plan.weight = {1, 1, 1, 1};
  CHECK(contains(refusal(keys, plan), "units and weight are both given"));
  plan.units = {0, 0, 0, 0};
  plan.weight.clear();
  CHECK(contains(refusal(keys, plan), "units is 0 for every row"));
  plan.draw = Draw::all;
  CHECK(contains(refusal(keys, plan), "units is 0 for every row"));
  plan.draw = Draw::poisson;
  plan.units = {4000000000U, 4000000000U, 0, 0};
  CHECK(contains(refusal(keys, plan), "units add up to 8000000000"));
  plan.units.clear();
  plan.weight = {1, 1};
  CHECK(contains(refusal(keys, plan), "weight has 2 elements"));
  for (const double bad : {-1.0, std::nan(""), HUGE_VAL}) {
    plan.weight = {1, 1, bad, 1};
    CHECK(contains(refusal(keys, plan), "weight of row 2 is"));
  }
  plan.weight = {0, 0, 0, 0};
  CHECK(contains(refusal(keys, plan), "weight is 0 for every row"));
  plan.weight = {1, 0, 0, 1};
  plan.draw = Draw::subset;
  plan.size = 3;
  CHECK(contains(refusal(keys, plan), "at most 2"));
}

TEST(bag_refuses_what_does_not_fit_the_rows) {
  const auto keys = some_keys(4);
  BagPlan plan = plan_of(Draw::replace, 2);
  plan.strata = {1};
  CHECK(contains(refusal(keys, plan), "strata has 1 elements"));
  plan.strata.clear();
  plan.groups = {1, 2, 3, 4, 5};
  CHECK(contains(refusal(keys, plan), "groups has 5 elements"));
  plan.groups = {1, 2, 2, 1};
  plan.strata = {0, 6, 7, 0};
  CHECK(contains(refusal(keys, plan), "group 2 in the strata 6 and 7"));
  const Bags bags(keys, plan_of(Draw::replace, 2));
  std::vector<double> narrow(3);
  std::vector<std::uint8_t> wide(2);
  CHECK_THROWS(bags.draw(0, narrow), std::invalid_argument);
  CHECK_THROWS(bags.left_out(0, wide), std::invalid_argument);
}
