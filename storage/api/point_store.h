// Where points live, as ingest and query know it: series in, blocks of points out.
//
// CellPointStore keeps a cell a point on any WideColumnStore; EngineStore (later) is the embedded
// engine. Blocks cross this seam, never single points.
//
//   Threads  every call may run at the same time as every other.
//   Ids      a SeriesId is dense, belongs to one PointStore object and dies with it, or earlier: a
//            series without points may be forgotten, and its id given to another. Who keeps ids
//            keeps a hold, too, from before he asked for them; a Selection is one.
//   Order    equal times of one series: the point appended last wins.
//
// Over 140 lines because it is the whole interface between points and stores.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/bytes.h"
#include "common/clock.h"
#include "common/completion.h"
#include "common/data_point.h"
#include "common/task.h"
#include "storage/api/read_context.h"
#include "storage/api/scan.h"
#include "storage/api/series.h"
#include "storage/api/tag_filter.h"

namespace halite::storage {

// Points on their way in, a column each; all columns have the same length.
struct PointBatch {
  std::vector<SeriesId> series;
  std::vector<TimestampMs> times;
  std::vector<ValueBits> values;
  std::vector<std::uint8_t> flags;  // PointFlag bits

  void add(SeriesId id, TimestampMs time, ValueBits value, std::uint8_t flag) {
    series.push_back(id);
    times.push_back(time);
    values.push_back(value);
    flags.push_back(flag);
  }
  [[nodiscard]] std::size_t size() const { return series.size(); }
};

struct Refusal {
  std::size_t index = 0;  // in the batch
  Error error;
};

// What became of a batch. Points that are not refused are taken, and `durable` tells their end.
// Finished well: all outlive a power cut. Finished with an error: each may be stored or not.
// Readers may see it now, a restart may lose it. Sending it again does no harm.
struct Accepted {
  Completion durable;
  std::vector<Refusal> refused;  // not stored; they cost only themselves
};

inline constexpr std::size_t kBlockPointsMax = 1024;

// What a store may give in place of a whole span of one series' points. Numbers are the values as
// doubles, none of them NaN or infinite; min and max are exactly those of the points, of equal ones
// (-0 and 0) the first in time order.
struct SpanTotals {
  TimestampMs begin = 0;  // a multiple of the span's length
  std::uint32_t count = 0;
  double sum = 0;  // only where the wish has sums: then as adding the points one by one gives it
  double min = 0;
  double max = 0;
  bool operator==(const SpanTotals&) const = default;
};

// What a reader can use in place of points: totals of spans whose length divides bucket_ms, which
// are aligned as its buckets are: to multiples since 1970. 0: points only.
struct TotalsRequest {
  std::int64_t bucket_ms = 0;
  bool sums = false;
};

// A run of one series' points in time order, no time twice. May be empty: then the series has a
// row in the range, but no point in it. A scan that was told a wish may give totals instead.
struct Block {
  SeriesId series = 0;
  std::vector<TimestampMs> times;
  std::vector<ValueBits> values;
  std::bitset<kBlockPointsMax> floats;  // bit i: values[i] is a double
  // Only where the values are sums to be averaged: how many points each is the sum of.
  std::vector<std::int64_t> counts = {};
  std::vector<SpanTotals> totals = {};  // by begin; not empty: the block has no points
  // Stored annotations (JSON) of a row that the scan has come to, each once, where the query wants
  // them and the store keeps them among its points. Their times may lie outside the range.
  std::vector<Bytes> notes = {};

  [[nodiscard]] std::size_t size() const { return times.size(); }
};

// The series a question wants: by metric and filters, or by tsuids (then filters are not used).
struct SeriesQuery {
  std::string metric;
  std::vector<TagFilter> filters;
  bool explicit_tags = false;  // only series with exactly the filters' keys
  std::vector<Bytes> tsuids;
  std::size_t regexp_bytes_max = 1 << 20;  // memory for one compiled regular expression
  bool skip_unknown_values = false;  // an unknown literal value matches nothing instead of failing
  bool notes = false;  // blocks bring the annotations that lie among the points they come from
};

// A SeriesQuery with its names resolved. Made by the store, meaningful only to it.
class Selection {
 public:
  virtual ~Selection() = default;
};

// Reads one shard once. For one coroutine at a time. Each series' blocks come in time order; blocks
// of different series interleave in any order.
class BlockScan {
 public:
  virtual ~BlockScan() = default;
  // Some blocks, at most a few hundred of each part that is read side by side; none when the shard
  // is finished.
  virtual Task<std::vector<Block>> next() = 0;
};

struct LastPoint {
  SeriesId series = 0;
  TimestampMs time = 0;
  ValueBits value = 0;
  bool is_float = false;
};

// A metric some of whose points were refused, as each would have begun a series too many.
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

// What reading a selection would take.
struct ReadEstimate {
  std::uint64_t series = 0;  // selected, with or without points in the range
  std::uint64_t rows = 0;    // rows, or whatever else the store reads at once, at most
  std::uint64_t points = 0;  // about
  std::uint64_t bytes = 0;   // as stored, about
  // Where rows are elsewhere: the scans, the first hundred of each shard at most.
  std::vector<PlannedScan> scans = {};
};

// May the store give ids to names it has not seen?
struct CreateNames {
  bool metrics = true;
  bool tag_keys = true;
  bool tag_values = true;
};

// Something whose series can be read as blocks: points, or rollups of them.
class BlockSource {
 public:
  virtual ~BlockSource() = default;

