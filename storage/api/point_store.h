// The point store: the interface through which ingest writes points and query reads them.
//
// CellPointStore stores points as cells in any WideColumnStore; EngineStore is the embedded engine.
// Reads return blocks of points, never single points.
//
//   Threads  call from any thread.
//   Ids      a SeriesId is dense and belongs to one PointStore object. The store may remove a
//            series without points and assign its id again. Ids are valid while a pin lives that is
//            older than they are (storage/catalog/epochs.h): answers with ids contain one, and so
//            does a Selection, which keeps the ids in its blocks.
//   Order    of two points of one series with equal times, the later append wins.
//
// Over 140 lines because it is the whole interface between points and stores.
#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "common/data_point.h"
#include "common/sketch.h"
#include "common/threads/completion.h"
#include "common/threads/task.h"
#include "storage/api/pinned_series.h"
#include "storage/api/point_changes.h"
#include "storage/api/point_sink.h"
#include "storage/api/read_context.h"
#include "storage/api/scan.h"
#include "storage/api/series.h"
#include "storage/api/tag_filter.h"

namespace halite::storage {

inline constexpr std::size_t kBlockPointsMax = 1024;

// Totals that a store may return instead of the points of one series in one span. Values are
// doubles, none of them NaN or infinite. min and max are exactly those of the points; of equal
// values (-0 and 0) the first in time order.
struct SpanTotals {
  TimestampMs begin = 0;  // a multiple of the span's length
  std::uint64_t count = 0;
  double sum = 0;  // only if the request asks for sums; equals adding the points one by one
  double min = 0;
  double max = 0;
  bool operator==(const SpanTotals&) const = default;
};

// Which totals a reader accepts instead of points: those of spans whose length divides bucket_ms.
// Spans are aligned to multiples of their length since 1970, as buckets are. 0: points only.
struct TotalsRequest {
  std::int64_t bucket_ms = 0;
  bool sums = false;
  bool sketches = false;  // the totals are sketches; stores of points have none and ignore this
};

// Points of one series in strict time order. An empty block means that the series has a row in the
// range, but no point in it. scan_totals() may return totals instead of points.
struct Block {
  SeriesId series = 0;
  std::vector<TimestampMs> times;
  std::vector<ValueBits> values;
  std::bitset<kBlockPointsMax> floats;  // bit i: values[i] is a double
  // Only if the values are sums to be averaged: the number of points in each sum.
  std::vector<std::int64_t> counts = {};
  std::vector<SpanTotals> totals = {};  // ordered by begin; if not empty, the block has no points
  // If they were asked for: the sketch of each of the totals, of which only begin and count are
  // set.
  std::vector<Sketch> sketches = {};
  // Annotations (JSON) of a row that the scan read, each once, if the query requests them and the
  // store keeps them among its points. Their times may lie outside the range.
  std::vector<Bytes> notes = {};
  // This scan returns no more blocks of the series. A store need not know.
  bool last = false;

  [[nodiscard]] std::size_t size() const { return times.size(); }
};

// Selects series by metric and filters, or by tsuids (then filters are ignored).
struct SeriesQuery {
  std::string metric;
  std::vector<TagFilter> filters;
  bool explicit_tags = false;  // only series with exactly the filters' keys
  std::vector<Bytes> tsuids;
  std::size_t regexp_bytes_max = 1 << 20;  // memory limit for one compiled regular expression
  bool skip_unknown_values = false;  // an unknown literal value matches nothing instead of failing
  bool notes = false;                // blocks include the annotations stored among their points
  // Series without points at this time or later need not be selected.
  TimestampMs since = std::numeric_limits<TimestampMs>::min();
};

// A SeriesQuery with its names resolved. Only the store that made it can interpret it.
class Selection {
 public:
  virtual ~Selection() = default;
};

// Reads one shard once. Not thread-safe. The blocks of each series come in time order; blocks of
// different series interleave in any order.
class BlockScan {
 public:
  virtual ~BlockScan() = default;
  // Returns at most a few hundred blocks of each part that is read in parallel. Returns none at the
  // end of the shard.
  virtual Task<std::vector<Block>> next() = 0;
};

struct LastPoint {
  SeriesId series = 0;
  TimestampMs time = 0;
  ValueBits value = 0;
  bool is_float = false;
};

using PinnedLastPoints = Pinned<LastPoint>;

// A metric over quota: points were refused because each would have created a series.
struct OverQuotaMetric {
  std::string metric;
  std::uint64_t refused = 0;  // points
};

// A shard in which a selection has series.
struct ShardSeriesCount {
  std::uint32_t shard = 0;
  std::size_t series = 0;  // 0: unknown
};

// One of the scans that would read a selection.
struct PlannedScan {
  std::uint32_t shard = 0;
  ScanDescription text;
};

// The estimated cost of reading a selection.
struct ReadEstimate {
  std::uint64_t series = 0;  // selected, with or without points in the range
  std::uint64_t rows = 0;    // rows, or the units that the store reads instead; an upper bound
  std::uint64_t points = 0;  // approximate
  std::uint64_t bytes = 0;   // as stored; approximate
  // For remote rows: the scans, at most the first 100 of each shard.
  std::vector<PlannedScan> scans = {};
};

// A source of blocks: points or rollups.
class BlockSource {
 public:
  virtual ~BlockSource() = default;

