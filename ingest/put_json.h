// The body of POST /api/put, one point or an array of points: where each point stands and, of the
// usual ones, the pieces. sent_point.h takes one apart completely.
//
// Where an element has pieces, SentPointReader finds the same time and value, and a series or a
// complaint that depends on nothing but the two pieces `metric` and `tags`.
//
//   Errors     concern the whole body: message and details are those of the error envelope.
//   Threads    a parser serves one body at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/data_point.h"
#include "common/result.h"
#include "ingest/options.h"

namespace halite::ingest {

// Pieces of an element, pointing into the body.
struct JsonPieces {
  std::string_view metric;  // between the quotes, escapes as they are
  std::string_view tags;    // from brace to brace
  TimestampMs time = 0;
  ValueBits value = 0;
  std::uint8_t flags = 0;
};

struct JsonElement {
  std::string_view text;  // the object, from brace to brace; empty for null
  bool fast = false;      // `pieces` is all there is to know, if its series is known
  JsonPieces pieces;
};

// Receives the elements of a body in order, some at a time.
class JsonSink {
 public:
  virtual ~JsonSink() = default;
  // An error ends the scan and is its outcome.
  virtual Result<void> take(std::span<const JsonElement> elements) = 0;
};

class PutJsonParser {
 public:
  explicit PutJsonParser(const IngestLimits& limits);
  ~PutJsonParser();

  // Elements point into `body`. Its memory grows a little here, and what is not UTF-8 in it is
  // replaced. The whole of it is known to be JSON only when all elements that are not `fast`, or
  // whose pieces nobody has seen before, have been read as well.
  [[nodiscard]] Result<void> scan(std::string& body, JsonSink& sink);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halite::ingest
