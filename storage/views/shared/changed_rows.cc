#include "storage/views/shared/changed_rows.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/log.h"
#include "common/metrics.h"

namespace halite::storage {
namespace {

ScanSpec keys_of(Family family, std::vector<KeyRange> ranges) {
  ScanSpec spec;
  spec.family = family;
  spec.ranges = std::move(ranges);
  spec.keys_only = true;
  return spec;
}

void add_ranges(const OpentsdbLayout& rows, BytesView metric, TimeRange times, std::uint32_t salt,
                std::vector<KeyRange>& ranges) {
  for (BucketScan& scan : rows.metric_buckets(metric, times, salt, times.end)) {
    ranges.push_back(std::move(scan.keys));
  }
}

}  // namespace

UnreadableRows::UnreadableRows(prometheus::Registry& registry)
    : count_(add_counter(registry, "halite_views_unreadable_rows_total",
                         "Rows that views on HBase skip, because their keys are not OpenTSDB's.")) {
}

void UnreadableRows::skip(BytesView key, const Error& why) {
  count_.Increment();
  if (logged_.exchange(true)) return;
  log::warn("views skip the row {}, and count others like it: {}", to_hex(key), why.message);
}

Task<std::vector<ViewChanges::Change>> changed_rows(PointRowsTable points,
                                                    std::vector<Bytes> metrics, TimeRange times,
                                                    TimestampMs since, UnreadableRows& unreadable) {
  std::vector<ViewChanges::Change> changes;
  if (metrics.empty() || times.begin >= times.end) co_return changes;
  std::ranges::sort(metrics);  // as the keys of a salt
  const std::size_t metric_bytes = points.rows->widths().metric;
  std::map<Bytes, std::set<TimestampMs>> hours;
  for (std::uint32_t salt = 0; salt < points.rows->salt_buckets(); ++salt) {
    std::vector<KeyRange> ranges;
    for (const Bytes& metric : metrics) add_ranges(*points.rows, metric, times, salt, ranges);
    if (ranges.empty()) continue;  // otherwise it would be the whole table
    ScanSpec spec = keys_of(points.family, std::move(ranges));
    spec.time_begin = since;
    spec.deletions = true;
    const std::unique_ptr<Scanner> scanner = points.table->scan(std::move(spec), {});
    while (true) {
      auto next = scanner->next({});
      CO_TRY(const std::vector<Row> rows, co_await std::move(next));
      if (rows.empty()) break;
      for (const Row& row : rows) {
        const Result<RowId> id = points.rows->parse_row(row.key);
        if (!id) {
          unreadable.skip(row.key, id.error());
          continue;
        }
        hours[id->tsuid.substr(0, metric_bytes)].insert(id->bucket * 1000);
      }
    }
  }
  for (const auto& [metric, begins] : hours) {
    for (const TimestampMs begin : begins) {
      const TimestampMs end = begin + points.rows->bucket_span_ms();
      const bool goes_on =
          !changes.empty() && changes.back().metric == metric && changes.back().times.end == begin;
      if (goes_on) {
        changes.back().times.end = end;
      } else {
        changes.push_back({.metric = metric, .times = {.begin = begin, .end = end}});
      }
    }
  }
  co_return changes;
}

Task<std::optional<TimestampMs>> first_row_time(PointRowsTable points, Bytes metric,
                                                TimestampMs since, UnreadableRows& unreadable) {
  std::optional<TimestampMs> first;
  for (std::uint32_t salt = 0; salt < points.rows->salt_buckets(); ++salt) {
    std::vector<KeyRange> ranges;
    add_ranges(*points.rows, metric, {.begin = since, .end = kRowTimeEndMs}, salt, ranges);
    if (ranges.empty()) continue;
    const std::unique_ptr<Scanner> scanner =
        points.table->scan(keys_of(points.family, std::move(ranges)), {});
    while (true) {
      auto next = scanner->next({.rows_max = 1});
      CO_TRY(const std::vector<Row> rows, co_await std::move(next));
      if (rows.empty()) break;
      const Result<RowId> id = points.rows->parse_row(rows.front().key);
      if (!id) {
        unreadable.skip(rows.front().key, id.error());
        continue;
      }
      const TimestampMs time = id->bucket * 1000;
      first = std::min(first.value_or(time), time);
      break;
    }
  }
  co_return first;
}

}  // namespace halite::storage
