// Checks table files of names and of chunks, and adds to a report.
//
//   Threads  not thread-safe; blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include <rocksdb/env.h>

#include "storage/backends/rocks/files/live_files.h"
#include "storage/files/files.h"
#include "storage/tools/check/chunk_checker.h"
#include "storage/tools/check/report.h"

namespace halite::storage::check {

enum class TableOf : std::uint8_t { kNames, kChunks };

class TableChecker {
 public:
  // All arguments must outlive it.
  TableChecker(std::shared_ptr<FileSystem> files, ChunkChecker& cells, Report& report);

  // Called before so many bytes of the file are read. Return false to stop.
  using Pace = std::function<bool(std::size_t bytes)>;
  // Returns the size of the file; 0 if it is missing. `size_known`: `file` has the size that was
  // written.
  Result<std::uint64_t> check(const rocks::LiveFile& file, TableOf of, bool size_known,
                              const Pace& pace = {});

  [[nodiscard]] rocksdb::Env* env() { return env_.get(); }  // the files are read through it

 private:
  void add(const rocks::LiveFile& file, TableOf of, const rocks::TableDamage& damage);

  const std::shared_ptr<FileSystem> files_;
  Pace pace_;  // of the running check
  const std::unique_ptr<rocksdb::Env> env_;
  ChunkChecker& cells_;
  Report& report_;
};

}  // namespace halite::storage::check
