// Lines of files with points, from text to stored points.
//
//   ImportBatch batch(writer, {.format = Format::kInflux});
//   batch.add({.lines = text});                          parses; many threads, a batch each
//   CO_TRY(Imported imported, co_await batch.commit());  in the order of the text
//
// In files of OpenTSDB's lines, blank lines and lines that begin with '#' are skipped.
//
//   Order    of two points of a series with equal times, the one that is committed later wins.
//   Threads  one thread at a time uses a batch.
//   Durable  what commit() stored is durable after PointStore::flush(), if `durable` has no error.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/threads/completion.h"
#include "common/threads/task.h"
#include "ingest/formats/point_format.h"
#include "ingest/import/series_points.h"
#include "ingest/writer.h"

namespace halite::ingest {

// A line of which at least one point is not stored.
struct RefusedLine {
  std::uint32_t line = 0;  // counts from 1 in the text of the batch
  std::string reason;
  bool passes = false;       // may be taken later: the store is overloaded
  std::uint64_t points = 1;  // of the line that have this reason
};

struct Imported {
  std::uint64_t points = 0;          // stored
  std::vector<RefusedLine> refused;  // by line; a line may be there more than once
  // Of the stored points: see storage::Accepted. With an engine that does not log points, it says
  // nothing.
  Completion durable = Completion::done();
};

struct ImportFormat {
  Format format = Format::kOpenTsdb;
  FormatOptions options = {};
};

// A part of a file.
struct ImportText {
  std::string_view lines;   // whole ones, at most 2^32 - 1; the last may lack its line feed
  std::string_view header;  // of these lines, if it is before them: header_behind()
  bool ends = false;        // the file ends here
};

class ImportBatch {
 public:
  // The writer outlives the batch.
  ImportBatch(Writer& writer, const ImportFormat& format);
  ~ImportBatch();
  ImportBatch(ImportBatch&&) noexcept;

  // Parses lines and returns their number. Call it once. The text need not outlive the call.
  std::uint32_t add(const ImportText& text);
  // Adds points that need no parsing, in place of lines. A refusal names the series by its number,
  // counted from 1.
  void add(const std::vector<SeriesPoints>& points);

  // Creates new series and appends all points to the store; waits while the store applies
  // back-pressure. Call it once. An error: points of the batch may be missing; commit the text
  // again in a new batch.
  Task<Imported> commit();

 private:
  class Impl;
  class OpentsdbLines;
  class FormatLines;
  class NamedPoints;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halite::ingest
