// One connection to one service of one server: many calls at once, answered in any order.
//
//   Threads  call(), close() and the questions from any thread; the socket lives on a strand.
//   Life     made connected-to-be; once broken it stays so, and a new one is made. What is under
//            way keeps it alive.
//   Limits   server_calls_max and server_bytes_max at a time, the rest waits in line. Every call
//            has its time; a server that owes answers and is silent is given up.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/completion.h"
#include "common/semaphore.h"
#include "storage/backends/hbase/rpc/fault.h"
#include "storage/backends/hbase/rpc/options.h"
#include "storage/backends/hbase/rpc/pending_calls.h"
#include "storage/backends/hbase/rpc/stats.h"
#include "storage/backends/hbase/rpc/transport.h"

namespace halite::storage::hbase {

struct Call {
  const char* method = "";  // lives for ever
  Bytes message;
  Bytes cellblock;
  std::uint32_t timeout_ms = 0;           // at least 1
  std::optional<std::uint32_t> priority;  // nothing = the server's choice
};

class Connection : public std::enable_shared_from_this<Connection> {
  struct Private {};

 public:
  struct Setup {
    Endpoint server;
    std::string service;
    boost::asio::any_io_executor executor;
    MakeTransport transport;
  };
  // Begins to connect; calls may come at once. Options and stats outlive it.
  static std::shared_ptr<Connection> open(Setup setup, const ClientOptions& options, Stats& stats);
  Connection(Private, Setup setup, const ClientOptions& options, Stats& stats);

  RemoteTask<Reply> call(Call call);

  // Why no call can succeed any more; nothing while one can.
  [[nodiscard]] std::optional<Error> broken() const { return calls_.broken(); }
  // It has answered something once.
  [[nodiscard]] bool answered() const { return calls_.answered(); }

  // Calls under way end with this error.
  void close(Error why);
  // Finished once it holds no socket and runs nothing any more.
  [[nodiscard]] Completion ended() const { return ended_; }

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  class Running;

  // The connection goes before what tells that it has.
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
  std::weak_ptr<Running> running_;  // set before it runs

  // Only on the strand.
  std::unique_ptr<Transport> transport_;
  boost::asio::steady_timer tick_;
  bool connected_ = false;
  TimePoint heard_;  // the last byte, or when there was nothing to hear
  TimePoint used_;   // the last call
  TimePoint opened_;
};

}  // namespace halite::storage::hbase
