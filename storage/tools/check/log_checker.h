// Checks the log of the engine's points: every record's checksum, and what the records say. What
// they tell of names goes into the catalogue.
//
//   Threads  for one at a time; blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/clock.h"
#include "storage/tools/check/name_catalog.h"
#include "storage/tools/check/report.h"
#include "storage/tsdb/wal/log_check.h"
#include "storage/tsdb/wal/records.h"

namespace halite::storage::check {

class LogChecker final : private log_records::SectionVisitor {
 public:
  // Adds to both, which outlive it.
  LogChecker(NameCatalog& catalog, Report& report) : catalog_(catalog), report_(report) {}

  using FileDone = std::function<void(const std::string& path, std::uint64_t bytes)>;
  // `position`: up to which record chunks have all; engine::kUnknownPosition = nobody knows.
  Result<void> check(FileSystem& files, const std::string& dir, std::uint64_t position,
                     const FileDone& file_done);

 private:
  // Of the points of a record.
  struct Times {
    Sequence sequence = 0;
    TimestampMs first = 0;
    TimestampMs last = 0;
  };
  Result<void> name(const log_records::NameRecord& name) override;
  Result<void> series(const log_records::SeriesRecord& series) override;
  Result<void> points(const log_records::PointColumns& points) override;
  Result<void> note_quarantine(FileSystem& files, const std::string& dir);
  void add(const LogFault& fault);

  NameCatalog& catalog_;
  Report& report_;
  log_records::SectionReader reader_;
  Times times_;                // of the record that is read
  std::vector<Times> around_;  // of those with points
};

}  // namespace halite::storage::check
