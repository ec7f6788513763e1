// Which series there are and what they are called, as far as that can be read: from the tables of
// names, and from the log, which has the newest.
//
//   Threads  for one at a time; blocks.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <boost/unordered/unordered_flat_set.hpp>

#include "common/bytes.h"
#include "common/result.h"
#include "storage/backends/rocks/rocks_store.h"
#include "storage/catalog/names/uid_table.h"
#include "storage/tsdb/core/options.h"
#include "storage/tsdb/core/retention.h"

namespace halite::storage::check {

class NameCatalog {
 public:
  // The names of the tables; the rest of the options does not matter.
  explicit NameCatalog(EngineOptions options) : options_(std::move(options)) {}

  // Of a store that is open as long as this is used. kNotFound: it has no points of an engine.
  Result<void> read(RocksStore& store);
  // The same without a look at all series: it is not known which there are, but what they are
  // called.
  Result<void> read_layout(RocksStore& store);

  // What the log says.
  void add_name(NameKind kind, std::uint64_t uid, BytesView name);
  void add_series(BytesView tsuid);

  // Null before read(), and where it failed early: then nothing can be said of keys of chunks.
  [[nodiscard]] const engine::Retention* retention() const { return retention_.get(); }
  [[nodiscard]] std::uint64_t series() const { return known_.size(); }
  // True, too, after read_layout() alone.
  [[nodiscard]] bool knows(BytesView tsuid) const;
  // Up to which ids were given out; 0 where it is not known.
  [[nodiscard]] std::uint64_t last_id(NameKind kind) const;

  // m{host=a}; ids in hex stand for what cannot be read.
  [[nodiscard]] std::string text(BytesView tsuid);
  // The shard that the series' points are in.
  [[nodiscard]] std::uint32_t shard_of(BytesView tsuid);
  // Calls it with every series, as far as they can be read.
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
  boost::unordered_flat_set<Bytes> logged_;         // tsuids of the log
};

}  // namespace halite::storage::check
