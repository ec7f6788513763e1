// The certificates of a TLS client. The files are read again when they change, for new connections;
// if that fails, the log says why, and the previous ones stay in use.
//
//   Protocols  TLS 1.2 and 1.3: HBase's default is only 1.2.
//   Threads    call from any thread.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <string>

#include <openssl/ssl.h>

#include "common/file_reloader.h"
#include "common/result.h"
#include "storage/backends/hbase/rpc/security_options.h"

namespace halite::storage::hbase {

class TlsContext {
 public:
  explicit TlsContext(TlsOptions options) : options_(std::move(options)) {}

  // For one more connection. kInvalidArgument names the file and what to do; only if no reading has
  // succeeded yet.
  [[nodiscard]] Result<std::shared_ptr<SSL_CTX>> current();

  [[nodiscard]] const TlsOptions& options() const { return options_; }

 private:
  using Stamps = std::array<FileStamp, 3>;
  [[nodiscard]] Stamps stamps() const;
  [[nodiscard]] Result<std::shared_ptr<SSL_CTX>> read() const;

  const TlsOptions options_;
  std::mutex mutex_;
  std::shared_ptr<SSL_CTX> value_;  // guarded by mutex_
  Stamps seen_;                     // guarded by mutex_
};

}  // namespace halite::storage::hbase
