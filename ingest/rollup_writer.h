// Writes rollups and pre-aggregates from connections to their tables.
//
//   Threads  call from any thread.
//   Durable  accepted rollups are durable when a call returns.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/threads/task.h"
#include "ingest/rules/rollup_rules.h"
#include "ingest/writer.h"

namespace halite::storage {
class RollupTables;
}

namespace halite::ingest {

class RollupWriter {
 public:
  // Without tables, rollups are off and each is refused with OpenTSDB's message. The arguments
  // outlive this object.
  RollupWriter(Writer& writer, storage::RollupTables* tables, RollupOptions options);
  ~RollupWriter();

  // The body of POST /api/rollup. See Writer::put_json().
  Task<PutOutcome> put_json(std::string body, PutOptions put_options = {});

  // Lines that begin with "rollup". Appends a reply for each refused line, in order. After an
  // error, a reply says whether the remaining lines are not stored or may not be. `replies` lives
  // until the task ends.
  Task<void> put_lines(std::vector<std::string> lines, std::string* replies);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halite::ingest
