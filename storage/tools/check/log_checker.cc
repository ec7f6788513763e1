#include "storage/tools/check/log_checker.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "storage/tsdb/chunk_db/chunk_snapshot.h"
#include "storage/tsdb/wal/replay.h"

namespace halite::storage::check {

Result<void> LogChecker::check(FileSystem& files, const std::string& dir, std::uint64_t position,
                               const FileDone& file_done) {
  LogCheck check;
  check.dir = dir;
  check.flushed_unknown = position == engine::kUnknownPosition;
  check.flushed_upto = check.flushed_unknown ? 0 : position;
  check.file_done = file_done;
  check.record = [this](Sequence sequence, BytesView payload) {
    ++report_.records;
    times_ = {.sequence = sequence,
              .first = std::numeric_limits<TimestampMs>::max(),
              .last = std::numeric_limits<TimestampMs>::min()};
    const Result<void> read = reader_.read(payload, *this);
    if (read && times_.first <= times_.last) around_.push_back(times_);
    return read;
  };
  TRY(const std::vector<LogFault> faults, check_log(files, check));
  for (const LogFault& fault : faults) add(fault);
  return note_quarantine(files, dir);
}

Result<void> LogChecker::note_quarantine(FileSystem& files, const std::string& dir) {
  TRY(const std::vector<std::string> names, files.list(dir));
  for (const std::string& name : names) {
    if (!name.starts_with(log_format::kDamagedPrefix)) continue;
    report_.notes.push_back(
        fmt::format("{}/{}: bytes of damaged records that an earlier start set aside", dir, name));
  }
  return {};
}

Result<void> LogChecker::name(const log_records::NameRecord& name) {
  catalog_.add_name(static_cast<NameKind>(name.kind), name.uid, name.name);
  return {};
}

Result<void> LogChecker::series(const log_records::SeriesRecord& series) {
  catalog_.add_series(series.tsuid);
  return {};
}

Result<void> LogChecker::points(const log_records::PointColumns& points) {
  if (points.times.empty()) return {};
  const auto [first, last] = std::ranges::minmax(points.times);
  times_.first = std::min(times_.first, first);
  times_.last = std::max(times_.last, last);
  return {};
}

// The series of a lost record are unknown. Its times are estimated from the records around it,
// because points usually arrive in the order of their times.
void LogChecker::add(const LogFault& fault) {
  Finding finding{.file = fault.file,
                  .offset = fault.offset,
                  .what = fault.what,
                  .may_be_torn = fault.may_be_torn};
  if (fault.begin < fault.end) {
    finding.impact = Impact{.what = "points of any series received in that time, and new names"};
    const auto behind = std::ranges::lower_bound(around_, fault.end, {}, &Times::sequence);
    if (behind != around_.begin() && behind != around_.end()) {
      const Times& before = *std::prev(behind);
      finding.impact->times = TimeRange{.begin = std::min(before.first, behind->first),
                                        .end = std::max(before.last, behind->last) + 1};
    }
  }
  report_.findings.push_back(std::move(finding));
}

}  // namespace halite::storage::check
