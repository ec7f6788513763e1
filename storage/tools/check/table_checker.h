// Checks table files, those of names and those of chunks, into a report.
//
//   Threads  for one at a time; blocks.
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
  // All outlive it.
  TableChecker(std::shared_ptr<FileSystem> files, ChunkChecker& cells, Report& report);

  // So many bytes are about to be read of the file. False: no more is to be.
  using Pace = std::function<bool(std::size_t bytes)>;
  // Its size; 0 where it is not there. `size_known`: the file says with how many bytes it was
  // written.
  Result<std::uint64_t> check(const rocks::LiveFile& file, TableOf of, bool size_known,
                              const Pace& pace = {});

  [[nodiscard]] rocksdb::Env* env() { return env_.get(); }  // that the files are read through

 private:
  void add(const rocks::LiveFile& file, TableOf of, const rocks::TableDamage& damage);

  const std::shared_ptr<FileSystem> files_;
  Pace pace_;  // of the check that runs
  const std::unique_ptr<rocksdb::Env> env_;
  ChunkChecker& cells_;
  Report& report_;
};

}  // namespace halite::storage::check
