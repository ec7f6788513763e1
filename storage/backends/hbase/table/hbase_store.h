// Tables in HBase. Tables and families are HBase's, and other programs may use them, too.
//
// docs/operate/hbase.md describes all differences from a local store. In short:
//
//   Times    Cells get this process's clock, never below a time that it has written or read, if
//            that time is at most clock_ahead_ms_max ahead. Clocks of machines that write to one
//            cell must agree: of two writes, the later stamp wins.
//   Deletes  They hide existing cells, and later writes with a time at or before the delete's.
//            Stamped writes of this process have later times, unless the deleted cell was too far
//            ahead. Puts of the same call always have later times.
//   Appends  Region servers stamp them: delete such cells only with replace_cell().
//   TTL      Halite's TTL hides cells exactly; HBase's is a little longer and removes them. An
//            existing table's TTL is raised to the spec's, but not lowered by default: others may
//            rely on it.
//   Empty    compare-and-put treats a cell with an empty value, written at that moment, as absent.
//
//   Threads   Call from any thread. Sockets have threads of their own.
//   Lifetime  Destroy tables and scanners first; call close() before you destroy the store.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include <prometheus/registry.h>

#include "common/clock.h"
#include "common/threads/io_threads.h"
#include "storage/api/wide_column.h"
#include "storage/backends/hbase/client/client.h"
#include "storage/backends/shared/hybrid_clock.h"

namespace halite::storage {

class HBaseTable;

// For new tables. Existing tables change only to a longer TTL.
struct HBaseTableOptions {
  bool create = true;                     // false: a missing table is kNotFound
  std::string compression = "GZ";         // COMPRESSION of its families
  std::string encoding = "DIFF";          // DATA_BLOCK_ENCODING
  std::string bloom_filter = "ROW";       // BLOOMFILTER
  bool block_cache = true;                // BLOCKCACHE: the servers keep read blocks in memory
  bool expire = true;                     // sets a TTL in HBase, too: HBase's servers use real time
  std::int64_t expire_slack_ms = 60'000;  // added to the TTL, because clocks differ
  bool lower_ttl = false;  // also for an existing table: that deletes data for all its users
};

struct HBaseStoreOptions {
  hbase::ClientOptions client;
  std::uint32_t threads = 2;  // for sockets
  std::string table_prefix;   // before the name of every table, after its namespace
  HBaseTableOptions tables;
  std::uint32_t enabled_ms_max = 60'000;     // wait for a table that another process creates
  std::int64_t clock_ahead_ms_max = 60'000;  // follow other writers' times up to this
  std::size_t range_filter_max = 1'000;  // ranges of one scan that are sent to a server at a time

  // The full name of a table in HBase: in "ns:tsdb" the prefix follows the colon; the namespace
  // "default" is omitted.
  [[nodiscard]] std::string whole_name(std::string_view table) const;
};

// HBase's TTL in seconds: the current one of a family, and the one for a TTL of Halite, which is
// exact.
inline constexpr std::int64_t kForEverS = 2'147'483'647;  // HBase's value for "no TTL"
[[nodiscard]] Result<std::int64_t> ttl_s_of(const hbase::FamilyDescriptor& family);
[[nodiscard]] std::int64_t ttl_s_for(std::int64_t ttl_ms, const HBaseTableOptions& options);

class HBaseStore final : public WideColumnStore {
 public:
  // Does not connect yet. Clock and registry outlive the store.
  HBaseStore(HBaseStoreOptions options, const Clock& clock, prometheus::Registry& registry);
  ~HBaseStore() override;

  Task<std::shared_ptr<Table>> open_table(TableSpec spec) override;
  // If the store is not healthy, this starts a new attempt in the background: callers that see an
  // error send nothing, so only this can find that HBase is back.
  [[nodiscard]] Result<void> health() const override;
  Task<void> close() override;

  // For operations that the interface does not have: regions, compactions.
  [[nodiscard]] hbase::Client& client() { return client_; }
  [[nodiscard]] std::string whole_name(const std::string& table) const {
    return options_.whole_name(table);
  }

 private:
  Task<hbase::TableDescriptor> find_or_create(std::string name, TableSpec spec);
  Task<void> await_enabled(std::string name);
  Task<void> apply_ttl(hbase::TableDescriptor found, TableSpec spec);
  void warn_once(std::string text);
  std::shared_ptr<HBaseTable> table_of(const std::string& name, const TableSpec& spec);

  static boost::asio::awaitable<void> look_again(const HBaseStore& store);

  const HBaseStoreOptions options_;
  HybridClock clock_;
  mutable IoThreads threads_;
  mutable hbase::Client client_;
  mutable std::atomic<bool> looking_ = false;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<HBaseTable>> tables_;  // guarded by mutex_
  std::set<std::string> warnings_;                             // already logged; guarded by mutex_
};

}  // namespace halite::storage
