// One memory limit, of which caches and buffers have shares that move while the process runs.
//
// A share begins with its base. One that is nearly full gets room that others do not need. A share
// below its base that is nearly full gets its base back: first from unused room, then from what
// others have above their bases, in proportion to their bases. No room moves while no share is
// nearly full.
//
//   Limit    The sizes and the use of momentary shares never exceed the limit. It counts as at
//            least the sum of the bases. A share grows only into memory that is free: others have
//            shrunk before. A share without resize() lends what it does not use, and gets it back
//            at the next rebalance().
//   Need     The greatest need counts, and fades to half in 710 calls of rebalance(): a buffer that
//            fills and empties keeps its room.
//   Threads  One thread calls rebalance(). Call shares() from the same one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace halite {

// A part of the process whose memory a setting limits. All functions are called from any thread,
// while the part exists.
struct MemoryUser {
  std::string setting;                         // "engine.block_cache_bytes"
  std::function<std::uint64_t()> used;         // bytes
  std::function<std::uint64_t()> needed = {};  // bytes that it would fill; empty: used()
  // Sets the size in bytes. It may take a while until no more is used. Empty: it has one size.
  std::function<void(std::uint64_t)> resize = {};
};

struct MemoryShare {
  MemoryUser user;
  std::uint64_t base = 0;  // bytes at start
  // Both equal to the base: the size is fixed.
  std::uint64_t least = 0;
  std::uint64_t greatest = 0;
  bool momentary = false;  // not a part of the limit: its use reduces the other shares
};

class MemoryBudget {
 public:
  MemoryBudget(std::uint64_t limit, std::vector<MemoryShare> shares);

  // Moves room to where it is needed. Call it about once a second. May take a while: resize() frees
  // memory.
  void rebalance();

  struct Share {
    MemoryShare is;
    std::uint64_t bytes = 0;   // its size now; momentary: always the base
    std::uint64_t used = 0;    // at the last rebalance()
    std::uint64_t needed = 0;  // the greatest need, fading
  };
  [[nodiscard]] const std::vector<Share>& shares() const { return shares_; }

 private:
  // Takes samples of use and need. Returns the room for the sizes of all shares.
  [[nodiscard]] std::uint64_t sample();
  // A new size for each share; momentary: 0.
  [[nodiscard]] std::vector<std::uint64_t> sizes(std::uint64_t room) const;
  void resize(Share& share, std::uint64_t bytes);

  std::uint64_t limit_;
  std::vector<Share> shares_;
};

}  // namespace halite
