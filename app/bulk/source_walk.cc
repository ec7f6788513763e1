#include "app/bulk/source_walk.h"

#include <algorithm>
#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "common/threads/thread_name.h"

namespace halite::app {
namespace {

// Into how many parts a slice is divided. Few reads find the points in a long time that is mostly
// empty, and slices become not much smaller than they may be.
constexpr std::int64_t kPartsAtOnce = 16;

using Prepared = std::unique_ptr<SliceSink::Prepared>;

class Walk {
 public:
  Walk(PointSource& source, SliceSink& sink, const WalkOptions& options)
      : source_(source),
        sink_(sink),
        options_(options),
        ranges_(source.ranges()),
        range_ms_(ranges_.first) {}

  Result<void> run();

 private:
  enum class State : std::uint8_t { kWaits, kInWork, kPrepared };
  struct Entry {
    SourceSlice slice;
    State state = State::kWaits;
    Prepared prepared = nullptr;
  };
  using Queue = std::list<Entry>;

  void work();
  Result<void> prepare(Queue::iterator entry);
  Result<void> pass_on();
  void adapt(const SourceSlice& slice, std::size_t points);
  // None: it cannot be divided.
  [[nodiscard]] std::vector<SourceSlice> parts_of(const SourceSlice& slice) const;
  void stop(Error why);

  // With mutex_.
  std::optional<Queue::iterator> next();
  bool add_slice();
  void divide(Queue::iterator entry, const std::vector<SourceSlice>& parts);

