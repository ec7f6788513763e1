// Histograms on their way from a connection to the store.
//
//   Threads  shared by all.
//   Durable  what was taken outlives a power cut when a call returns.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "common/task.h"
#include "ingest/histogram_rules.h"
#include "ingest/writer.h"

namespace halite::storage {
class HistogramCells;
}

namespace halite::ingest {

class HistogramWriter {
 public:
  // All outlive it.
  HistogramWriter(Writer& writer, storage::HistogramCells& cells);
  ~HistogramWriter();

  // The body of POST /api/histogram, as Writer::put_json().
  Task<PutOutcome> put_json(std::string body, bool keep_failures = true);

  // Lines beginning with "histogram". Appends a reply for each that is refused, in their order. An
  // error: the store took none of them; a reply line says so, too. `replies` lives until then.
  Task<void> put_lines(std::vector<std::string> lines, std::string* replies);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halite::ingest
