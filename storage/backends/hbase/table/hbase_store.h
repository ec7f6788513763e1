// Tables in HBase: HBase's tables are ours, its families ours, and other programs may use them,
// too.
//
// What differs from a store on this machine: docs/operate/hbase.md. In short:
//
//   Times    cells carry this process's clock, never below a time it has written or met, if that is
//            no more than clock_ahead_ms_max ahead. Clocks of machines that write the same cells
//            have to agree; of two writes, the later stamp wins.
//   Deletes  hide what is there and whatever is written later with a time at or before theirs.
//            Stamped writes of this process come after, unless what was deleted was too far ahead;
//            what the same call puts always does.
//   Appends  are stamped by region servers: delete what may be added to by replace_cell() only.
//   TTL      ours hides cells exactly; HBase's own, a little longer, removes them. A table that is
//            there gets a longer one where the spec's is, never by itself a shorter one: others
//            may have promised what it holds.
//   Empty    to compare-and-put, a cell with an empty value that appears at the same moment looks
//            like none.
//
//   Threads  its own for sockets; any call from any thread.
//   Life     close() before it is destroyed; tables and scanners end before it does.
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
#include "common/io_threads.h"
#include "storage/api/wide_column.h"
#include "storage/backends/hbase/client/client.h"
#include "storage/backends/shared/hybrid_clock.h"

namespace halite::storage {

class HBaseTable;

// What a new table gets; one that is there keeps what it has, but for a longer TTL.
struct HBaseTableOptions {
  bool create = true;                     // false: a table that is not there is kNotFound
  std::string compression = "GZ";         // COMPRESSION of its families
  std::string encoding = "DIFF";          // DATA_BLOCK_ENCODING
  std::string bloom_filter = "ROW";       // BLOOMFILTER
  bool block_cache = true;                // BLOCKCACHE: what is read stays in the servers' memory
  bool expire = true;                     // gives them a TTL, too: HBase's servers keep real time
  std::int64_t expire_slack_ms = 60'000;  // so much later, as clocks differ
  bool lower_ttl = false;                 // also of a table that is there: that deletes, for all
};

struct HBaseStoreOptions {
  hbase::ClientOptions client;
  std::uint32_t threads = 2;  // for sockets
  std::string table_prefix;   // before the name of every table, behind its namespace
  HBaseTableOptions tables;
  std::uint32_t enabled_ms_max = 60'000;  // how long to wait for a table that somebody else makes
  std::int64_t clock_ahead_ms_max = 60'000;  // of cells that others wrote: our stamps follow
  std::size_t range_filter_max = 1'000;      // ranges of one scan that a server is told at a time

  // What HBase calls a table: "ns:tsdb" has the prefix behind the colon, and the namespace
  // "default" goes without saying.
  [[nodiscard]] std::string whole_name(std::string_view table) const;
};

// HBase's TTL in seconds: of a family as it is, and the one that goes with a TTL of ours, which is
// exact.
inline constexpr std::int64_t kForEverS = 2'147'483'647;  // HBase's word for none
[[nodiscard]] Result<std::int64_t> ttl_s_of(const hbase::FamilyDescriptor& family);
[[nodiscard]] std::int64_t ttl_s_for(std::int64_t ttl_ms, const HBaseTableOptions& options);

class HBaseStore final : public WideColumnStore {
 public:
  // Connects to nothing yet. Clock and registry outlive the store.
  HBaseStore(HBaseStoreOptions options, const Clock& clock, prometheus::Registry& registry);
  ~HBaseStore() override;

  Task<std::shared_ptr<Table>> open_table(TableSpec spec) override;
  // Where it is not well it looks again, in the background: nobody else may do so, as who sees that
  // it is not ready sends nothing.
  [[nodiscard]] Result<void> health() const override;
  Task<void> close() override;

  // For what the seam does not have: regions, compactions.
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
  std::set<std::string> warnings_;                             // given; guarded by mutex_
};

}  // namespace halite::storage
