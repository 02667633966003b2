// A tree as a circuit: the leaf of a row as the bits of a number, and each bit of many rows in one
// plane.
//
// A gate chooses between two planes, for 512 rows at once. Two parts of a tree are joined by what
// tells which of them a row reaches: that is the highest bit of the joined number, and costs
// nothing, and each bit that both parts have costs a gate. Where one part has more bits than the
// other these are left as they are, so a leaf may have many numbers.
//
// Joined child by child, a deep tree would have as many bits as levels. So the unit is a path that
// goes on to the larger child: at each of its nodes some rows leave it, and the parts that they go
// to are joined first half with second half, by whether a row leaves in the first half, which costs
// at most another gate per node. That halves the gates of a usual tree.
#pragma once

#include <span>
#include <vector>

#include "committee/forest/forest.hpp"

namespace committee {

/// Planes are named by their place in an array.
using PlaneId = std::uint16_t;

/// out = which ? one : zero. The four are one word, because half of a gate's time goes into finding
/// its planes.
class Gate {
 public:
  Gate(PlaneId which, PlaneId zero, PlaneId one, PlaneId out)
      : planes_(std::uint64_t{which} | std::uint64_t{zero} << 16 | std::uint64_t{one} << 32 |
                std::uint64_t{out} << 48) {}
  PlaneId which() const { return static_cast<PlaneId>(planes_); }
  PlaneId zero() const { return static_cast<PlaneId>(planes_ >> 16); }
  PlaneId one() const { return static_cast<PlaneId>(planes_ >> 32); }
  PlaneId out() const { return static_cast<PlaneId>(planes_ >> 48); }

 private:
  std::uint64_t planes_;
};

class Circuit {
 public:
  /// Two planes are constant.
  static constexpr PlaneId kZero = 0, kOne = 1, kFirst = 2;
  /// condition[node]: the plane of rows that go right there; ignored for leaves. Planes for results
  /// begin at first_result, behind all conditions.
  Circuit(std::span<const Node> nodes, std::span<const PlaneId> condition, PlaneId first_result);

  const std::vector<Gate>& gates() const { return gates_; }
  /// The planes of the number's bits, the lowest first.
  const std::vector<PlaneId>& bits() const { return bits_; }
  /// By number: the node of its leaf; 0 of a number that no row gets.
  const std::vector<std::uint32_t>& leaves() const { return leaves_; }
  std::size_t n_results() const { return n_results_; }

 private:
  /// Something rows do, where the plane is set; or, negated, where it is not.
  struct Flag {
    PlaneId plane;
    bool negated;
  };
  /// A leaf has this number, and all that differ from it in bits of `any` alone.
  struct Leaf {
    std::uint32_t node, number, any;
  };
  /// The circuit of some leaves, right for rows that reach one of them.
  struct Part {
    std::vector<PlaneId> bits;
    std::vector<Leaf> leaves;
  };
  /// Where rows leave a path, for a part. The last one is taken by all that come so far.
  struct Exit {
    Flag taken;
    Part part;
  };

  Part make_subtree(std::uint32_t node);
  Part join_exits(std::span<Exit> exits, Flag* taken);
  Part join(Flag which, Part first, Part second);
  Flag either(Flag a, Flag b);
  PlaneId choose(PlaneId which, PlaneId zero, PlaneId one);
  void number_leaves(const std::vector<Leaf>& leaves);
  std::vector<std::uint32_t> order_gates() const;
  void assign_planes();

  std::span<const Node> nodes_;
  std::span<const PlaneId> condition_;
  PlaneId first_result_;
  std::vector<std::uint32_t> n_leaves_;  // by node
  std::vector<Gate> gates_;              // until planes are assigned, gate i has result i
  std::vector<PlaneId> bits_;
  std::vector<std::uint32_t> leaves_;
  std::size_t n_results_ = 0;
};

}  // namespace committee
