// A connection to an HTTP server that carries one request after the other. Bodies are in memory;
// limits keep them small.
//
//   Timeouts  of silence: a request may take long while bytes move.
//   Threads   one thread at a time; blocks.
//   Errors    kUnavailable, kTimeout: try again. kUnauthenticated: the certificate is not trusted.
//             kTooLarge: the answer is longer than allowed. kUnsupported: so is an answer with a
//             whole object in place of a range. kCancelled.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/tools/backup/s3/s3_url.h"

namespace halite::storage::backup {

struct HttpRequest {
  std::string method;
  std::string target;                          // path and query, encoded
  std::map<std::string, std::string> headers;  // with host
  BytesView body;                              // lives until the answer is there
  std::uint64_t answer_bytes_max = 1 << 20;    // of the answer's body
  bool last = false;  // is carried out also when the work has ended, but with little patience
};

struct HttpAnswer {
  unsigned status = 0;
  std::map<std::string, std::string, std::less<>> headers;  // names in lower case
  Bytes body;

  [[nodiscard]] std::string header(std::string_view name) const;  // empty: none
};

struct HttpConnectionOptions {
  S3Endpoint server;
  std::string ca_file;                // PEM; empty = the system's CAs
  std::uint32_t connect_ms = 15'000;  // with the look-up of the name
  std::uint32_t silence_ms = 60'000;
  // The IP addresses of a host. Blocks, on a thread of its own, also after the connection has gone.
  // Empty: the system's.
  std::function<Result<std::vector<std::string>>(const std::string& host)> look_up = {};
  std::function<bool()> ended;  // return true to end a request with kCancelled; may be empty
};

class HttpConnection {
 public:
  // kInvalidArgument: the file of CAs cannot be read.
  [[nodiscard]] static Result<std::unique_ptr<HttpConnection>> make(HttpConnectionOptions options);
  virtual ~HttpConnection() = default;

  // Connects if necessary. After an error the next call connects anew. Any status is an answer.
  virtual Result<HttpAnswer> exchange(const HttpRequest& request) = 0;
  // Whether the last request went over a connection that had carried others: the server may have
  // closed it in between.
  [[nodiscard]] virtual bool was_reused() const = 0;
};

}  // namespace halite::storage::backup
