// Points on their way from a connection to the store.
//
//   TelnetBatch batch(writer);                    one per connection
//   for (line : lines) batch.add(line, replies);  no wait: parse, look up in the series cache
//   CO_TRY(auto ticket, co_await batch.flush(replies));
//
// put_json() is one HTTP body from text to stored points.
//
//   Threads  a Writer is shared by all; a TelnetBatch belongs to one coroutine.
//   Durable  a Completion that finished well: those points outlive a power cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "common/completion.h"
#include "common/task.h"
#include "storage/point_store.h"

namespace prometheus {
class Registry;
}

namespace halite::ingest {

struct IngestLimits {
  std::size_t tags_max = 32;
  std::size_t name_bytes_max = 1024;  // metric, tag key or tag value
  std::size_t points_per_request_max = 1'000'000;
  std::size_t json_depth_max = 16;
  std::size_t series_cache_bytes_max = 256 << 20;
  std::size_t telnet_batch_points_max = 10'000;
};

struct IngestOptions {
  IngestLimits limits;
  storage::CreateNames create;     // OpenTSDB's defaults differ: metrics = false
  std::string special_characters;  // allowed in names besides OpenTSDB's own
};

// A point of an HTTP body that was not stored.
struct PutFailure {
  std::string datapoint;  // JSON object: the point as it was sent, value as text; or "null"
  std::string error;      // OpenTSDB's words, e.g. "Unable to parse value to a number"
};

struct PutOutcome {
  std::uint64_t success = 0;
  std::uint64_t failed = 0;
  std::vector<PutFailure> failures;  // in body order
  Completion durable;                // of the points that were taken
};

class Writer {
 public:
  // The store, the clock and the registry outlive the writer.
  Writer(storage::PointStore& store, const Clock& clock, IngestOptions options,
         prometheus::Registry& registry);
  ~Writer();

  // An object or an array of points. An error concerns the whole body: its message and details are
  // what the error envelope shows ("Unable to parse the given JSON", ...).
  Task<PutOutcome> put_json(std::string body);

  // Points made in the process itself (own metrics): names are legal already.
  struct OwnPoint {
    SeriesName series;
    TimestampMs time = 0;
    ValueBits value = 0;
    std::uint8_t flags = 0;
  };
  Task<Completion> put_own(std::vector<OwnPoint> points);

 private:
  friend class TelnetBatch;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class TelnetBatch {
 public:
  explicit TelnetBatch(Writer& writer);
  ~TelnetBatch();

  // One line without its end, beginning with "put ". Appends an error line to `replies`, ready to
  // send ("put: illegal argument: ...\n"), when the line is refused; nothing otherwise.
  void add(std::string_view line, std::string& replies);

  [[nodiscard]] std::size_t points() const;
  [[nodiscard]] bool full() const;  // telnet_batch_points_max reached: flush before adding more

  // Makes ids for new series and hands all points to the store; waits for room there. Refusals of
  // the store become reply lines. The batch is empty afterwards.
  Task<Completion> flush(std::string& replies);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halite::ingest
