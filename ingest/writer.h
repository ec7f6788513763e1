// Points on their way from a connection to the store.
//
//   TelnetBatch batch(writer);                    one per connection
//   for (line : lines) batch.add(line, replies);  no wait: parse, look up in the series cache
//   CO_TRY(auto flushed, co_await batch.flush(replies));
//   CO_TRY_VOID(co_await batch.await_durable(flushed, replies));
//
// put_json() is one HTTP body from text to stored points.
//
//   Order    points keep their order of arrival; of equal times in one series the last wins.
//   Refusals one bad point costs only itself, is named in the answer and counted by reason.
//   Threads  a Writer is shared by all; a TelnetBatch belongs to one coroutine.
//   Durable  points that were taken outlive a power cut once they are settled. Where that fails,
//            each may be stored or not. Sending it again does no harm: the last of a time wins.
//            docs/decisions/0050 has what each sender is told.
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

#include "common/clock.h"
#include "common/completion.h"
#include "common/task.h"
#include "ingest/ingest_stats.h"
#include "ingest/options.h"
#include "storage/api/point_store.h"

namespace prometheus {
class Registry;
}

namespace halite::ingest {

// A point of an HTTP body that is not stored, or may not be.
struct PutFailure {
  std::string datapoint;  // JSON object: the point as it was sent, value as text; or "null"
  // OpenTSDB's words, e.g. "Unable to parse value to a number". Where they name half of a surrogate
  // pair it stands here as common/utf8.h says, and JSON shows it as \uD83D.
  std::string error;
};

struct PutOutcome {
  std::uint64_t success = 0;         // durable
  std::uint64_t failed = 0;          // not stored, or nobody knows
  std::uint64_t timeouts = 0;        // taken, and not durable within sync_timeout_ms
  std::vector<PutFailure> failures;  // of those that failed, in body order, if they were wished for
  // Why some of the points that failed are worth sending again: what the store could not do.
  std::optional<Error> retryable_error;
};

struct PutOptions {
  bool failures = true;              // each point that failed is named; else they are only counted
  std::int64_t sync_timeout_ms = 0;  // waits so long for the disk; 0 = as long as it takes
};

class Writer {
 public:
  // The store, the clock and the registry outlive the writer.
  Writer(storage::PointStore& store, const Clock& clock, IngestOptions options,
         prometheus::Registry& registry);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // An object or an array of points. An error concerns the body's text, of which nothing was
  // stored: its message and details are what the error envelope shows ("Unable to parse the given
  // JSON", ...).
  Task<PutOutcome> put_json(std::string body, PutOptions put_options = {});

  // Points made in the process itself (own metrics): names are legal already. They are durable when
  // it returns; an error: each may be stored or not. A point that the store refuses is left out.
  struct SelfPoint {
    SeriesName series;
    TimestampMs time = 0;
    ValueBits value = 0;
    std::uint8_t flags = 0;
  };
  Task<void> put_self_metrics(std::vector<SelfPoint> points);

  // Whether a new metric, tag key or tag value may have this name. kInvalidArgument in OpenTSDB's
  // words: "Invalid <what> ...".
  [[nodiscard]] Result<void> check_name(std::string_view what, std::string_view name) const;

  // After a name was given to another id: what senders' bytes led to so far is looked up again.
  void clear_series_cache();

  // Some of the latest refused points, the newest last.
  [[nodiscard]] std::vector<RefusedSample> refused_samples() const;

 private:
  friend class HistogramWriter;
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

  // One line, "put" or beginning with "put ", without its line feed; the carriage return before
  // that may still be there. When a line is refused, here or in a later call, an answer line is
  // appended to `replies`, ready to send ("put: illegal argument: ...\n"); answers come in the
  // order of the lines, so flush() before answering any other command.
  void add(std::string_view line, std::string& replies);

  struct FastPathResult {
    std::size_t bytes = 0;  // of whole lines, their ends too
    std::size_t lines = 0;
  };
  // Takes lines off the front of `text` for as long as they are as expected: points of known series
  // in the order in which they came before, of at most line_bytes_max each, while the batch is not
  // full. None taken is no failure: the next line is for add().
  [[nodiscard]] FastPathResult add_fast_path(std::string_view text, std::size_t line_bytes_max,
                                             std::string& replies);

  [[nodiscard]] std::size_t points() const;
  // telnet_batch_points_max or telnet_batch_bytes_max reached: flush before adding more.
  [[nodiscard]] bool full() const;

  struct Flushed {
    std::uint64_t points = 0;                 // taken
    Completion durable = Completion::done();  // of them, for await_durable()
    // Why points were not taken that may be sent again. Reply lines have said it.
    std::optional<Error> retryable_error;
  };
  // Makes ids for new series and hands all points to the store; waits for room there. Refusals of
  // the store become reply lines; where it takes nothing at all, one line says so. The batch is
  // empty afterwards. `replies` must live until then.
  Task<Flushed> flush(std::string& replies);

  // Waits until the points are durable. On an error they are counted, and a reply line says that
  // they may not be stored. `replies` must live until then.
  Task<void> await_durable(Flushed flushed, std::string& replies);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halite::ingest
