#include "common/memory_budget.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace halite {
namespace {

using Sizes = std::vector<std::uint64_t>;

// Nearly full: grows by half. Less than half full: lends all above one and a half of its need. The
// thresholds are so far apart that a new size is neither.
std::uint64_t wanted(const MemoryBudget::Share& share) {
  std::uint64_t bytes = share.bytes;
  if (share.needed >= bytes / 8 * 7) {
    bytes = std::max(bytes, share.needed) / 2 * 3;
  } else if (share.needed < bytes / 2) {
    bytes = share.needed / 2 * 3;
  }
  return std::clamp(bytes, share.is.least, share.is.greatest);
}

// Raises sizes up to `to` while there is room, in proportion to the weights.
void raise(Sizes& sizes, const Sizes& to, const Sizes& weights, std::uint64_t& room) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < to[i] && weights[i] > 0) order.push_back(i);
  }
  const auto steps = [&](std::size_t i) {  // until `to` is reached
    return static_cast<double>(to[i] - sizes[i]) / static_cast<double>(weights[i]);
  };
  std::ranges::sort(order, {}, steps);
  double left = 0;
  for (const std::size_t i : order) left += static_cast<double>(weights[i]);
  for (const std::size_t i : order) {
    const auto weight = static_cast<double>(weights[i]);
    const auto part = static_cast<std::uint64_t>(static_cast<double>(room) * (weight / left));
    const std::uint64_t more = std::min({to[i] - sizes[i], part, room});
    sizes[i] += more;
    room -= more;
    left -= weight;
  }
}

}  // namespace

MemoryBudget::MemoryBudget(std::uint64_t limit, std::vector<MemoryShare> shares) : limit_(limit) {
  std::uint64_t bases = 0;
  for (MemoryShare& share : shares) {
    if (!share.momentary) bases += share.base;
    shares_.push_back({.is = std::move(share)});
    shares_.back().bytes = shares_.back().is.base;
  }
  limit_ = std::max(limit_, bases);
}

std::uint64_t MemoryBudget::sample() {
  constexpr std::uint64_t kFades = 1024;  // of which one part is lost at each sample
  std::uint64_t room = limit_;
  for (Share& share : shares_) {
    share.used = share.is.user.used();
    const std::uint64_t now = share.is.user.needed ? share.is.user.needed() : share.used;
    share.needed = std::max(now, share.needed - share.needed / kFades);
    if (share.is.momentary) room -= std::min(room, share.needed);
  }
  return room;
}

Sizes MemoryBudget::sizes(std::uint64_t room) const {
  Sizes sizes;
  Sizes weights;
  Sizes owned;  // what it wants of its base
  Sizes want;
  Sizes now;
  for (const Share& share : shares_) {
    const bool counts = !share.is.momentary;
    weights.push_back(counts ? share.is.base : 0);
    want.push_back(counts ? wanted(share) : 0);
    owned.push_back(std::min(want.back(), share.is.base));
    now.push_back(counts ? std::max(share.bytes, want.back()) : 0);
    sizes.push_back(!counts ? 0 : share.is.user.resize ? share.is.least : want.back());
    room -= std::min(room, sizes.back());
  }
  raise(sizes, owned, weights, room);
  raise(sizes, want, weights, room);
  raise(sizes, now, weights, room);  // the rest stays with its present owners
  return sizes;
}

void MemoryBudget::resize(Share& share, std::uint64_t bytes) {
  share.bytes = bytes;
  if (share.is.user.resize) share.is.user.resize(bytes);
  share.used = share.is.user.used();
}

void MemoryBudget::rebalance() {
  const std::uint64_t room = sample();
  const Sizes next = sizes(room);
  // A smaller change is not worth its work.
  const auto moves = [](std::uint64_t from, std::uint64_t to) {
    return std::max(from, to) - std::min(from, to) > from / 64;
  };
  std::uint64_t taken = 0;
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    Share& share = shares_[i];
    if (share.is.momentary) continue;
    if (next[i] < share.bytes && moves(share.bytes, next[i])) resize(share, next[i]);
    taken += std::max(share.bytes, share.used);
  }
  std::uint64_t free = room - std::min(room, taken);
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    Share& share = shares_[i];
    if (share.is.momentary || next[i] <= share.bytes) continue;
    // `taken` includes what it uses above its size.
    const std::uint64_t over = std::max(share.bytes, share.used) - share.bytes;
    const std::uint64_t bytes = std::min(next[i], share.bytes + over + free);
    if (!moves(share.bytes, bytes)) continue;
    const std::uint64_t more = bytes - share.bytes;
    free -= more - std::min(more, over);
    resize(share, bytes);
  }
}

}  // namespace halite
