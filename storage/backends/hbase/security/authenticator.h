// What the SASL handshake needs of Kerberos. Tests replace it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "common/threads/completion.h"

namespace halite::storage::hbase {

// The client's side of one authentication, and the protection of bytes after it. Not thread-safe;
// no call waits. Errors are kUnavailable.
class SecurityContext {
 public:
  virtual ~SecurityContext() = default;
  // The answer to a token of the server; may be empty.
  virtual Result<Bytes> step(BytesView token) = 0;
  // Whether both sides are authenticated. step() must not be called any more.
  [[nodiscard]] virtual bool established() const = 0;
  // Protects bytes: encrypts them, or only adds a checksum.
  virtual Result<Bytes> wrap(BytesView bytes, bool encrypt) = 0;
  // Reverses the server's wrap(), in the order of its calls.
  virtual Result<Bytes> unwrap(BytesView token) = 0;
  // How many bytes may be wrapped so that the token has at most so many.
  [[nodiscard]] virtual std::size_t wrap_bytes_max(std::size_t token_bytes, bool encrypt) = 0;
};

// A context and its first token, which arrive later. Either side may finish `done`: the
// authenticator after it has set the others, or who waits, to give up.
struct Beginning {
  Completion done;
  std::unique_ptr<SecurityContext> context;  // read them only if `done` succeeded
  Bytes token;
};

class Authenticator {
 public:
  virtual ~Authenticator() = default;
  // Begins the authentication to the server with this name. Thread-safe; does not wait.
  virtual std::shared_ptr<Beginning> begin(std::string host) = 0;
};

}  // namespace halite::storage::hbase
