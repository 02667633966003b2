// Circuits against the plain walk: gates are evaluated on single bits, for trees of every shape.
#include <algorithm>
#include <bit>

#include "check.hpp"
#include "forest/circuit.hpp"
#include "random_forest.hpp"

using namespace committee;
using namespace committee::testing;

namespace {

/// A tree without thresholds: what its nodes ask is a plane.
struct Shape {
  std::vector<Node> nodes;
  std::vector<PlaneId> condition;
  PlaneId first_result;

  std::size_t n_leaves() const { return (nodes.size() + 1) / 2; }
};

/// split(nodes) chooses among those that have no children yet; children stand behind their parents.
template <class Split>
Shape grow(std::size_t n_leaves, std::size_t n_conditions, Random& random, const Split& split) {
  Shape shape;
  const auto add_leaf = [&] {
    shape.nodes.push_back({0.0, 0, static_cast<std::uint32_t>(shape.nodes.size())});
  };
  add_leaf();
  std::vector<std::uint32_t> open{0};
  while (open.size() < n_leaves) {
    const std::size_t pick = split(open.size());
    const auto left = static_cast<std::uint32_t>(shape.nodes.size());
    shape.nodes[open[pick]].left = left;
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(pick));
    open.insert(open.end(), {left, left + 1});
    add_leaf();
    add_leaf();
  }
  const auto plane = [](std::size_t i) { return static_cast<PlaneId>(Circuit::kFirst + i); };
  for (std::size_t i = 0; i < shape.nodes.size(); ++i)
    shape.condition.push_back(plane(below(random, n_conditions)));
  shape.first_result = plane(n_conditions);
  return shape;
}

Shape chain(std::size_t n_leaves, std::size_t n_conditions, Random& random) {
  return grow(n_leaves, n_conditions, random, [](std::size_t n_open) { return n_open - 1; });
}

Shape balanced(std::size_t n_leaves, std::size_t n_conditions, Random& random) {
  return grow(n_leaves, n_conditions, random, [](std::size_t) { return 0; });
}

/// Where `late`, leaves that came last are split rather than others, which makes the tree deep.
Shape any_shape(std::size_t n_leaves, std::size_t n_conditions, bool late, Random& random) {
  return grow(n_leaves, n_conditions, random, [&](std::size_t n_open) {
    const std::size_t pick = below(random, n_open);
    return late ? std::max(pick, below(random, n_open)) : pick;
  });
}

std::uint32_t walk(const Shape& shape, const std::vector<bool>& planes) {
  std::uint32_t at = 0;
  while (shape.nodes[at].left != at) {
    at = shape.nodes[at].left + (planes[shape.condition[at]] ? 1 : 0);
  }
  return at;
}

/// The number that the circuit gives one row, whose planes are single bits.
std::size_t run(const Circuit& circuit, std::vector<bool> planes) {
  for (const Gate& gate : circuit.gates())
    planes[gate.out()] = planes[planes[gate.which()] ? gate.one() : gate.zero()];
  std::size_t number = 0;
  for (std::size_t b = 0; b < circuit.bits().size(); ++b)
    number |= std::size_t{planes[circuit.bits()[b]]} << b;
  return number;
}

/// As many rows at random as make it likely that every leaf near the root is reached.
bool agrees(const Shape& shape, Random& random) {
  const Circuit circuit(shape.nodes, shape.condition, shape.first_result);
  const std::size_t n_conditions = shape.first_result;
  std::vector<bool> planes(n_conditions + circuit.n_results());
  planes[Circuit::kOne] = true;
  bool right = circuit.leaves().size() == std::size_t{1} << circuit.bits().size();
  for (int row = 0; row < 300; ++row) {
    for (std::size_t i = Circuit::kFirst; i < n_conditions; ++i) planes[i] = chance(random, 0.5);
    right = right && circuit.leaves()[run(circuit, planes)] == walk(shape, planes);
  }
  return right;
}

std::size_t n_bits(const Shape& shape) {
  return Circuit(shape.nodes, shape.condition, shape.first_result).bits().size();
}

}  // namespace

TEST(circuit_finds_the_leaf_of_the_walk) {
  Random random(1);
  for (const std::size_t n_leaves : {1, 2, 3, 4, 5, 7, 8, 9, 31, 64, 100, 255, 256}) {
    for (const std::size_t n_conditions : {1, 2, 20, 1000}) {
      CHECK(agrees(chain(n_leaves, n_conditions, random), random));
      CHECK(agrees(balanced(n_leaves, n_conditions, random), random));
      for (const bool late : {false, true})
        CHECK(agrees(any_shape(n_leaves, n_conditions, late, random), random));
    }
  }
}

/// All rows, that is all combinations of conditions, so every leaf that can be reached is.
TEST(circuit_of_small_trees_for_all_rows) {
  Random random(2);
  constexpr std::size_t kConditions = 10, kFirst = Circuit::kFirst;
  for (int round = 0; round < 50; ++round) {
    const Shape shape = any_shape(1 + below(random, 30), kConditions, round % 2 == 0, random);
    const Circuit circuit(shape.nodes, shape.condition, shape.first_result);
    std::size_t wrong = 0;
    for (std::size_t row = 0; row < std::size_t{1} << kConditions; ++row) {
      std::vector<bool> planes(kFirst + kConditions + circuit.n_results());
      planes[1] = true;
      for (std::size_t i = 0; i < kConditions; ++i) planes[kFirst + i] = (row >> i & 1) != 0;
      wrong += circuit.leaves()[run(circuit, planes)] != walk(shape, planes) ? 1 : 0;
    }
    CHECK(wrong == 0);
  }
}

TEST(circuit_has_few_bits_gates_and_planes) {
  Random random(3);
  for (std::size_t depth = 0; depth <= 8; ++depth) {
    const Shape shape = balanced(std::size_t{1} << depth, 1000, random);
    const Circuit circuit(shape.nodes, shape.condition, shape.first_result);
    CHECK(circuit.bits().size() == depth);
    CHECK(circuit.gates().size() <= shape.n_leaves());
  }
  for (const std::size_t n_leaves : {100, 256}) {
    CHECK(n_bits(chain(n_leaves, 1000, random)) == std::bit_width(n_leaves - 1));
    for (int round = 0; round < 20; ++round) {
      const Shape shape = any_shape(n_leaves, 1000, round % 2 == 0, random);
      const Circuit circuit(shape.nodes, shape.condition, shape.first_result);
      CHECK(circuit.bits().size() <= 11);
      CHECK(circuit.gates().size() < 2 * n_leaves);
      CHECK(circuit.n_results() <= circuit.gates().size());
    }
  }
}
