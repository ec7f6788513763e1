// The answer to a ReadRequest of Prometheus, in one of two forms:
//
//   samples   a prometheus.ReadResponse, packed with snappy
//   chunks    for each series one or more frames, each with a prometheus.ChunkedReadResponse: the
//             number of its bytes (varint), their CRC-32C (4 bytes, big-endian), and these bytes.
//             The series of a query are in the order of their labels
//
// Integers become doubles.
//
//   Order     for each query: add() its blocks, then end_query().
//   Threads   one call at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "query/answer.h"
#include "storage/api/point_store.h"
#include "web/http/http_message.h"

namespace halite::web {

enum class ReadForm : std::uint8_t { kSamples = 0, kChunks = 1 };  // as ReadRequest.ResponseType

// A series may have several blocks, in the order of time, until another metric begins.
class SamplesAnswer {
 public:
  using Rooms = std::vector<std::shared_ptr<const query::AnswerReservation>>;

  SamplesAnswer();
  ~SamplesAnswer();

  // Returns the bytes by which the answer grows.
  [[nodiscard]] std::size_t add(const storage::Series& series, const storage::Block& block);
  void end_query();
  // Once, at last. Keeps the rooms until the answer is sent.
  [[nodiscard]] Response respond(Rooms rooms);

 private:
  class Text;
  const std::unique_ptr<Text> text_;
};

// Keeps the series of one metric, and makes frames of them when another one begins.
class ChunkFrames {
 public:
  // `in_order`: metrics come in the order of labels. Otherwise frames are made at the end of the
  // query, for a name of a label may be before __name__.
  explicit ChunkFrames(bool in_order);
  ~ChunkFrames();

  void add(const storage::Series& series, const storage::Block& block);
  void end_query();

  // The frames that are made.
  [[nodiscard]] std::string take();
  // Memory of the series that are kept and of the frames that are not taken.
  [[nodiscard]] std::size_t bytes() const;

 private:
  class Series;
  const std::unique_ptr<Series> series_;
};

}  // namespace halite::web
