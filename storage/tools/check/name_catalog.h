// The known series and names, as far as they can be read from the name tables and the write-ahead
// log, which has the newest.
//
//   Threads  not thread-safe; blocks.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <boost/unordered/unordered_flat_set.hpp>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/backends/rocks/rocks_store.h"
#include "storage/catalog/names/uid_table.h"
#include "storage/tsdb/core/options.h"
#include "storage/tsdb/core/retention.h"

namespace halite::storage::check {

class NameCatalog {
 public:
  // Uses only the table names of the options.
  explicit NameCatalog(EngineOptions options) : options_(std::move(options)) {}

  // Reads names and series. The store must stay open while this object is used. kNotFound: the
  // store has no points of an embedded engine.
  Result<void> read(RocksStore& store);
  // As read(), but without the list of all series: text() works, series() stays 0.
  Result<void> read_layout(RocksStore& store);

  // Adds an entry found in the write-ahead log.
  void add_name(NameKind kind, std::uint64_t uid, BytesView name);
  void add_series(BytesView tsuid);

  // Null before read(), or if read() failed early: keys of chunks cannot be interpreted then.
  [[nodiscard]] const engine::Retention* retention() const { return retention_.get(); }
  [[nodiscard]] std::uint64_t series() const { return known_.size(); }
  // Always true after read_layout() alone.
  [[nodiscard]] bool knows(BytesView tsuid) const;
  // The greatest assigned id; 0 if unknown.
  [[nodiscard]] std::uint64_t last_id(NameKind kind) const;

  // m{host=a}. Unreadable names appear as hexadecimal ids.
  [[nodiscard]] std::string text(BytesView tsuid);
  // The shard of the series.
  [[nodiscard]] std::uint32_t shard_of(BytesView tsuid);
  // Calls `visit` with every series that can be read.
  Result<void> each_series(const std::function<void(BytesView tsuid)>& visit);

  [[nodiscard]] const std::shared_ptr<Table>& settings() const { return settings_; }

 private:
  Result<void> read_retention();
  std::string name(NameKind kind, std::uint64_t uid);

  const EngineOptions options_;
  std::shared_ptr<Table> settings_;
  std::shared_ptr<Table> names_table_;
  std::shared_ptr<Table> series_table_;
  std::unique_ptr<UidTable> names_;
  std::shared_ptr<const engine::Retention> retention_;
  std::array<std::uint64_t, 3> last_ids_ = {};  // by kind
  std::map<std::pair<NameKind, std::uint64_t>, std::string> read_names_;
  bool all_known_ = false;
  boost::unordered_flat_set<std::uint64_t> known_;  // hashes of tsuids
  boost::unordered_flat_set<Bytes> logged_;         // tsuids in the write-ahead log
};

}  // namespace halite::storage::check
