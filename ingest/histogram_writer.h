// Writes histograms from connections to the store.
//
//   Threads  call from any thread.
//   Durable  accepted histograms are durable when a call returns.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/threads/task.h"
#include "ingest/rules/histogram_rules.h"
#include "ingest/writer.h"

namespace halite::storage {
class HistogramCells;
}

namespace halite::ingest {

class HistogramWriter {
 public:
  // The arguments outlive this object.
  HistogramWriter(Writer& writer, storage::HistogramCells& cells);
  ~HistogramWriter();

  // The body of POST /api/histogram. See Writer::put_json().
  Task<PutOutcome> put_json(std::string body, PutOptions put_options = {});

  // Lines that begin with "histogram". Appends a reply for each refused line, in order. After an
  // error, a reply says whether the remaining lines are not stored or may not be. `replies` lives
  // until the task ends.
  Task<void> put_lines(std::vector<std::string> lines, std::string* replies);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halite::ingest
