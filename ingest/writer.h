// Points on their way from a connection to the store.
//
//   TelnetBatch batch(writer);                    one per connection
//   for (line : lines) batch.add(line, replies);  no wait: parse, look up in the series cache
//   CO_TRY(auto ticket, co_await batch.flush(replies));
//
// put_json() is one HTTP body from text to stored points.
//
//   Order    points keep their order of arrival; of equal times in one series the last wins.
//   Refusals one bad point costs only itself, is named in the answer and counted by reason.
//   Threads  a Writer is shared by all; a TelnetBatch belongs to one coroutine.
//   Durable  a Completion that finished well: those points outlive a power cut.
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
#include "storage/point_store.h"

namespace prometheus {
class Registry;
}

namespace halite::ingest {

// A point of an HTTP body that was not stored.
struct PutFailure {
  std::string datapoint;  // JSON object: the point as it was sent, value as text; or "null"
  // OpenTSDB's words, e.g. "Unable to parse value to a number". Where they name half of a surrogate
  // pair it stands here as common/utf8.h says, and JSON shows it as \uD83D.
  std::string error;
};

struct PutOutcome {
  std::uint64_t success = 0;
  std::uint64_t failed = 0;
  std::vector<PutFailure> failures;  // in body order; empty where nobody wanted them
  // Why the store was away for some of the points that failed: these are worth sending again.
  std::optional<std::string> away;
  Completion durable;  // of the points that were taken
};

class Writer {
 public:
  // The store, the clock and the registry outlive the writer.
  Writer(storage::PointStore& store, const Clock& clock, IngestOptions options,
         prometheus::Registry& registry);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // An object or an array of points. An error concerns the whole body, of which nothing was stored:
  // its message and details are what the error envelope shows ("Unable to parse the given JSON",
  // ...). Without `keep_failures` they are only counted.
  Task<PutOutcome> put_json(std::string body, bool keep_failures = true);

  // Points made in the process itself (own metrics): names are legal already. An error: none was
  // stored. A point that the store refuses is left out and counted.
  struct OwnPoint {
    SeriesName series;
    TimestampMs time = 0;
    ValueBits value = 0;
    std::uint8_t flags = 0;
  };
  Task<Completion> put_own(std::vector<OwnPoint> points);

  // Whether a new metric, tag key or tag value may have this name. kInvalidArgument in OpenTSDB's
  // words: "Invalid <what> ...".
  [[nodiscard]] Result<void> check_name(std::string_view what, std::string_view name) const;

  // After a name was given to another id: what senders' bytes led to so far is looked up again.
  void forget_series();

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

  struct Usual {
    std::size_t bytes = 0;  // of whole lines, their ends too
    std::size_t lines = 0;
  };
  // Takes lines off the front of `text` for as long as they are as expected: points of known series
  // in the order in which they came before, of at most line_bytes_max each, while the batch is not
  // full. None taken is no failure: the next line is for add().
  [[nodiscard]] Usual add_usual(std::string_view text, std::size_t line_bytes_max,
                                std::string& replies);

  [[nodiscard]] std::size_t points() const;
  // telnet_batch_points_max or telnet_batch_bytes_max reached: flush before adding more.
  [[nodiscard]] bool full() const;

  // Makes ids for new series and hands all points to the store; waits for room there. Refusals of
  // the store become reply lines. Where the store takes nothing at all, one reply line says so and
  // the Completion carries the error. The batch is empty afterwards. `replies` must live until
  // then.
  Task<Completion> flush(std::string& replies);

  // Somebody waits for a Completion that flush() gave.
  void hurry();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halite::ingest
