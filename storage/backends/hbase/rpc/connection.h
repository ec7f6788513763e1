// One connection to one service of one server: many calls at once, answered in any order.
//
//   Threads   Call from any thread; the socket lives on a strand.
//   Lifetime  A broken connection stays broken; open a new one. Running calls keep it alive.
//   Limits    server_calls_max and server_bytes_max at a time; further calls wait in a queue. Every
//             call has a time limit. A server that owes answers and sends nothing counts as dead.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/threads/completion.h"
#include "common/threads/semaphore.h"
#include "storage/backends/hbase/rpc/fault.h"
#include "storage/backends/hbase/rpc/options.h"
#include "storage/backends/hbase/rpc/pending_calls.h"
#include "storage/backends/hbase/rpc/stats.h"
#include "storage/backends/hbase/rpc/transport.h"

namespace halite::storage::hbase {

struct Call {
  const char* method = "";  // a string literal
  Bytes message;
  Bytes cellblock;
  std::uint32_t timeout_ms = 0;           // at least 1
  std::optional<std::uint32_t> priority;  // nothing = the server's choice
};

class Connection : public std::enable_shared_from_this<Connection> {
  struct Private {};

 public:
  struct Setup {
    Endpoint server;   // the address
    std::string host;  // the name in hbase:meta
    std::string service;
    boost::asio::any_io_executor executor;
    MakeTransport transport;
  };
  // Starts to connect; you may call at once. Options and stats outlive it.
  static std::shared_ptr<Connection> open(Setup setup, const ClientOptions& options, Stats& stats);
  Connection(Private, Setup setup, const ClientOptions& options, Stats& stats);

  RemoteTask<Reply> call(Call call);

  // The error that broke the connection; nothing if it works.
  [[nodiscard]] std::optional<Error> broken() const { return calls_.broken(); }
  // Whether it has received an answer.
  [[nodiscard]] bool answered() const { return calls_.answered(); }

  // Running calls end with this error.
  void close(Error why);
  // Finishes once the connection has no socket and runs nothing.
  [[nodiscard]] Completion ended() const { return ended_; }

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  class Running;

  // Destroys the connection before it signals the end.
  static boost::asio::awaitable<void> run(std::shared_ptr<Running> running,
                                          std::shared_ptr<Connection> self);
  static boost::asio::awaitable<void> watch(std::shared_ptr<Running> running,
                                            std::shared_ptr<Connection> self);
  static boost::asio::awaitable<void> write_queued(std::shared_ptr<Running> running,
                                                   std::shared_ptr<Connection> self);
  Task<void> send_preamble();
  Task<void> read_answers();
  Task<void> read_long(Bytes& frame, std::size_t have);
  Result<void> deliver(Bytes frame);
  void wake_writer();
  void start_writer();
  void expire(TimePoint now);
  [[nodiscard]] std::optional<std::string> reason_to_end(TimePoint now) const;
  void break_off(Error why);
  [[nodiscard]] std::string name() const;

  const Setup setup_;
  const ClientOptions& options_;
  Stats& stats_;
  const boost::asio::any_io_executor strand_;
  const std::shared_ptr<Semaphore> semaphore_;
  const Completion ended_;
  PendingCalls calls_;
  std::weak_ptr<Running> running_;  // set before run() starts

  // Use these only on the strand.
  std::unique_ptr<Transport> transport_;
  boost::asio::steady_timer tick_;
  bool connected_ = false;
  TimePoint heard_;  // of the last byte, or when no answer was due
  TimePoint used_;   // of the last call
  TimePoint opened_;
};

}  // namespace halite::storage::hbase
