// The server's certificate, read again when its files change.
//
//   Protocols  TLS 1.2 and 1.3, with OpenSSL's defaults otherwise.
//   Reload     files are looked at once a second at most, when somebody connects; a pair that is
//              wrong is logged, and the one before it stays.
//   Threads    any, after load().
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include <boost/asio/ssl/context.hpp>

#include "common/clock.h"
#include "common/file_stamp.h"
#include "common/result.h"
#include "web/options.h"

namespace halite::web {

class Tls {
 public:
  // The clock outlives it.
  Tls(TlsOptions options, const Clock& clock) : options_(std::move(options)), clock_(clock) {}

  // kInvalidArgument names the file and what is wrong with it. Nothing to do where TLS is off.
  [[nodiscard]] Result<void> load();

  [[nodiscard]] bool on() const { return !options_.certificate.empty(); }
  [[nodiscard]] bool only() const { return on() && options_.only; }
  [[nodiscard]] std::int64_t handshake_ms() const { return options_.handshake_ms; }

  // What a new connection begins with; lives as long as that wants it.
  [[nodiscard]] std::shared_ptr<boost::asio::ssl::context> current();

 private:
  struct Stamps {
    FileStamp certificate;
    FileStamp key;
    bool operator==(const Stamps&) const = default;
  };
  [[nodiscard]] Stamps stamps() const;
  [[nodiscard]] Result<std::shared_ptr<boost::asio::ssl::context>> read() const;

  const TlsOptions options_;
  const Clock& clock_;
  std::mutex mutex_;
  std::shared_ptr<boost::asio::ssl::context> context_;  // guarded by mutex_
  Stamps read_;                                         // guarded by mutex_
  std::string complaint_;                               // of the files; guarded by mutex_
  TimestampMs looked_at_ms_ = 0;                        // guarded by mutex_
};

}  // namespace halite::web