  // The series behind an id that the store gave.
  [[nodiscard]] virtual const Series& series(SeriesId id) const = 0;

  [[nodiscard]] virtual std::uint32_t shard_count() const = 0;

  // Sees every point that was durable before this call. It may block the thread that awaits it for
  // as long as a disk takes.
  [[nodiscard]] virtual std::unique_ptr<BlockScan> scan(std::shared_ptr<const Selection> selection,
                                                        TimeRange range, std::uint32_t shard) = 0;

  // scan(), with totals in place of points where the store has them and they fit the wish.
  [[nodiscard]] virtual std::unique_ptr<BlockScan> scan_totals(
      std::shared_ptr<const Selection> selection, TimeRange range, std::uint32_t shard,
      TotalsRequest totals_request) {
    static_cast<void>(totals_request);
    return scan(std::move(selection), range, shard);
  }

  // The shards in which the selection may have series, ascending; a scan of others finds nothing.
  [[nodiscard]] virtual std::vector<ShardSeriesCount> series_by_shard(
      const Selection& selection) const {
    static_cast<void>(selection);
    std::vector<ShardSeriesCount> all;
    for (std::uint32_t shard = 0; shard < shard_count(); ++shard) all.push_back({.shard = shard});
    return all;
  }
};

class PointStore : public BlockSource {
 public:
  // Ids for series, made on first sight, in the order asked. A name that may not be made is
  // kNotFound: "No such name for 'metrics': 'x'".
  virtual Task<std::vector<Result<SeriesId>>> intern(std::vector<SeriesName> names,
                                                     CreateNames create) = 0;

  // Metrics whose points were refused for they would have begun a series too many, lately; the
  // worst first.
  [[nodiscard]] virtual std::vector<OverQuotaMetric> over_quota(std::size_t max) const {
    static_cast<void>(max);
    return {};
  }

  // For who has ids of series: pin_series() before they are asked for or looked up, kept as long
  // as they are in use. Ids that were kept from an earlier epoch than the hold's may mean others.
  [[nodiscard]] virtual std::shared_ptr<const SeriesPin> pin_series() {
    static const auto kForEver = std::make_shared<const SeriesPin>();
    return kForEver;
  }

  // Takes points in; waits here while the store has too much under way. After an error no point of
  // the batch is stored, nor will one be.
  virtual Task<Accepted> append(PointBatch batch) = 0;

  // Somebody waits for what was appended: where points wait for others to share their sync, it
  // begins now.
  virtual void request_sync() {}

  // Resolves names. kNotFound for a metric, key or literal value that has no id, in OpenTSDB's
  // words; kInvalidArgument for a filter that does not compile; the context's errors.
  // Counts series and the memory of those it loads. The selection keeps the context: every read by
  // it checks whether to continue. (By value, for this is a coroutine.)
  virtual Task<std::shared_ptr<const Selection>> select(SeriesQuery query, ReadContext context) = 0;

  // Every series selected, whatever its points; at most limit (0 = all), by tsuid.
  virtual Task<std::vector<SeriesId>> lookup(std::shared_ptr<const Selection> selection,
                                             std::size_t limit) = 0;

  // The newest point of each selected series that has one in the range.
  virtual Task<std::vector<LastPoint>> last(std::shared_ptr<const Selection> selection,
                                            TimeRange range) = 0;

  // What reading the selection in the range would take, without reading it: off by a factor at
  // worst. kUnsupported: the store cannot tell.
  virtual Task<ReadEstimate> estimate(std::shared_ptr<const Selection> selection, TimeRange range) {
    static_cast<void>(selection);
    static_cast<void>(range);
    co_return fail(Errc::kUnsupported, "this store does not support estimates");
  }

  // Removes the points of the selected series in the range; returns how many. Stopped on the way,
  // some are gone.
  virtual Task<std::uint64_t> delete_range(std::shared_ptr<const Selection> selection,
                                           TimeRange range) = 0;

  // Names that begin with prefix, in byte order, at most max.
  virtual Task<std::vector<std::string>> suggest(NameKind kind, std::string prefix,
                                                 std::size_t max) = 0;

  // Everything taken so far becomes durable. seal() also rewrites it into its final form.
  virtual Task<void> flush() = 0;
  virtual Task<void> seal() = 0;
};

}  // namespace halite::storage
