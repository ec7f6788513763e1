// Telnet on one connection: it reads lines and replies only to errors and commands.
//
// The points of all lines of one read go to the store together; the store makes them durable later.
// When the client ends its stream, everything read becomes durable before the socket closes.
// Replies never block reading.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "common/threads/completion.h"
#include "ingest/writer.h"
#include "web/connection/client_connection.h"
#include "web/context.h"
#include "web/http/reply_writer.h"
#include "web/telnet/line_splitter.h"
#include "web/telnet/telnet_negotiation.h"

namespace halite::web {

class TelnetSession {
 public:
  // The context outlives the session. `early` holds bytes already read.
  TelnetSession(std::shared_ptr<ClientConnection> link, WebContext& context,
                std::string_view early);

  boost::asio::awaitable<void> run();  // until the connection ends

 private:
  boost::asio::awaitable<bool> read();  // false: end of input
  void note_read(std::span<char> space, std::size_t count);
  [[nodiscard]] std::int64_t idle_ms() const;  // how long it may be silent; 0 = no limit
  bool count_timeout(const Error& error);
  boost::asio::awaitable<void> take_lines();  // all that were read
  boost::asio::awaitable<std::uint64_t> take_fast_path();
  boost::asio::awaitable<void> run_command(std::string_view line);
  void refuse_long_line(std::string_view beginning);
  boost::asio::awaitable<void> flush();  // hands the points so far to the store
  boost::asio::awaitable<void> take_auxiliary_line(std::string_view command, std::string_view line);
  boost::asio::awaitable<void> flush_auxiliary();  // makes rollups or histograms durable
  [[nodiscard]] bool must_wait() const;
  boost::asio::awaitable<void> await_finished();
  boost::asio::awaitable<void> wait_oldest();  // until it is durable
  boost::asio::awaitable<void> sync();         // waits for all, then replies "synced"
  boost::asio::awaitable<void> log_in(std::string_view line);
  boost::asio::awaitable<void> log_in_again();  // if auth.file has changed since
  // Replies that the command requires a role that the caller lacks.
  bool refuse_without(Role role, std::string_view command);
  void note_failure(const Error& error);  // a reply has reported it

  // Points handed to the store in one batch.
  struct Flush {
    ingest::TelnetBatch* batch = nullptr;
    ingest::TelnetBatch::Flushed flushed;
    std::chrono::steady_clock::time_point began;
  };

  std::shared_ptr<ClientConnection> connection_;
  WebContext& context_;
  Caller caller_;
  Login login_;                // of a caller with a name
  std::uint64_t version_ = 0;  // of the accounts at the login
  TelnetNegotiation negotiation_;
  LineSplitter lines_;
  ingest::TelnetBatch points_;
  ingest::TelnetBatch increments_;
  ingest::TelnetBatch* batch_ = &points_;  // that takes lines now
  ReplyWriter replies_;
  std::string reply_;          // for the lines being processed, not sent yet
  std::deque<Flush> flushes_;  // not known to be durable, oldest first
  std::string failed_;         // why points since the last sync are not durable; empty = none
  bool unflushed_ = false;     // lines in the batch since the last flush
  std::vector<std::string> auxiliary_lines_;  // rollups or histograms since the last flush
  std::size_t auxiliary_bytes_ = 0;           // their bytes
  std::string_view auxiliary_command_;        // rollup or histogram
  bool exit_ = false;
};

}  // namespace halite::web
