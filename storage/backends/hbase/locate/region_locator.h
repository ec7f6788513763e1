// Who serves a row: remembered, and asked of hbase:meta when it is not known or proved wrong.
//
//   Threads  any call from any thread.
//   Asks     once for all who want to know of one table at the same time; the first time for all of
//            its regions.
//   Errors   kNotFound: no such table. kConflict: it is disabled. Else there is a remedy.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/completion.h"
#include "storage/backends/hbase/locate/meta_scan.h"
#include "storage/backends/hbase/locate/registry.h"
#include "storage/backends/hbase/messages/region.h"
#include "storage/backends/hbase/rpc/connection_pool.h"
#include "storage/backends/hbase/rpc/fault.h"
#include "storage/backends/hbase/rpc/options.h"
#include "storage/backends/hbase/rpc/stats.h"

namespace halite::storage::hbase {

class RegionLocator {
 public:
  // All outlive it.
  RegionLocator(const ClientOptions& options, ConnectionPool& servers, ConnectionRegistry& registry,
                Stats& stats);

  // The region that holds the row, with a server. One attempt: the caller pauses and asks again.
  RemoteTask<RegionPtr> locate(std::string table, Bytes row);
  // The last region of the table when `end` is empty, else the one that ends at or holds what is
  // just below `end`: where a scan in reverse goes on.
  RemoteTask<RegionPtr> locate_before(std::string table, Bytes end);

  // What is remembered; null = ask.
  [[nodiscard]] RegionPtr known(const std::string& table, BytesView row) const;

  // All regions in order, asked anew; also those that nobody serves just now.
  RemoteTask<std::vector<RegionPtr>> all(std::string table);

  RemoteTask<Endpoint> master();

  // Learns from a fault that a call to this region met.
  void learn(const RegionPtr& region, const Fault& fault);
  void forget_table(const std::string& table);

 private:
  using Regions = std::map<Bytes, RegionPtr, std::less<>>;  // by begin
  struct Lookup {
    Completion done;
    std::optional<Fault> fault;  // set before done
  };
  class Leader;
  enum class Side : std::uint8_t { kHolds, kBefore };

  RemoteTask<RegionPtr> find(std::string table, Bytes row, Side side);
  RemoteTask<void> look_up(std::string table, Bytes row, Side side);
  RemoteTask<MetaScanResult> ask(MetaScanRequest question);
  RemoteTask<void> check_enabled(std::string table);
  RemoteTask<Endpoint> meta_server();
  void forget_meta(const Endpoint& server, const Fault& fault);

  [[nodiscard]] RegionPtr find_known(const std::string& table, BytesView row, Side side) const;
  void insert(const RegionPtr& region);

  const ClientOptions& options_;
  ConnectionPool& servers_;
  ConnectionRegistry& registry_;
  Stats& stats_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::unordered_map<std::string, Regions> tables_;  // those that were read whole once
  std::unordered_map<std::string, std::shared_ptr<Lookup>> lookups_;
  std::optional<Endpoint> meta_;
};

}  // namespace halite::storage::hbase
