// Rollups and pre-aggregates on their way from a connection to their tables.
//
//   Threads  shared by all.
//   Durable  what was taken outlives a power cut when a call returns.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "common/task.h"
#include "ingest/rollup_rules.h"
#include "ingest/writer.h"

namespace halite::storage {
class RollupTables;
}

namespace halite::ingest {

class RollupWriter {
 public:
  // Without tables rollups are off, and each is refused in OpenTSDB's words. All outlive it.
  RollupWriter(Writer& writer, storage::RollupTables* tables, RollupOptions options);
  ~RollupWriter();

  // The body of POST /api/rollup, as Writer::put_json().
  Task<PutOutcome> put_json(std::string body, PutOptions put_options = {});

  // Lines beginning with "rollup". Appends a reply for each that is refused, in their order. An
  // error: the others are not stored, or may not be; a reply line says which. `replies` lives until
  // then.
  Task<void> put_lines(std::vector<std::string> lines, std::string* replies);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halite::ingest