  // The series of an id that the store returned. Keep the pin of the id while you use the series.
  [[nodiscard]] virtual const Series& series(SeriesId id) const = 0;

  [[nodiscard]] virtual std::uint32_t shard_count() const = 0;

  // Sees every point that was durable before this call. Awaiting it may block the thread on disk
  // reads.
  [[nodiscard]] virtual std::unique_ptr<BlockScan> scan(std::shared_ptr<const Selection> selection,
                                                        TimeRange range, std::uint32_t shard) = 0;

  // Like scan(), but returns totals instead of points where stored totals fit the request.
  [[nodiscard]] virtual std::unique_ptr<BlockScan> scan_totals(
      std::shared_ptr<const Selection> selection, TimeRange range, std::uint32_t shard,
      TotalsRequest totals_request) {
    static_cast<void>(totals_request);
    return scan(std::move(selection), range, shard);
  }

  // The shards in which the selection may have series, ascending. Scans of other shards are empty.
  [[nodiscard]] virtual std::vector<ShardSeriesCount> series_by_shard(
      const Selection& selection) const {
    static_cast<void>(selection);
    std::vector<ShardSeriesCount> all;
    for (std::uint32_t shard = 0; shard < shard_count(); ++shard) all.push_back({.shard = shard});
    return all;
  }
};

// Which names of series are wanted.
struct SeriesNamesQuery {
  NameKind kind = NameKind::kMetric;
  std::string key;  // of kTagValue: the tag's key
  // Names that only series without points at this time or later have may be left out.
  TimestampMs since = std::numeric_limits<TimestampMs>::min();
};
// Gets one name, which lives as long as the call.
using NameUse = std::function<Result<void>(std::string_view name)>;

class PointStore : public BlockSource, public PointSink {
 public:
  [[nodiscard]] const Series& series(SeriesId id) const override = 0;

  // Metrics that were recently over quota, those with the most refused points first.
  [[nodiscard]] virtual std::vector<OverQuotaMetric> over_quota(std::size_t max) const {
    static_cast<void>(max);
    return {};
  }

  // Resolves names. kNotFound, with OpenTSDB's message: a metric, key or literal value has no id.
  // kInvalidArgument: a filter does not compile. Also returns the context's errors. Counts the
  // loaded series and their memory against the budget. The selection keeps the context; every read
  // through the selection checks it. (By value because this is a coroutine.)
  virtual Task<std::shared_ptr<const Selection>> select(SeriesQuery query, ReadContext context) = 0;

  // All selected series, with or without points, ordered by tsuid. Returns at most limit (0 = all).
  virtual Task<PinnedSeries> lookup(std::shared_ptr<const Selection> selection,
                                    std::size_t limit) = 0;

  // The newest point in the range, of each selected series that has one; ordered by series id.
  virtual Task<PinnedLastPoints> last(std::shared_ptr<const Selection> selection,
                                      TimeRange range) = 0;

  // Whether no other machine is asked for points: then last() may be called for many series only to
  // tell which of them have points.
  [[nodiscard]] virtual bool has_local_points() const { return false; }

  // Tells which points changed since they were read. Null: the store cannot tell, for example
  // because other processes write to it, too.
  [[nodiscard]] virtual PointChanges* changes() { return nullptr; }

  // The time from which on a metric's points have not expired; the latest such time of all metrics
  // if the name is empty or unknown.
  [[nodiscard]] virtual TimestampMs kept_from(std::string_view metric) const {
    static_cast<void>(metric);
    return std::numeric_limits<TimestampMs>::min();
  }

  // Estimates the cost of reading the selection in the range, without reading it; may be wrong by a
  // factor. kUnsupported: the store cannot estimate.
  virtual Task<ReadEstimate> estimate(std::shared_ptr<const Selection> selection, TimeRange range) {
    static_cast<void>(selection);
    static_cast<void>(range);
    co_return fail(Errc::kUnsupported, "this store does not support estimates");
  }

  // Deletes the points of the selected series in the range and returns their number. If it stops
  // early, some points are already deleted.
  virtual Task<std::uint64_t> delete_range(std::shared_ptr<const Selection> selection,
                                           TimeRange range) = 0;

  // Names that begin with prefix, in byte order; at most max.
  virtual Task<std::vector<std::string>> suggest(NameKind kind, std::string prefix,
                                                 std::size_t max) = 0;

  // Passes the names that series have to `use`, each once, in any order; an error of `use` ends the
  // call. kUnsupported: the store does not know all series by name.
  virtual Task<void> series_names(SeriesNamesQuery query, ReadContext context, NameUse use) {
    static_cast<void>(query);
    static_cast<void>(context);
    static_cast<void>(use);
    co_return fail(Errc::kUnsupported, "this store does not list the names of series");
  }

  // Returns when all points that append() accepted before are visible to scans and durable.
  virtual Task<void> settle() = 0;

  // Makes all accepted points durable. seal() also rewrites them into their final form.
  virtual Task<void> flush() = 0;
  virtual Task<void> seal() = 0;
};

}  // namespace halite::storage
