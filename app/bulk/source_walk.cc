#include "app/bulk/source_walk.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "common/threads/thread_name.h"

namespace halite::app {
namespace {

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
  struct Next {
    std::uint64_t number = 0;
    SourceSlice slice;
  };
  using Prepared = std::unique_ptr<SliceSink::Prepared>;

  void work();
  std::optional<Next> next();
  Result<void> walk_slice(const Next& next);
  // kTooLarge: it has too many points, or takes the source too long.
  Result<Prepared> prepare(const SourceSlice& slice);
  // In turn: passes on a slice. If that was too large, reads it in halves.
  Result<void> take(const SourceSlice& slice, Result<Prepared> prepared);
  [[nodiscard]] std::optional<std::pair<SourceSlice, SourceSlice>> halves(
      const SourceSlice& slice) const;
  void set_range(std::int64_t range_ms);
  [[nodiscard]] bool wait_for_turn(std::uint64_t number);
  void end_turn();
  void stop(Error why);

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
  std::int64_t range_ms_;  // of the next slices
  std::uint64_t slices_ = 0;
  std::uint64_t turn_ = 0;
  std::optional<Error> error_;
};

Result<void> Walk::run() {
  TRY(metrics_, source_.metrics());
  const auto from = std::ranges::lower_bound(metrics_, options_.from.metric);
  metric_ = static_cast<std::size_t>(from - metrics_.begin());
  time_ = options_.range.begin;
  if (from != metrics_.end() && *from == options_.from.metric) {
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
  while (const std::optional<Next> slice = next()) {
    const Result<void> walked = walk_slice(*slice);
    if (!walked) return stop(walked.error());
  }
}

std::optional<Walk::Next> Walk::next() {
  const std::lock_guard lock(mutex_);
  if (error_) return std::nullopt;
  if (metric_ < metrics_.size() && time_ >= options_.range.end) {
    ++metric_;
    time_ = options_.range.begin;
    range_ms_ = ranges_.first;
  }
  if (metric_ == metrics_.size() || options_.range.begin >= options_.range.end) return std::nullopt;
  const std::int64_t unit = ranges_.min;
  const TimestampMs end = range_ms_ >= options_.range.end - time_
                              ? options_.range.end
                              : std::min(options_.range.end, ((time_ + range_ms_) / unit) * unit);
  Next next{.number = slices_++,
            .slice = {.metric = metrics_[metric_], .range = {.begin = time_, .end = end}}};
  time_ = end;
  return next;
}

Result<void> Walk::walk_slice(const Next& next) {
  Result<Prepared> prepared = prepare(next.slice);
  if (!wait_for_turn(next.number)) return {};
  TRY_VOID(take(next.slice, std::move(prepared)));
  TRY_VOID(sink_.reached({.metric = next.slice.metric, .time = next.slice.range.end}));
  end_turn();
  return {};
}

Result<Walk::Prepared> Walk::prepare(const SourceSlice& slice) {
  TRY(std::vector<ingest::SeriesPoints> points, source_.read(slice, options_.slice_points_max));
  std::size_t count = 0;
  for (const ingest::SeriesPoints& series : points) count += series.points.size();
  if (slice.parts == 1 && count < options_.slice_points_max / 4) {
    constexpr std::int64_t kWhenEmpty = 16;
    set_range((count == 0 ? kWhenEmpty : 2) * (slice.range.end - slice.range.begin));
  }
  return sink_.prepare(std::move(points));
}

Result<void> Walk::take(const SourceSlice& slice, Result<Prepared> prepared) {
  if (prepared) return sink_.take(*std::move(prepared));
  if (prepared.error().code != Errc::kTooLarge) return std::unexpected(prepared.error());
  const auto parts = halves(slice);
  if (!parts) return std::unexpected(prepared.error());
  if (parts->first.parts == 1) set_range(parts->first.range.end - parts->first.range.begin);
  for (const SourceSlice& part : {parts->first, parts->second}) TRY_VOID(take(part, prepare(part)));
  return {};
}

// Of its time, or if that is too short, of its series. Nothing if neither can be divided.
std::optional<std::pair<SourceSlice, SourceSlice>> Walk::halves(const SourceSlice& slice) const {
  const std::int64_t unit = ranges_.min;
  const auto [begin, end] = slice.range;
  std::pair<SourceSlice, SourceSlice> halves(slice, slice);
  const TimestampMs first_border = (begin / unit + 1) * unit;
  const TimestampMs half = std::max(first_border, (begin + end) / 2 / unit * unit);
  if (slice.parts == 1 && half < end) {
    halves.first.range.end = half;
    halves.second.range.begin = half;
    return halves;
  }
  constexpr std::size_t kPartsMax = std::size_t{1} << 40;
  if (!source_.has_parts() || slice.parts >= kPartsMax) return std::nullopt;
  halves.first.part = 2 * slice.part;
  halves.second.part = 2 * slice.part + 1;
  halves.first.parts = halves.second.parts = 2 * slice.parts;
  return halves;
}

void Walk::set_range(std::int64_t range_ms) {
  const std::lock_guard lock(mutex_);
  range_ms_ = std::clamp(range_ms, ranges_.min, ranges_.max);
}

bool Walk::wait_for_turn(std::uint64_t number) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this, number] { return error_ || turn_ == number; });
  return !error_;
}

void Walk::end_turn() {
  {
    const std::lock_guard lock(mutex_);
    ++turn_;
  }
  changed_.notify_all();
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
