// The server's certificate, read again when its files change.
//
//   Protocols  TLS 1.2 and 1.3, otherwise with OpenSSL's defaults.
//   Reload     a separate thread checks the files once each second. An invalid pair is logged, and
//              the previous one stays in use.
//   Threads    call from any thread, after load().
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

  // Checks whether load() would succeed; keeps nothing. Errors of load().
  [[nodiscard]] Result<void> check() const;

  // kInvalidArgument names the file and the error. Does nothing if TLS is off.
  [[nodiscard]] Result<void> load();

  [[nodiscard]] bool on() const { return !options_.certificate.empty(); }
  [[nodiscard]] bool only() const { return on() && options_.only; }
  [[nodiscard]] std::int64_t handshake_ms() const { return options_.handshake_ms; }

  // The context for a new connection, which shares it. Waits for no disk.
  [[nodiscard]] std::shared_ptr<boost::asio::ssl::context> current() const {
    return context_.current();
  }

 private:
  [[nodiscard]] Result<std::shared_ptr<boost::asio::ssl::context>> read() const;

  const TlsOptions options_;
  FileReloader<boost::asio::ssl::context> context_;
};

}  // namespace halite::web
