#include "storage/backends/hbase/regions/region_compactor.h"

#include <utility>
#include <vector>

#include "common/log.h"
#include "common/metrics.h"
#include "common/units.h"

namespace halite::storage {

namespace {

constexpr std::int64_t kHoursOfDay = 24;

}  // namespace

RegionCompactor::RegionCompactor(Dependencies dependencies, RegionCompactorOptions options)
    : dependencies_(std::move(dependencies)),
      options_(options),
      asked_(
          add_counter(dependencies_.registry, "halite_hbase_compactions_asked_total",
                      "Major compactions requested for regions in which all data has expired.")) {}

bool is_quiet(TimestampMs now, const RegionCompactorOptions& options) {
  const auto hour = static_cast<std::uint32_t>(now / kHourMs % kHoursOfDay);
  const std::uint32_t begin = options.hour_begin;
  const std::uint32_t end = options.hour_end;
  if (begin == end) return true;
  return begin < end ? begin <= hour && hour < end : begin <= hour || hour < end;
}

Task<std::uint32_t> RegionCompactor::look() {
  CO_TRY(const std::vector<hbase::RegionStatus> regions,
         co_await dependencies_.client.regions(dependencies_.table));
  const TimestampMs now = dependencies_.clock.now_ms();
  std::vector<Bytes> due;
  for (const hbase::RegionStatus& region : regions) {
    if (due.size() == options_.regions_at_once) break;
    if (region.files == 0 || region.server.port == 0) continue;
    const KeyRange keys{region.begin, region.end};
    const auto dead = dead_since(*dependencies_.layout, keys, dependencies_.life, now);
    if (!dead) continue;
    // After a compaction HBase leaves one empty file.
    if (region.files == 1 && region.major_compacted > *dead) continue;
    due.push_back(region.name);
  }
  if (due.empty()) co_return 0;
  const auto count = static_cast<std::uint32_t>(due.size());
  log::info("asking HBase to compact {} regions of {} in which all data has expired", count,
            dependencies_.table);
  CO_TRY_VOID(co_await dependencies_.client.compact_regions(dependencies_.table, std::move(due)));
  asked_.Increment(count);
  co_return count;
}

}  // namespace halite::storage
