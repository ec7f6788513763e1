// Telnet on one connection: lines in, and only where something is wrong a line back.
//
// Points of all lines of one read go to the store together, at once; the store makes them durable
// in its own time. When the client ends its stream, everything read is durable before the socket
// closes. Replies never hold up the reading.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "common/completion.h"
#include "ingest/writer.h"
#include "web/client_connection.h"
#include "web/context.h"
#include "web/line_splitter.h"
#include "web/reply_writer.h"
#include "web/telnet_negotiation.h"

namespace halite::web {

class TelnetSession {
 public:
  // The context outlives the session. `early` was read already.
  TelnetSession(std::shared_ptr<ClientConnection> link, WebContext& context,
                std::string_view early);

  boost::asio::awaitable<void> run();  // until the connection is over

 private:
  boost::asio::awaitable<bool> read();  // false: nothing more comes
  void note_read(std::span<char> space, std::size_t count);
  [[nodiscard]] std::int64_t idle_ms() const;  // how long it may send nothing; 0 = for ever
  bool count_timeout(const Error& error);
  boost::asio::awaitable<void> take_lines();  // all that are there
  boost::asio::awaitable<std::uint64_t> take_fast_path();
  boost::asio::awaitable<void> run_command(std::string_view line);
  void refuse_long_line(std::string_view beginning);
  boost::asio::awaitable<void> flush();  // points of the lines so far go to the store
  boost::asio::awaitable<void> take_auxiliary_line(std::string_view command, std::string_view line);
  boost::asio::awaitable<void> flush_auxiliary();  // rollups or histograms become durable
  [[nodiscard]] bool must_wait() const;
  boost::asio::awaitable<void> await_finished();
  boost::asio::awaitable<void> wait_oldest();  // until it is durable
  boost::asio::awaitable<void> sync();         // all of them, then "synced"
  boost::asio::awaitable<void> log_in(std::string_view line);
  boost::asio::awaitable<void> log_in_again();  // where auth.file has changed since
  // Says that the command wants a role that the caller has not.
  bool refuse_without(Role role, std::string_view command);
  void note_failure(const Error& error);  // a reply has said it

  // Points handed to the store together.
  struct Flush {
    ingest::TelnetBatch::Flushed flushed;
    std::chrono::steady_clock::time_point began;
  };

  std::shared_ptr<ClientConnection> connection_;
  WebContext& context_;
  Caller caller_;
  Login login_;                // of a caller with a name
  std::uint64_t version_ = 0;  // of the accounts that knew it
  TelnetNegotiation negotiation_;
  LineSplitter lines_;
  ingest::TelnetBatch batch_;
  ReplyWriter replies_;
  std::string reply_;          // of the lines being taken, not sent yet
  std::deque<Flush> flushes_;  // not known to be durable, oldest first
  std::string failed_;         // why points since the last sync are not durable; empty = none
  bool unflushed_ = false;     // put lines since the last flush
  std::vector<std::string> auxiliary_lines_;  // of rollups, or of histograms, since the last flush
  std::size_t auxiliary_bytes_ = 0;           // of them
  std::string_view auxiliary_command_;        // which of the two
  bool exit_ = false;
};

}  // namespace halite::web
