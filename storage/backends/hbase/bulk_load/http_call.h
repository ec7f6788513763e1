// HTTP requests, each on a connection of its own, with a body that may be sent in pieces.
//
//   Errors  kUnavailable, kTimeout: no valid answer. Any status is an answer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/bytes/bytes.h"
#include "common/threads/task.h"
#include "storage/backends/hbase/rpc/options.h"

namespace halite::storage::hbase {

enum class HttpMethod : std::uint8_t { kGet, kPut, kDelete };

struct HttpTarget {
  Endpoint server;
  std::string path;                   // with the query, percent-encoded
  std::uint32_t timeout_ms = 60'000;  // of each step: connect, write a piece, read the answer
};

struct HttpAnswer {
  unsigned status = 0;
  std::string location;  // the header; empty: none
  std::string body;      // at most 1 MiB; a longer one is an error
};

[[nodiscard]] Task<HttpAnswer> call_http(HttpMethod method, HttpTarget target);

// A PUT whose body comes in pieces. One coroutine at a time.
class HttpUpload {
 public:
  [[nodiscard]] static Task<std::unique_ptr<HttpUpload>> open(HttpTarget target);
  virtual ~HttpUpload() = default;
  virtual Task<void> write(Bytes piece) = 0;
  virtual Task<HttpAnswer> finish() = 0;
};

}  // namespace halite::storage::hbase