  PointSource& source_;
  SliceSink& sink_;
  const WalkOptions& options_;
  const SliceRanges ranges_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<std::string> metrics_;
  std::size_t metric_ = 0;
  TimestampMs time_ = 0;   // of the next slice
  std::int64_t range_ms_;  // of the next slice
  Queue queue_;            // slices that were not passed on, in order
  std::size_t prepared_ = 0;
  bool passes_on_ = false;  // one thread does
  std::optional<Error> error_;
};

Result<void> Walk::run() {
  if (options_.range.begin >= options_.range.end) return {};
  TRY(metrics_, source_.metrics());
  const auto from = std::ranges::lower_bound(metrics_, options_.from.metric);
  metric_ = static_cast<std::size_t>(from - metrics_.begin());
  time_ = options_.range.begin;
  // A walk that begins with all time at once divides it again as it did before.
  const bool whole = ranges_.first >= options_.range.end - options_.range.begin;
  if (!whole && from != metrics_.end() && *from == options_.from.metric) {
    time_ = std::max(time_, options_.from.time);
  }
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1U, options_.threads); ++i) {
    threads.emplace_back([this] {
      name_this_thread("walk");
      work();
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (error_) return std::unexpected(*error_);
  return {};
}

void Walk::work() {
  while (true) {
    Queue::iterator entry;
    {
      std::unique_lock lock(mutex_);
      std::optional<Queue::iterator> found;
      // A slice in work may be divided, and then there is more to do.
      changed_.wait(lock, [&] { return error_ || (found = next()) || queue_.empty(); });
      if (error_ || !found) return;
      entry = *found;
      entry->state = State::kInWork;
    }
    Result<void> done = prepare(entry);
    if (done) done = pass_on();
    if (!done) return stop(std::move(done).error());
  }
}

// The first slice that waits; nothing while enough are prepared. Those before all prepared ones are
// always taken: the others wait for them.
std::optional<Walk::Queue::iterator> Walk::next() {
  const std::size_t prepared_max = 2 * std::size_t{std::max(1U, options_.threads)};
  for (int i = 0; i < 2; ++i) {
    for (auto entry = queue_.begin(); entry != queue_.end(); ++entry) {
      if (entry->state == State::kWaits) return entry;
      if (entry->state == State::kPrepared && prepared_ >= prepared_max) return std::nullopt;
    }
    if (!add_slice()) return std::nullopt;
  }
  return std::nullopt;
}

bool Walk::add_slice() {
  while (true) {
    if (metric_ < metrics_.size() && time_ >= options_.range.end) {
      ++metric_;
      time_ = options_.range.begin;
      range_ms_ = ranges_.first;
    }
    if (metric_ == metrics_.size()) return false;
    const TimestampMs end =
        range_ms_ >= options_.range.end - time_
            ? options_.range.end
            : std::min(options_.range.end, (time_ + range_ms_) / ranges_.min * ranges_.min);
    const SourceSlice slice = {.metric = metrics_[metric_], .range = {.begin = time_, .end = end}};
    time_ = end;
    const bool resumes = slice.metric == options_.from.metric;
    if (resumes && options_.from.time >= end) continue;
    queue_.push_back({.slice = slice});
    // It was divided before the interruption.
    if (resumes && options_.from.time > slice.range.begin) {
      divide(std::prev(queue_.end()), parts_of(slice));
    }
    return true;
  }
}

// Puts parts in the place of an entry, without those that the interrupted walk has passed on.
void Walk::divide(Queue::iterator entry, const std::vector<SourceSlice>& parts) {
  const bool resumes = entry->slice.metric == options_.from.metric;
  for (const SourceSlice& part : parts) {
    if (resumes && part.range.end <= options_.from.time) continue;
    const auto added = queue_.insert(entry, {.slice = part});
    if (!resumes || part.range.begin >= options_.from.time) continue;
    const std::vector<SourceSlice> smaller = parts_of(part);
    if (!smaller.empty() && smaller.front().parts == 1) {
      divide(added, smaller);
    } else {
      added->slice.range.begin = options_.from.time;
    }
  }
  queue_.erase(entry);
}

Result<void> Walk::prepare(Queue::iterator entry) {
  const SourceSlice& slice = entry->slice;
  const std::vector<SourceSlice> parts = parts_of(slice);
  const std::size_t points_max = parts.empty() ? SIZE_MAX : options_.slice_points_max;
  Result<std::vector<ingest::SeriesPoints>> points = source_.read(slice, points_max);
  if (!points && points.error().code == Errc::kTooLarge) {
    if (parts.empty()) {
      return fail(Errc::kTooLarge,
                  fmt::format("{} has too many points from {} to {} ms: {}", slice.metric,
                              slice.range.begin, slice.range.end, points.error().message));
    }
    adapt(slice, SIZE_MAX);
    const std::lock_guard lock(mutex_);
    divide(entry, parts);
    changed_.notify_all();
    return {};
  }
  if (!points) return std::unexpected(std::move(points).error());
  std::size_t count = 0;
  for (const ingest::SeriesPoints& series : *points) count += series.points.size();
  adapt(slice, count);
  TRY(Prepared prepared, sink_.prepare(slice, *std::move(points)));
  const std::lock_guard lock(mutex_);
  entry->prepared = std::move(prepared);
  entry->state = State::kPrepared;
  ++prepared_;
  return {};
}

// Passes on what is prepared, unless another thread does: that one sees everything.
Result<void> Walk::pass_on() {
  std::unique_lock lock(mutex_);
  if (passes_on_) return {};
  passes_on_ = true;
  while (!error_ && !queue_.empty() && queue_.front().state == State::kPrepared) {
    Entry entry = std::move(queue_.front());
    queue_.pop_front();
    --prepared_;
    lock.unlock();
    changed_.notify_all();
    TRY_VOID(sink_.take(std::move(entry.prepared)));
    if (entry.slice.part + 1 == entry.slice.parts) {
      TRY_VOID(sink_.reached({.metric = entry.slice.metric, .time = entry.slice.range.end}));
    }
    lock.lock();
  }
  passes_on_ = false;
  return {};
}

// Adapts the length of the next slice to what this one has.
void Walk::adapt(const SourceSlice& slice, std::size_t points) {
  if (slice.parts != 1) return;
  constexpr std::int64_t kGrowth = 2;
  constexpr std::int64_t kGrowthWhenEmpty = 16;
  std::int64_t range_ms = slice.range.end - slice.range.begin;
  if (points > options_.slice_points_max) {
    range_ms /= kPartsAtOnce;
  } else if (points < options_.slice_points_max / 4) {
    range_ms *= points == 0 ? kGrowthWhenEmpty : kGrowth;
  }
  const std::lock_guard lock(mutex_);
  range_ms_ = std::clamp(range_ms, ranges_.min, ranges_.max);
}

std::vector<SourceSlice> Walk::parts_of(const SourceSlice& slice) const {
  std::vector<SourceSlice> parts;
  if (slice.parts == 1) {
    TimestampMs begin = slice.range.begin;
    const std::int64_t range_ms = slice.range.end - begin;
    for (std::int64_t i = 1; i <= kPartsAtOnce; ++i) {
      const TimestampMs about = slice.range.begin + range_ms * i / kPartsAtOnce;
      const TimestampMs end =
          i == kPartsAtOnce ? slice.range.end : about / ranges_.min * ranges_.min;
      if (end <= begin) continue;
      parts.push_back(slice);
      parts.back().range = {.begin = begin, .end = end};
      begin = end;
    }
    if (parts.size() > 1) return parts;
    parts.clear();
  }
  constexpr std::size_t kPartsMax = std::size_t{1} << 40;
  if (!source_.has_parts() || slice.parts >= kPartsMax) return parts;
  constexpr auto kParts = static_cast<std::size_t>(kPartsAtOnce);
  for (std::size_t i = 0; i < kParts; ++i) {
    parts.push_back(slice);
    parts.back().part = kParts * slice.part + i;
    parts.back().parts = kParts * slice.parts;
  }
  return parts;
}

void Walk::stop(Error why) {
  {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(why);
  }
  changed_.notify_all();
}

}  // namespace

Result<void> walk_source(PointSource& source, SliceSink& sink, const WalkOptions& options) {
  return Walk(source, sink, options).run();
}

}  // namespace halite::app
