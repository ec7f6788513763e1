#include "storage/tsdb/head/head.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace halite::storage {
namespace {

constexpr std::size_t kSeriesPerLock = 256;

// Sorts by time. Of equal times the point that came last stays. Most points are in order: sorts
// the others, and merges them in.
void sort_points(chunk::Points& points) {
  std::vector<std::uint32_t> in_order;
  std::vector<std::uint32_t> late;  // at or before a time that came earlier
  in_order.reserve(points.size());
  for (std::uint32_t i = 0; i < points.size(); ++i) {
    const bool newest = in_order.empty() || points.times[i] > points.times[in_order.back()];
    (newest ? in_order : late).push_back(i);
  }
  std::ranges::sort(late, {}, [&points](std::uint32_t i) { return std::pair(points.times[i], i); });

  chunk::Points sorted;
  sorted.times.reserve(points.size());
  sorted.values.reserve(points.size());
  auto next = in_order.begin();
  const auto take = [&](std::uint32_t from) {
    sorted.push_back(points.times[from], points.values[from], points.floats[from]);
  };
  for (std::size_t i = 0; i < late.size(); ++i) {
    const TimestampMs time = points.times[late[i]];
    for (; points.times[*next] < time; ++next) take(*next);
    if (i + 1 < late.size() && points.times[late[i + 1]] == time) continue;
    take(late[i]);
    if (points.times[*next] == time) ++next;  // replaced by the late one
  }
  for (; next != in_order.end(); ++next) take(*next);
  points = std::move(sorted);
}

// A series whose last point may not be its newest in the range, so it must be decoded.
struct Undecided {
  std::size_t index = 0;  // position in the result
  HeadPoints copy;
};

// Decodes these series, and removes those without a point in the range from the result.
void decide(const std::vector<Undecided>& undecided, TimeRange range,
            std::vector<LastPoint>& found) {
  chunk::Points points;
  std::vector<std::size_t> without;  // ascending
  for (const Undecided& one : undecided) {
    read_points(one.copy, range, points);
    if (points.empty()) {
      without.push_back(one.index);
      continue;
    }
    found[one.index] = {.series = one.copy.id,
                        .time = points.times.back(),
                        .value = points.values.back(),
                        .is_float = points.floats[points.size() - 1]};
  }
  if (without.empty()) return;
  auto next = without.begin();
  std::size_t index = 0;
  std::erase_if(found, [&](const LastPoint&) {
    const bool out = next != without.end() && *next == index;
    if (out) ++next;
    ++index;
    return out;
  });
}

}  // namespace

Head::Head(std::uint64_t number, std::uint32_t shards, SeriesId series_max)
    : number_(number), shards_(shards), pages_(series_max / kPageSeries + 1) {}

void Head::set_position(SeriesId id, std::uint32_t position) {
  const auto [page, is_new] = pages_.make(id / kPageSeries);
  if (is_new) account(sizeof(Page), 0);
  page[id % kPageSeries] = position + 1;
}

void Head::copy_positions(const Head& other) {
  for (std::size_t i = 0; i < other.pages_.used(); ++i) {
    const Page* const copied = other.pages_.find(i);
    if (copied == nullptr) continue;
    const auto [page, is_new] = pages_.make(i);
    if (is_new) account(sizeof(Page), 0);
    page = *copied;
  }
}

std::vector<HeadPoints> Head::copy(std::uint32_t shard_index, std::span<const SeriesId> wanted,
                                   TimeRange range) {
  std::vector<HeadPoints> copies;
  if (points() == 0) return copies;
  HeadShard& shard = shards_[shard_index];
  for (std::size_t begin = 0; begin < wanted.size(); begin += kSeriesPerLock) {
    const auto part = wanted.subspan(begin, std::min(kSeriesPerLock, wanted.size() - begin));
    const std::lock_guard lock(shard.mutex());
    for (const std::uint32_t position : positions_of(shard, part)) {
      if (shard.at(position).touches(range)) shard.copy(position, copies.emplace_back());
    }
  }
  return copies;
}

std::optional<std::vector<LastPoint>> Head::last(std::uint32_t shard_index,
                                                 std::span<const SeriesId> wanted, TimeRange range,
                                                 std::uint64_t& decode_left) {
  std::vector<LastPoint> found;
  if (points() == 0) return found;
  found.reserve(wanted.size());
  std::vector<Undecided> undecided;
  for (std::size_t begin = 0; begin < wanted.size(); begin += kSeriesPerLock) {
    const auto part = wanted.subspan(begin, std::min(kSeriesPerLock, wanted.size() - begin));
    undecided.clear();
    HeadShard& shard = shards_[shard_index];
    std::unique_lock lock(shard.mutex());
    for (const std::uint32_t position : positions_of(shard, part)) {
      const HeadSeries& series = shard.at(position);
      if (!series.touches(range)) continue;
      if (!series.ordered || series.time >= range.end) {
        if (series.points > decode_left) return std::nullopt;
        decode_left -= series.points;
        Undecided& one = undecided.emplace_back();
        one.index = found.size();
        shard.copy(position, one.copy);
      }
      found.push_back({.series = series.id,
                       .time = series.time,
                       .value = series.value,
                       .is_float = series.last_is_float});
    }
    lock.unlock();
    decide(undecided, range, found);
  }
  return found;
}

// Call under the shard's lock. Series are scattered in memory: prefetches all before it reads the
// first.
std::vector<std::uint32_t> Head::positions_of(const HeadShard& shard,
                                              std::span<const SeriesId> wanted) const {
  std::vector<std::uint32_t> positions;
  positions.reserve(wanted.size());
  for (const SeriesId id : wanted) prefetch_position(id);
  for (const SeriesId id : wanted) {
    const auto position = position_of(id);
    if (!position) continue;
    positions.push_back(*position);
    __builtin_prefetch(&shard.at(*position));
  }
  return positions;
}

void read_points(const HeadPoints& copy, TimeRange range, chunk::Points& out) {
  out.clear();
  out.times.resize(copy.points);
  out.values.resize(copy.points);
  StreamState state{.time = copy.first_time};
  const std::uint8_t* from = copy.bytes.data();
  const std::uint8_t* const end = from + copy.bytes.size();
  std::size_t count = 0;
  std::size_t run = 0;  // points from here on have one type
  bool floats = false;
  while (from != end) {
    const StreamPoint point = point_stream::decode_point(from, end, state);
    if (point.time < range.begin || point.time >= range.end) continue;
    if (point.is_float != floats) {
      out.floats.append(count - run, floats);
      run = count;
      floats = point.is_float;
    }
    out.times[count] = point.time;
    out.values[count] = point.value;
    ++count;
  }
  out.floats.append(count - run, floats);
  out.times.resize(count);
  out.values.resize(count);
  if (!copy.ordered) sort_points(out);
}

}  // namespace halite::storage
