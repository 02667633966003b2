// Best-first growth, in waves: the split of the largest gain comes first, until there are leaves
// enough.
//
// Which node comes next depends on the children of the one before, so the order is sequential. But
// nodes near the head of the queue are split sooner or later, unless leaves run out first: on
// several threads, those next in line are split ahead, together. The queue is then played as if
// nobody had looked ahead, and what was split in vain at the end is taken back. So the tree is the
// best-first one, for any number of threads.
#pragma once

#include <array>
#include <memory_resource>
#include <mutex>
#include <optional>
#include <set>

#include "growth/branch.hpp"

namespace committee {

class Leafwise {
 public:
  Leafwise(const TreeData& data, Grower grower);

  void grow(const Context& context);
  Grower& grower() { return grower_; }

 private:
  /// A leaf that may be split. Of equal gains the elder first.
  struct Candidate {
    NodeId node;
    double gain;
    std::size_t birth;
    bool operator<(const Candidate& other) const {
      return gain > other.gain || (gain == other.gain && birth < other.birth);
    }
  };
  using Queue = std::pmr::set<Candidate>;
  /// What is known of a node.
  struct State {
    std::optional<Split> split;
    Histogram histogram;    // where kept for the subtraction below
    bool expanded = false;  // its children exist
  };

  bool small(NodeId id) const { return grower_.node(id).rows <= block_rows_; }
  std::span<RowId> rows(NodeId id) const;
  void enqueue(NodeId id);
  NodeId take_out(Queue::iterator at);
  void trim(std::size_t room);
  std::span<const NodeId> wave_of(NodeId top, std::size_t room, const Context& context);
  void expand(NodeId top, std::size_t room, const Context& context);
  void divide(NodeId id, const Context& context);
  void open_children(NodeId parent, int slot, double floor, const Context& context);
  void look(NodeId id, Histogram histogram, int slot, double floor, const Context& context);
  Histogram sum_rows(NodeId id, const Context& context);

  const TreeData& data_;
  Grower grower_;
  std::size_t block_rows_;
  std::vector<State> states_;  // by node
  // Small trees find room for their entries here; those that leave the queue are used again.
  std::array<std::byte, 4096> room_;
  std::pmr::monotonic_buffer_resource memory_{room_.data(), room_.size()};
  Queue queue_{&memory_};
  std::vector<Queue::node_type> spare_;
  std::vector<NodeId> wave_;
  std::size_t births_ = 0;
  std::mutex describing_;                    // of nodes that were split at once
  std::vector<std::optional<FewRows>> few_;  // by slot
};

}  // namespace committee
