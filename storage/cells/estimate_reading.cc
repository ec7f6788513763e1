#include "storage/cells/estimate_reading.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "storage/api/scan.h"
#include "storage/cells/estimate_by_sample.h"

namespace halite::storage {
namespace {

constexpr std::size_t kRangesAtOnce = 1024;
constexpr std::size_t kScansTold = 100;  // maximum for each shard

std::uint64_t rows_a_series(TimeRange range, std::int64_t span_ms) {
  if (range.end <= range.begin) return 0;
  return static_cast<std::uint64_t>(range.end - range.begin) / static_cast<std::uint64_t>(span_ms) +
         1;
}

// Estimates ranges in groups as they are added.
class Sum {
 public:
  Sum(const RowSource& source, const ReadContext& context) : source_(source), context_(context) {}

  Task<void> add(std::vector<BucketScan> buckets) {
    for (BucketScan& bucket : buckets) {
      ranges_.push_back(std::move(bucket.keys));
      if (ranges_.size() == kRangesAtOnce) CO_TRY_VOID(co_await settle());
    }
    co_return Result<void>();
  }

  Task<void> settle() {
    CO_TRY_VOID(context_.check());
    if (ranges_.empty()) co_return Result<void>();
    auto estimating = source_.table->estimate(source_.family, std::exchange(ranges_, {}));
    CO_TRY(const RangeEstimate some, co_await std::move(estimating));
    total_.cells += some.cells;
    total_.bytes += some.bytes;
    co_return Result<void>();
  }

  [[nodiscard]] const RangeEstimate& total() const { return total_; }

 private:
  const RowSource& source_;
  const ReadContext context_;
  std::vector<KeyRange> ranges_;
  RangeEstimate total_;
};

Task<ReadEstimate> estimate_by_ranges(const RowSource& source,
                                      std::shared_ptr<const RowSelection> selection,
                                      TimeRange range) {
  Sum sum(source, selection->context());
  ReadEstimate estimate;
  double part = 1;
  if (selection->by_tsuid()) {
    estimate.series = selection->tsuids().size();
    for (const Bytes& tsuid : selection->tsuids()) {
      auto buckets = source.layout.series_buckets(tsuid, range, selection->now());
      CO_TRY_VOID(co_await sum.add(std::move(buckets)));
    }
  } else {
    const RowSelection::Known known = selection->known();
    estimate.series = known->size();
    if (known->size() == 0) co_return estimate;
    part = static_cast<double>(known->size()) / static_cast<double>(known->metric_size());
    const Bytes metric =
        source.registry.uids().uid_bytes(NameKind::kMetric, selection->metric_uid());
    for (std::uint32_t shard = 0; shard < source.layout.salt_buckets(); ++shard) {
      auto buckets = source.layout.metric_buckets(metric, range, shard, selection->now());
      CO_TRY_VOID(co_await sum.add(std::move(buckets)));
    }
  }
  CO_TRY_VOID(co_await sum.settle());
  const auto of = [part](std::uint64_t all) {
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(all) * part));
  };
  estimate.points = of(sum.total().cells);  // one cell for each point
  estimate.bytes = of(sum.total().bytes);
  const std::uint64_t rows = estimate.series * rows_a_series(range, source.layout.bucket_span_ms());
  estimate.rows = std::min(rows, estimate.points);
  co_return estimate;
}

// The requests of the scans of all parts of a shard.
std::vector<ScanSpec> planned_in(const RowSource& source,
                                 const std::shared_ptr<const RowSelection>& selection,
                                 TimeRange range, std::uint32_t shard) {
  std::vector<ScanSpec> specs;
  for (SeriesRange& span : scan_splits(source, *selection, range, shard)) {
    SeriesChoice choice;
    choice.span = std::move(span);
    RowScan scan(source, selection, range, shard, choice);
    std::ranges::move(scan.planned(), std::back_inserter(specs));
  }
  return specs;
}

void add_scans(const RowSource& source, const std::shared_ptr<const RowSelection>& selection,
               TimeRange range, std::vector<PlannedScan>& scans) {
  for (std::uint32_t shard = 0; shard < source.layout.salt_buckets(); ++shard) {
    const std::size_t most = scans.size() + kScansTold;
    for (const ScanSpec& spec : planned_in(source, selection, range, shard)) {
      for (ScanDescription& text : source.table->describe_scan(spec)) {
        if (scans.size() < most) scans.push_back({shard, std::move(text)});
      }
    }
  }
}

}  // namespace

Task<ReadEstimate> estimate_reading(const RowSource& source,
                                    std::shared_ptr<const RowSelection> selection,
                                    TimeRange range) {
  auto estimating = estimate_by_ranges(source, selection, range);
  Result<ReadEstimate> estimate = co_await std::move(estimating);
  if (!estimate && estimate.error().code == Errc::kUnsupported) {
    auto sampling = estimate_by_sample(source, selection, range);
    estimate = co_await std::move(sampling);
  }
  if (estimate) add_scans(source, selection, range, estimate->scans);
  co_return estimate;
}

}  // namespace halite::storage
