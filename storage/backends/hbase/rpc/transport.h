// What carries the bytes of a connection. TCP for now; TLS and SASL's wrapping get in here.
//
//   Threads  everything on the executor it was made with, a strand; one read and one write at a
//   time.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/buffer.hpp>

#include "common/task.h"
#include "storage/backends/hbase/rpc/options.h"

namespace halite::storage::hbase {

class Transport {
 public:
  virtual ~Transport() = default;
  // Has no time limit of its own: whoever waits closes. Errors are kUnavailable.
  virtual Task<void> connect(Endpoint to) = 0;
  // At least one byte; kUnavailable "closed by the server" at the end.
  virtual Task<std::size_t> read_some(boost::asio::mutable_buffer into) = 0;
  // All of them; what they point at stays until then.
  virtual Task<void> write(std::vector<boost::asio::const_buffer> buffers) = 0;
  // What is under way ends with an error. Again: nothing.
  virtual void close() = 0;
};

using MakeTransport =
    std::function<std::unique_ptr<Transport>(const boost::asio::any_io_executor& strand)>;

[[nodiscard]] std::unique_ptr<Transport> tcp_transport(const boost::asio::any_io_executor& strand);

// "host:port", an IPv6 address in brackets.
[[nodiscard]] std::string to_text(const Endpoint& endpoint);

}  // namespace halite::storage::hbase
