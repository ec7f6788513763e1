// Lines of files with points, from text to stored points.
//
//   ImportBatch batch(writer);
//   batch.add(text);                                parses; many threads, each with its own batch
//   const Imported imported = co_await batch.commit();   in the order of the text
//
// Lines are those of OpenTSDB's `tsdb import`: metric, timestamp, value and tags, separated by
// single blanks. They may begin with "put ". Empty lines and lines that begin with '#' are skipped.
//
//   Order    of two points of a series with equal times, the one that is committed later wins.
//   Threads  one thread at a time uses a batch.
//   Durable  what commit() stored is durable when the store says so: after PointStore::flush().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "common/threads/task.h"
#include "ingest/writer.h"

namespace halite::ingest {

// A line that is not stored.
struct RefusedLine {
  std::uint32_t line = 0;  // counts from 1 in the text of the batch
  std::string reason;
  bool passes = false;  // may be taken later: the store is overloaded
};

struct Imported {
  std::uint64_t points = 0;          // stored
  std::vector<RefusedLine> refused;  // by line
};

class ImportBatch {
 public:
  // The writer outlives the batch.
  explicit ImportBatch(Writer& writer);
  ~ImportBatch();
  ImportBatch(ImportBatch&&) noexcept;
  ImportBatch& operator=(ImportBatch&&) noexcept;

  // Parses whole lines, at most 2^32 - 1, and returns their number; the last may lack its line
  // feed. Call it once. The text need not outlive the call.
  std::uint32_t add(std::string_view text);

  // Creates new series and appends all points to the store; waits while the store applies
  // back-pressure. Call it once. An error: points of the batch may be missing; commit the text
  // again in a new batch.
  Task<Imported> commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halite::ingest
