// Request bodies of other protocols than OpenTSDB's, from text or message to durable points.
//
//   BodyWriter bodies(writer);
//   CO_TRY(BodyOutcome put, co_await bodies.put(body, Protocol::kOtlp));
//
//   Order     points keep the order of the body; of equal times in one series the last wins.
//   Refusals  a bad line or part does not affect others.
//   Durable   points that are counted as stored are durable. It is safe to send points again.
//   Threads   call it from any thread; a body is for one call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/threads/task.h"
#include "ingest/formats/point_format.h"
#include "ingest/formats/point_receiver.h"
#include "ingest/writer.h"
#include "storage/api/families.h"

namespace halite::ingest {

// A part that is not stored, or not completely: a line, a series, a data point. See PointReceiver.
struct BodyRefusal {
  std::uint32_t part = 0;  // counts from 1
  std::string reason;
};

struct BodyOutcome {
  std::uint64_t points = 0;           // stored
  std::uint64_t refused_parts = 0;    // that are not stored, or not completely
  std::vector<BodyRefusal> refusals;  // the first ones, by part; at most kBodyRefusalsMax
  storage::Families families;         // what the body says about them; not stored yet
  // The store's error, if the points that are not stored may be sent again.
  std::optional<Error> retryable_error;
};

inline constexpr std::size_t kBodyRefusalsMax = 5;

struct LinesBody {
  std::string_view text;  // outlives the task; the last line may lack its line feed
  Format format = Format::kInflux;
  FormatOptions options = {};
  bool all_or_nothing = false;  // store nothing if the parser refuses a line
};

class BodyWriter {
 public:
  // The writer outlives it and its tasks.
  explicit BodyWriter(Writer& writer) : context_(writer.context()) {}

  [[nodiscard]] const IngestLimits& limits() const;

  // An error is about the whole body, and nothing is stored: kInvalidArgument, it is no message of
  // its protocol; kTooLarge, it has more than points_per_request_max points and refusals, or too
  // long names of new series; or an error of the store that repeating does not mend. The body
  // outlives the task.
  Task<BodyOutcome> put(PointBody& body, Protocol protocol);
  Task<BodyOutcome> put(LinesBody body, Protocol protocol);

  // Counts what cannot be passed to put(), such as a line that is too long. `part` is its begin.
  void refuse(Protocol protocol, std::string reason, std::string_view part);

 private:
  class Intake;
  Task<BodyOutcome> store(Intake& intake, Protocol protocol, bool all_or_nothing);

  WriterContext& context_;
};

}  // namespace halite::ingest
