// Finds the region and the server of a row: from a cache, or from hbase:meta if the cache has no
// entry or a wrong one.
//
//   Threads   Call from any thread.
//   Requests  Concurrent callers for one table share a request. The first request for a table reads
//             all its regions.
//   Errors    kNotFound: no such table. kConflict: it is disabled. Other faults have a remedy.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/threads/completion.h"
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
  // All references outlive it.
  RegionLocator(const ClientOptions& options, ConnectionPool& servers, ConnectionRegistry& registry,
                Stats& stats);

  // The region of the row, with its server. One attempt: the caller pauses and tries again.
  RemoteTask<RegionPtr> locate(std::string table, Bytes row);
  // Where a reverse scan continues: the table's last region if `end` is empty, else the region that
  // contains the keys just below `end`.
  RemoteTask<RegionPtr> locate_before(std::string table, Bytes end);

  // From the cache only; null = call locate().
  [[nodiscard]] RegionPtr known(const std::string& table, BytesView row) const;

  // Reads all regions again, in order, including those without a server.
  RemoteTask<std::vector<RegionPtr>> all(std::string table);

  RemoteTask<Endpoint> master();

  // Updates the cache after a call to this region failed.
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
  // mutex_ guards this and what follows.
  std::unordered_map<std::string, Regions> tables_;  // only tables that were read completely once
  std::unordered_map<std::string, std::shared_ptr<Lookup>> lookups_;
  std::optional<Endpoint> meta_;
};

}  // namespace halite::storage::hbase
