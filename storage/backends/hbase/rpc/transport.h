// The byte stream under a connection: TCP, or TLS and SASL over it (security/).
//
//   Threads  Use it only on its executor, a strand; one read and one write at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/buffer.hpp>

#include "common/threads/task.h"
#include "storage/backends/hbase/rpc/options.h"

namespace halite::storage::hbase {

class Transport {
 public:
  virtual ~Transport() = default;
  // Ends once requests can be written, after all handshakes. Has no time limit: the caller closes
  // it to give up. Errors are kUnavailable.
  virtual Task<void> connect(Endpoint to) = 0;
  // Reads at least one byte; kUnavailable "closed by the server" at the end.
  virtual Task<std::size_t> read_some(boost::asio::mutable_buffer into) = 0;
  // Writes all bytes. The buffers must stay valid until then.
  virtual Task<void> write(std::vector<boost::asio::const_buffer> buffers) = 0;
  // Running operations end with an error. May be called twice.
  virtual void close() = 0;
  // What connect() waits for, for the message of a timeout.
  [[nodiscard]] virtual std::string step() const = 0;
};

// `host` is the server's name in hbase:meta, as in its certificate and its Kerberos principal. The
// address of connect() may be another one.
using MakeTransport = std::function<std::unique_ptr<Transport>(
    const boost::asio::any_io_executor& strand, const std::string& host)>;

[[nodiscard]] std::unique_ptr<Transport> tcp_transport(const boost::asio::any_io_executor& strand);

// "host:port", with an IPv6 address in brackets.
[[nodiscard]] std::string to_text(const Endpoint& endpoint);

}  // namespace halite::storage::hbase
