// The members of Writer, shared with TelnetBatch.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "ingest/json/json_body_reader.h"
#include "ingest/writer.h"
#include "ingest/writer_context.h"

namespace halite::ingest {

struct Writer::Impl {
  Impl(storage::PointSink& store, const Clock& clock, IngestOptions options,
       prometheus::Registry& registry)
      : context(store, clock, std::move(options), registry) {}

  std::unique_ptr<JsonParsers> borrow_parsers();
  void return_parsers(std::unique_ptr<JsonParsers> pair, std::size_t body_bytes);

  WriterContext context;
  std::mutex mutex;
  std::vector<std::unique_ptr<JsonParsers>> parsers;  // guarded by mutex
};

}  // namespace halite::ingest
