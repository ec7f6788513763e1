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
  Task<PutOutcome> put_json(std::string body, PutOptions put_options = {});

  // Lines beginning with "histogram". Appends a reply for each that is refused, in their order. An
  // error: the others are not stored, or may not be; a reply line says which. `replies` lives until
  // then.
  Task<void> put_lines(std::vector<std::string> lines, std::string* replies);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halite::ingest
