// Reads all that a data directory holds and tells what of it is damaged, and whose points that
// hurts. Changes nothing.
//
// Every byte is looked at but those that say nothing (rocks_files.h, log/log_check.h). What is read
// is read as the server reads it; docs/operate/reliability.md says how it is known that nothing is
// missed.
//
//   Threads  nobody else has the directory open; blocks, for as long as reading all takes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/result.h"
#include "storage/files/files.h"
#include "storage/tools/check/report.h"
#include "storage/tsdb/core/options.h"

namespace halite::storage::check {

struct Progress {
  std::uint64_t bytes_done = 0;
  std::uint64_t bytes_total = 0;  // of what is known to be read
  std::string file;               // that was read last
};

struct CheckOptions {
  std::shared_ptr<FileSystem> files;
  std::string rocks_dir;                          // names and series, or cells
  std::string engine_dir;                         // chunks and log; need not be there
  EngineOptions engine;                           // the names of its tables
  std::function<void(const Progress&)> progress;  // after each file; may be empty
};

// An error only where it could not look: kConflict: somebody has it open; kNotFound: nothing is
// there.
[[nodiscard]] Result<Report> check_stored(const CheckOptions& options);

}  // namespace halite::storage::check
