// What to do about an error of a server or of a connection: docs/formats/hbase.md has the table.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "common/result.h"
#include "storage/backends/hbase/rpc/frame.h"

namespace halite::storage::hbase {

enum class Remedy : std::uint8_t {
  kGiveUp,      // the caller's fault, or ours
  kAtOnce,      // send the same again, now
  kWait,        // the same server, after a pause
  kOverloaded,  // the same server, after a longer pause
  kRelocate,    // the region is elsewhere: ask hbase:meta, after a pause
  kMoved,       // the region is at `moved`
  kReopen,      // the scanner is gone: open it again behind the last cell
  kReconnect,   // the server or the way to it is gone: forget all that it had, after a pause
};

// Where a server says a region has gone.
struct RegionMoved {
  std::string host;
  std::uint16_t port = 0;
  std::uint64_t start_code = 0;
  std::int64_t sequence = -1;  // of the region's opening there; an older one is not news
};

struct Fault {
  Remedy remedy = Remedy::kGiveUp;
  Error error;
  std::optional<RegionMoved> moved;
  std::uint32_t pause_ms = 0;   // the server's own wish; 0 = none
  unsigned tries_max = 0;       // so often in a row, then it is given up; 0 = as time allows
  bool maybe_done = false;      // the request was sent and its answer is lost
  bool of_meta = false;         // hbase:meta could not be asked: no other region is found either
  std::string class_name = {};  // of the server's exception, without package; empty = it is local
};

template <class T>
using Outcome = std::expected<T, Fault>;
template <class T>
using RemoteTask = boost::asio::awaitable<Outcome<T>>;

// `where`: the server's name, for the message.
[[nodiscard]] Fault classify(const RemoteException& exception, const std::string& where);

[[nodiscard]] inline std::unexpected<Fault> give_up(Errc code, std::string message) {
  return std::unexpected<Fault>(
      Fault{.remedy = Remedy::kGiveUp, .error = {code, std::move(message), {}}, .moved = {}});
}

[[nodiscard]] inline std::unexpected<Fault> lost(std::string message, bool maybe_done) {
  return std::unexpected<Fault>(Fault{.remedy = Remedy::kReconnect,
                                      .error = {Errc::kUnavailable, std::move(message), {}},
                                      .moved = {},
                                      .maybe_done = maybe_done});
}

}  // namespace halite::storage::hbase
