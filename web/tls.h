// The server's certificate, read again when its files change.
//
//   Protocols  TLS 1.2 and 1.3, with OpenSSL's defaults otherwise.
//   Reload     a thread of its own looks at the files once a second. A pair that is wrong is
//              logged, and the one before it stays.
//   Threads    any, after load().
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <boost/asio/ssl/context.hpp>

#include "common/file_reloader.h"
#include "common/result.h"
#include "web/options.h"

namespace halite::web {

class Tls {
 public:
  explicit Tls(TlsOptions options) : options_(std::move(options)) {}

  // Whether load() would find what it wants; takes nothing. Errors likewise.
  [[nodiscard]] Result<void> check() const;

  // kInvalidArgument names the file and what is wrong with it. Nothing to do where TLS is off.
  [[nodiscard]] Result<void> load();

  [[nodiscard]] bool on() const { return !options_.certificate.empty(); }
  [[nodiscard]] bool only() const { return on() && options_.only; }
  [[nodiscard]] std::int64_t handshake_ms() const { return options_.handshake_ms; }

  // What a new connection begins with; lives as long as that wants it. Waits for no disk.
  [[nodiscard]] std::shared_ptr<boost::asio::ssl::context> current() const {
    return context_.current();
  }

 private:
  [[nodiscard]] Result<std::shared_ptr<boost::asio::ssl::context>> read() const;

  const TlsOptions options_;
  FileReloader<boost::asio::ssl::context> context_;
};

}  // namespace halite::web
