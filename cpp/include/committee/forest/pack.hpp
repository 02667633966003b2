// A forest as few bytes: one to three a node instead of the forty it takes in memory, and back, bit
// for bit.
//
// Most of what the arrays hold follows from little of it. The shape of a tree is one bit a node.
// Where the nodes are in level order the children need no pointers. The thresholds of a feature,
// the values of leaves and their weights repeat, so each is a number in a short table, written in
// as many bits as the table needs. And the values and weights of inner nodes are means and sums of
// their leaves (roll_up), made anew when read. Whatever does not follow is written out, so that any
// forest survives: pack chooses, and unpack is told.
//
// The bytes are the same on every machine: little-endian, doubles by their bits.
#pragma once

#include "committee/forest/forest.hpp"

namespace committee {

/// Gives every inner node the weight and the values that follow from its leaves, children before
/// parents, leaves untouched. With children l and r:
///   weight = w_l + w_r
///   value  = (v_l * w_l + v_r * w_r) / (w_l + w_r), no further out than v_l and v_r;
///            v_l * (w_l / w) + v_r * (w_r / w) where that is not finite;
///            v_l / 2 + v_r / 2 where the children weigh nothing, or weights are not known.
/// Every operation rounds on its own, in the order written. The nodes must be those of a forest.
void roll_up(ForestArrays& arrays);

/// The same forest gives the same bytes.
std::vector<std::uint8_t> pack(const Forest& forest);

/// The forest that was packed, all arrays bit for bit. Bytes are trusted in nothing: throws
/// std::invalid_argument saying what is wrong with them, before it makes a forest of more than 1024
/// times their number (pack never packs tighter than that).
Forest unpack(std::span<const std::uint8_t> bytes);

}  // namespace committee
