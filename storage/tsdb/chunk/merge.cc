#include "storage/tsdb/chunk/merge.h"

#include <algorithm>
#include <utility>

namespace halite::storage::chunk {
namespace {

// The first index from `begin` on whose time is not before `time`. Overlaps are short, so it
// searches nearby first.
std::size_t lower_bound_near(const Points& points, std::size_t begin, TimestampMs time) {
  std::size_t step = 1;
  std::size_t low = begin;
  while (low + step < points.size() && points.times[low + step] < time) {
    low += step;
    step *= 2;
  }
  const auto first = points.times.begin() + static_cast<std::ptrdiff_t>(low);
  const auto last =
      points.times.begin() + static_cast<std::ptrdiff_t>(std::min(points.size(), low + step + 1));
  return static_cast<std::size_t>(std::lower_bound(first, last, time) - points.times.begin());
}

// Both are in time order; of equal times the point of `newer` wins.
Points merge_two(Points older, Points newer) {
  if (older.empty()) return newer;
  if (newer.empty()) return older;
  if (older.times.back() < newer.times.front()) {
    older.append(newer.view());
    return older;
  }
  if (newer.times.back() < older.times.front()) {
    newer.append(older.view());
    return newer;
  }
  Points merged;
  merged.times.reserve(older.size() + newer.size());
  merged.values.reserve(older.size() + newer.size());
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < older.size() && j < newer.size()) {
    const std::size_t older_end = lower_bound_near(older, i, newer.times[j]);
    merged.append(older.view().slice(i, older_end - i));
    i = older_end;
    if (i == older.size()) break;
    if (older.times[i] == newer.times[j]) ++i;
    const std::size_t newer_end =
        i == older.size() ? newer.size() : lower_bound_near(newer, j, older.times[i]);
    merged.append(newer.view().slice(j, newer_end - j));
    j = newer_end;
  }
  merged.append(older.view().slice(i, older.size() - i));
  merged.append(newer.view().slice(j, newer.size() - j));
  return merged;
}

}  // namespace

Points merge(std::vector<FlushedRun> runs) {
  if (runs.empty()) return {};
  std::ranges::sort(runs, {}, &FlushedRun::flush_number);
  // Merges neighbours in pairs, so that each point is copied log2(runs) times. The order of age is
  // preserved.
  for (std::size_t step = 1; step < runs.size(); step *= 2) {
    for (std::size_t i = 0; i + step < runs.size(); i += 2 * step) {
      runs[i].points = merge_two(std::move(runs[i].points), std::move(runs[i + step].points));
    }
  }
  return std::move(runs.front().points);
}

}  // namespace halite::storage::chunk
