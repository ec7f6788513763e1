// Decides how to react to an error of a server or a connection: docs/formats/hbase.md has the
// table.
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
  kGiveUp,      // an error of the caller or of Halite
  kAtOnce,      // send the request again, now
  kWait,        // the same server, after a pause
  kOverloaded,  // the same server, after a longer pause
  kRelocate,    // the region moved: read hbase:meta after a pause
  kMoved,       // the region is at `moved`
  kReopen,      // the scanner is gone: open it again after the last cell
  kReconnect,   // the server or its connection is gone: forget all its regions, after a pause
};

// The new location of a region, as the server reports it.
struct RegionMoved {
  std::string host;
  std::uint16_t port = 0;
  std::uint64_t start_code = 0;
  std::int64_t sequence = -1;  // of the region's opening there; ignore an older one
};

struct Fault {
  Remedy remedy = Remedy::kGiveUp;
  Error error;
  std::optional<RegionMoved> moved;
  std::uint32_t pause_ms = 0;   // requested by the server; 0 = none
  unsigned tries_max = 0;       // give up after so many in a row; 0 = the time limit decides
  bool maybe_done = false;      // the request was sent and its answer was lost
  bool of_meta = false;         // hbase:meta could not be read; no other region can be found either
  std::string class_name = {};  // the server's exception, without package; empty = a local error
};

template <class T>
using Outcome = std::expected<T, Fault>;
template <class T>
using RemoteTask = boost::asio::awaitable<Outcome<T>>;

// `where` is the server's name, for the message.
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
