// The entry point of ingest: it parses points from connections and appends them to the store.
//
//   TelnetBatch batch(writer);                    one per connection
//   for (line : lines) batch.add(line, replies);  never waits: parse, look up in the series cache
//   CO_TRY(auto flushed, co_await batch.flush(replies));
//   CO_TRY_VOID(co_await batch.await_durable(flushed, replies));
//
// put_json() takes one HTTP body from text to stored points.
//
//   Order    points keep their order of arrival; of equal timestamps in one series the last wins.
//   Refusals a bad point does not affect others. The answer names it; a counter has the reason.
//   Threads  call a Writer from any thread; a TelnetBatch belongs to one coroutine.
//   Durable  accepted points are durable after await_durable(). If that fails, each may be stored
//            or not. Sending them again is safe: the last point of a timestamp wins.
//            docs/decisions/0050 lists the reply to each outcome.
//
// Over 140 lines because every entry point of one pipeline is declared here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "common/memory_budget.h"
#include "common/threads/completion.h"
#include "common/threads/task.h"
#include "ingest/ingest_stats.h"
#include "ingest/options.h"
#include "storage/api/point_store.h"

namespace prometheus {
class Registry;
}

namespace halite::ingest {

class WriterContext;

// A point of an HTTP body that is not stored, or may not be.
struct PutFailure {
  std::string datapoint;  // JSON object: the point as sent, value as text; or "null"
  // OpenTSDB's message, e.g. "Unable to parse value to a number". A lone surrogate in it has the
  // form of common/bytes/utf8.h; JSON shows it as \uD83D.
  std::string error;
};

struct PutOutcome {
  std::uint64_t success = 0;         // durable
  std::uint64_t failed = 0;          // not stored, or unknown
  std::uint64_t timeouts = 0;        // accepted, but not durable within sync_timeout_ms
  std::vector<PutFailure> failures;  // the failed points in body order, if requested
  // The store's error, if failed points are worth sending again.
  std::optional<Error> retryable_error;
};

struct PutOptions {
  bool failures = true;              // name each failed point; otherwise only count them
  std::int64_t sync_timeout_ms = 0;  // the longest wait for the disk; 0 = no limit
  // Increments only: nothing is added again that was added with this key in the last ten minutes.
  Bytes once = {};
};

class Writer {
 public:
  // The store, the clock and the registry outlive the writer.
  Writer(storage::PointSink& store, const Clock& clock, IngestOptions options,
         prometheus::Registry& registry);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Takes an object or an array of points. An error concerns the text of the body, and nothing is
  // stored. Its message and details go into the error envelope ("Unable to parse the given JSON",
  // ...).
  Task<PutOutcome> put_json(std::string body, PutOptions put_options = {});

  // Points of the process itself (self-metrics). Their names are legal. They are durable on return.
  // After an error, each may be stored or not. Points that the store refuses are skipped.
  struct SelfPoint {
    SeriesName series;
    TimestampMs time = 0;
    ValueBits value = 0;
    std::uint8_t flags = 0;
  };
  Task<void> put_self_metrics(std::vector<SelfPoint> points);

  // Checks whether a new metric, tag key or tag value may have this name. kInvalidArgument with
  // OpenTSDB's message: "Invalid <what> ...".
  [[nodiscard]] Result<void> check_name(std::string_view what, std::string_view name) const;

  // Call it after a name was given to another id. Senders' keys are then looked up again.
  void clear_series_cache();

  [[nodiscard]] MemoryUser memory_user();  // the series cache

  // For the rooms of ingest/: what all kinds of batches and bodies share.
  [[nodiscard]] WriterContext& context();

  // Some of the latest refused points, oldest first.
  [[nodiscard]] std::vector<RefusedSample> refused_samples() const;

 private:
  friend class HistogramWriter;
  friend class ImportBatch;
  friend class RollupWriter;
  friend class TelnetBatch;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class TelnetBatch {
 public:
  // The writer outlives the batch.
  explicit TelnetBatch(Writer& writer);
  ~TelnetBatch();
  TelnetBatch(const TelnetBatch&) = delete;
  TelnetBatch& operator=(const TelnetBatch&) = delete;

  // Takes one line, the command or starting with it and a blank, without its line feed; it may end
  // in '\r'. For a refused line, this or a later call appends a reply to `replies`, ready to send
  // ("put: illegal argument: ...\n"). Replies are in line order, so flush() before you answer any
  // other command.
  void add(std::string_view line, std::string& replies);

  struct FastPathResult {
    std::size_t bytes = 0;  // of whole lines, including their ends
    std::size_t lines = 0;
  };
  // Takes lines off the front of `text` while they are as expected: points of known series in the
  // previous order, at most line_bytes_max bytes each, while the batch is not full. If none is
  // taken, pass the next line to add().
  [[nodiscard]] FastPathResult add_fast_path(std::string_view text, std::size_t line_bytes_max,
                                             std::string& replies);

  [[nodiscard]] std::size_t points() const;
  // telnet_batch_points_max or telnet_batch_bytes_max is reached: flush before you add more.
  [[nodiscard]] bool full() const;

  struct Flushed {
    std::uint64_t points = 0;                 // accepted
    Completion durable = Completion::done();  // for await_durable()
    // The error, if refused points may be sent again. Reply lines have reported it.
    std::optional<Error> retryable_error;
  };
  // Creates ids for new series and appends all points to the store; waits while the store applies
  // back-pressure. The store's refusals become reply lines; if the store accepts nothing, one line
  // says so. The batch is empty afterwards. `replies` lives until the task ends.
  Task<Flushed> flush(std::string& replies);

  // Waits until the points are durable. On an error it counts them and appends a reply line that
  // they may not be stored. `replies` lives until the task ends.
  Task<void> await_durable(Flushed flushed, std::string& replies);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halite::ingest
