// Checks a closed data directory: reports damage and the series and times that it affects. Changes
// nothing.
//
// Reads every byte except those without meaning (rocks_files.h, wal/log_check.h), with the server's
// own code. docs/operate/reliability.md describes how the check itself is tested.
//
//   Threads  nothing else has the directory open; blocks until everything is read.
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
  std::uint64_t bytes_total = 0;  // as far as known
  std::string file;               // the last file read
};

struct CheckOptions {
  std::shared_ptr<FileSystem> files;
  std::string rocks_dir;                          // names and series, or cells
  std::string engine_dir;                         // chunks and write-ahead log; may be missing
  EngineOptions engine;                           // only the names of its tables are used
  std::function<void(const Progress&)> progress;  // called after each file; may be empty
};

// Fails only if the check is impossible. kConflict: the directory is open; kNotFound: it is empty.
[[nodiscard]] Result<Report> check_stored(const CheckOptions& options);

}  // namespace halite::storage::check
