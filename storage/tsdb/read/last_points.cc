#include "storage/tsdb/read/last_points.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "common/gather.h"
#include "common/threads/offload.h"
#include "storage/catalog/select_series.h"
#include "storage/tsdb/chunk_db/slot_reader.h"
#include "storage/tsdb/chunk_db/tables/cursor.h"
#include "storage/tsdb/core/newest_points.h"

namespace halite::storage::engine {
namespace {

// The query, common to all pieces.
struct LastAsked {
  std::shared_ptr<EngineContext> context;
  std::shared_ptr<const RowSelection> selection;
  RowSelection::Known known;  // of one moment, so that all pieces use the same series
  TimeRange range;
};

// The permitted effort.
struct LastMeans {
  ReadSource from = ReadSource::kDisk;
  std::uint64_t decode_left = UINT64_MAX;  // points in heads
};

using NewestPoint = NewestPoints::NewestPoint;
using State = NewestPoints::State;

constexpr std::size_t kJobsAtOnce = 16;

constexpr TimeRange kAlways = {.begin = 0, .end = INT64_MAX};

// Finds the newest points of one shard's series.
class Finder {
 public:
  Finder(const LastAsked& asked, std::uint32_t shard, LastMeans& means)
      : context_(*asked.context),
        selection_(*asked.selection),
        shard_(shard),
        layout_(context_.retention->layout_of(shard)),
        range_(layout_.alive(asked.range, selection_.now())),
        means_(means) {}

  Result<void> find(std::span<const SeriesId> wanted, std::vector<LastPoint>& found) {
    if (range_.begin >= range_.end) return {};
    while (!wanted.empty()) {
      TRY_VOID(selection_.context().check());
      const auto piece = wanted.first(std::min(kLastPieceSeries, wanted.size()));
      TRY_VOID(find_piece(piece, found));
      wanted = wanted.subspan(piece.size());
    }
    return {};
  }

 private:
  Result<void> find_piece(std::span<const SeriesId> wanted, std::vector<LastPoint>& found) {
    // Take the heads first: points that leave them are in the cache or in the chunks by then.
    const std::vector<std::shared_ptr<Head>> heads = context_.head_list.view();
    NewestPoints::Found stored = context_.newest.find(shard_, wanted);
    // The reader of an earlier piece may lack what left the heads since.
    if (stored.version != reader_version_) reader_.reset();
    reader_version_ = stored.version;
    TRY_VOID(fill_unknown(wanted, stored));
    TRY_VOID(clip(wanted, stored.entries));
    for (const std::shared_ptr<Head>& head : heads) {
      const auto recent = head->last(shard_, wanted, range_, means_.decode_left);
      if (!recent) return not_here();
      add_recent(wanted, *recent, stored.entries);
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const NewestPoint& newest = stored.entries[i];
      if (newest.state != State::kPoint) continue;
      found.push_back({.series = wanted[i],
                       .time = newest.time,
                       .value = newest.value,
                       .is_float = newest.is_float});
    }
    return {};
  }

  static std::unexpected<Error> not_here() {
    return fail(Errc::kUnavailable, "newest points that are to be looked for");
  }

  // Reads the points that the cache lacks, and adds them to it.
  Result<void> fill_unknown(std::span<const SeriesId> wanted, NewestPoints::Found& stored) {
    std::vector<SeriesId> series;
    std::vector<NewestPoint> entries;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (stored.entries[i].state != State::kUnknown) continue;
      TRY(stored.entries[i], newest_stored(wanted[i], kAlways));
      series.push_back(wanted[i]);
      entries.push_back(stored.entries[i]);
    }
    if (!series.empty()) context_.newest.fill(shard_, stored.version, series, entries);
    return {};
  }

  // Restricts the newest stored points to the range.
  Result<void> clip(std::span<const SeriesId> wanted, std::vector<NewestPoint>& newest) {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      NewestPoint& one = newest[i];
      if (one.state == State::kPoint && one.time >= range_.end) {
        TRY(one, newest_stored(wanted[i], range_));
      }
      if (one.state == State::kPoint && one.time < range_.begin) one = {.state = State::kNone};
    }
    return {};
  }

  // Merges the points of a head, which came later. Both are in the order of `wanted`.
  static void add_recent(std::span<const SeriesId> wanted, std::span<const LastPoint> recent,
                         std::vector<NewestPoint>& newest) {
    std::size_t i = 0;
    for (const LastPoint& point : recent) {
      while (wanted[i] != point.series) ++i;
      if (newest[i].state == State::kPoint && newest[i].time > point.time) continue;
      newest[i] = {.time = point.time,
                   .value = point.value,
                   .is_float = point.is_float,
                   .state = State::kPoint};
    }
  }

