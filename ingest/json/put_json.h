// The body of POST /api/put, one point or an array of points. The parser finds each point and
// splits common points into pieces. sent_point.h parses a point completely.
//
// If an element has pieces, SentPointReader finds an equal time and value. Its series or refusal
// depends only on the pieces `metric` and `tags`.
//
//   Errors     concern the whole body: message and details are those of the error envelope.
//   Threads    a parser serves one body at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/data_point.h"
#include "common/result.h"
#include "ingest/options.h"

namespace halite::ingest {

// Pieces of an element. They point into the body.
struct JsonPieces {
  std::string_view metric;  // between the quotes, with escapes
  std::string_view tags;    // from brace to brace
  TimestampMs time = 0;
  ValueBits value = 0;
  std::uint8_t flags = 0;
};

struct JsonElement {
  std::string_view text;  // the object, from brace to brace; empty for null
  bool fast = false;      // if the series is cached, `pieces` suffices
  JsonPieces pieces;
};

// Receives the elements of a body in order, several at a time.
class JsonSink {
 public:
  virtual ~JsonSink() = default;
  // An error ends the scan, which returns it.
  virtual Result<void> take(std::span<const JsonElement> elements) = 0;
};

class PutJsonParser {
 public:
  explicit PutJsonParser(const IngestLimits& limits);
  ~PutJsonParser();

  // Elements point into `body`. The scan may grow its memory and replaces bytes that are not UTF-8.
  // The body is valid JSON only if all elements that are not `fast`, or whose pieces are not
  // cached, parse too.
  [[nodiscard]] Result<void> scan(std::string& body, JsonSink& sink);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halite::ingest
