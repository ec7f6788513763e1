// The answer to a ReadRequest of Prometheus, in one of two forms:
//
//   samples   a prometheus.ReadResponse, packed with snappy
//   chunks    for each series one or more frames, each with a prometheus.ChunkedReadResponse: the
//             number of its bytes (varint), their CRC-32C (4 bytes, big-endian), and these bytes.
//             The series of a query are in the order of their labels
//
// Integers become doubles.
//
//   Order     for each query: add() its blocks, then end_query(). At last respond(), once.
//   Threads   one call at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "query/answer.h"
#include "storage/api/point_store.h"
#include "web/http/http_message.h"

namespace halite::web {

enum class ReadForm : std::uint8_t { kSamples = 0, kChunks = 1 };  // as ReadRequest.ResponseType

class RemoteReadAnswer {
 public:
  using Rooms = std::vector<std::shared_ptr<const query::AnswerReservation>>;

  virtual ~RemoteReadAnswer() = default;

  // A series may have several blocks, in the order of time, until another metric begins. Returns
  // the bytes by which the answer grows.
  [[nodiscard]] virtual std::size_t add(const storage::Series& series,
                                        const storage::Block& block) = 0;
  virtual void end_query() = 0;
  // Keeps the rooms until the answer is sent.
  [[nodiscard]] virtual Response respond(Rooms rooms) = 0;
};

[[nodiscard]] std::unique_ptr<RemoteReadAnswer> make_remote_read_answer(ReadForm form);

}  // namespace halite::web