  Result<NewestPoint> newest_stored(SeriesId id, TimeRange range) {
    if (means_.from == ReadSource::kMemory) return not_here();
    TRY_VOID(selection_.context().check());
    if (reader_ == nullptr) {
      TRY(reader_, SlotReader::open(context_.chunks->views, layout_, shard_, ReadSource::kDisk));
      TRY(periods_, reader_->periods(layout_.alive(kAlways, selection_.now())));
    }
    const TimeRange alive = layout_.alive(range, selection_.now());
    const std::int64_t span = layout_.options().span_ms;
    const Bytes key = series_key(layout_.widths(), context_.registry.table().at(id).tsuid.bytes());
    for (auto period = periods_.rbegin(); period != periods_.rend(); ++period) {
      const TimeRange part = {.begin = std::max(alive.begin, *period * span),
                              .end = std::min(alive.end, (*period + 1) * span)};
      if (part.begin >= part.end) continue;
      TRY(const std::optional<SlotReader::Newest> newest, reader_->newest(*period, key, part));
      if (!newest) continue;
      return NewestPoint{.time = newest->time,
                         .value = newest->last.value,
                         .is_float = newest->last.is_float,
                         .state = State::kPoint};
    }
    return NewestPoint{.state = State::kNone};
  }

  EngineContext& context_;
  const RowSelection& selection_;
  const std::uint32_t shard_;
  const CyclicLayout& layout_;
  const TimeRange range_;
  LastMeans& means_;
  std::unique_ptr<SlotReader> reader_;  // created on the first read
  std::uint64_t reader_version_ = 0;    // of the cache, before reader_ was opened
  std::vector<std::int64_t> periods_;
};

// A part of the series, counted as in Matching::by_shard().
struct LastShare {
  std::size_t begin = 0;
  std::size_t end = 0;  // exclusive
};

Result<std::vector<LastPoint>> find_some(const LastAsked& asked, LastShare share, LastMeans means) {
  std::vector<LastPoint> found;
  found.reserve(share.end - share.begin);
  std::size_t at = 0;  // offset of the shard's series
  for (std::uint32_t shard = 0; at < share.end; ++shard) {
    const std::span<const SeriesId> of_shard = asked.known->of_shard(shard);
    const std::size_t begin = std::clamp(share.begin, at, at + of_shard.size());
    const std::size_t end = std::min(share.end, at + of_shard.size());
    if (begin < end) {
      Finder finder(asked, shard, means);
      TRY_VOID(finder.find(of_shard.subspan(begin - at, end - begin), found));
    }
    at += of_shard.size();
  }
  sort_by_series(found);
  return found;
}

Task<std::vector<LastPoint>> find_on_read_thread(std::shared_ptr<const LastAsked> asked,
                                                 LastShare share) {
  auto job = [asked, share] { return find_some(*asked, share, LastMeans()); };
  co_return co_await offload(asked->context->pool, std::move(job));
}

using LastParts = std::vector<Result<std::vector<LastPoint>>>;

Result<std::vector<LastPoint>> join(const LastParts& parts) {
  std::vector<LastPoint> points;
  for (const auto& part : parts) {
    if (!part) return std::unexpected(part.error());
    points.insert(points.end(), part->begin(), part->end());
  }
  sort_by_series(points);
  return points;
}

}  // namespace

Task<std::vector<LastPoint>> find_last_points(std::shared_ptr<EngineContext> context,
                                              std::shared_ptr<const RowSelection> selection,
                                              TimeRange range) {
  auto asked = std::make_shared<const LastAsked>(LastAsked{
      .context = context, .selection = selection, .known = selection->known(), .range = range});
  const std::size_t series = asked->known->size();
  if (series <= kLastHereSeries) {
    const LastMeans here{.from = ReadSource::kMemory, .decode_left = kLastHerePoints};
    Result<std::vector<LastPoint>> found = find_some(*asked, {.begin = 0, .end = series}, here);
    if (found || found.error().code != Errc::kUnavailable) co_return found;
  }
  std::vector<Task<std::vector<LastPoint>>> jobs;
  for (std::size_t at = 0; at < series; at += kLastJobSeries) {
    const LastShare share{.begin = at, .end = std::min(at + kLastJobSeries, series)};
    jobs.push_back(find_on_read_thread(asked, share));
  }
  auto finding = gather(std::move(jobs), kJobsAtOnce);
  LastParts parts = co_await std::move(finding);
  if (parts.size() == 1) co_return std::move(parts.front());
  // Many points: merge them on the pool too.
  auto merge = [found = std::move(parts)] { return join(found); };
  co_return co_await offload(context->pool, std::move(merge));
}

}  // namespace halite::storage::engine
