// Checks the write-ahead log: the checksum and the content of every record. Adds the names and
// series in it to the catalog.
//
//   Threads  not thread-safe; blocks.
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
  // Adds to both arguments, which must outlive the checker.
  LogChecker(NameCatalog& catalog, Report& report) : catalog_(catalog), report_(report) {}

  using FileDone = std::function<void(const std::string& path, std::uint64_t bytes)>;
  // `position`: the last sequence that is in chunks, or engine::kUnknownPosition.
  Result<void> check(FileSystem& files, const std::string& dir, std::uint64_t position,
                     const FileDone& file_done);

 private:
  // The time range of a record's points.
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
  Times times_;                // of the current record
  std::vector<Times> around_;  // of all records with points
};

}  // namespace halite::storage::check
