// What a fake HBase holds: regions, who serves them, and rows. Plain, no sockets, not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/bytes/bytes.h"
#include "storage/backends/hbase/proto/client.pb.h"

namespace halite::test {

struct FakeRegion {
  std::string table;
  Bytes begin;                     // included
  Bytes end;                       // excluded; empty = to the last row
  std::uint64_t id = 1;            // a younger region has a greater one
  std::size_t server = 0;          // who serves it
  std::size_t server_in_meta = 0;  // who hbase:meta says does
  std::uint64_t sequence = 1;      // of its opening
  std::uint32_t files = 0;         // as its server tells; a major compaction leaves one
  std::uint64_t compacted = 0;     // when the last one was
  bool closed = false;             // nobody serves it

  // Its name up to the hash.
  [[nodiscard]] Bytes name() const { return table + "," + begin + "," + std::to_string(id); }
  [[nodiscard]] Bytes full_name() const { return name() + "." + std::string(32, '0') + "."; }
  [[nodiscard]] bool contains(BytesView row) const {
    return row >= begin && (end.empty() || row < end);
  }
};

struct FakeCell {
  Bytes row;
  Bytes family;
  Bytes qualifier;
  std::uint64_t time = 0;
  Bytes value;
};

class FakeHBaseData {
 public:
  // Cut at the keys; all regions on server 0.
  void add_table(const std::string& table, const std::vector<Bytes>& split_keys = {});
  [[nodiscard]] bool has_table(const std::string& table) const { return tables_.contains(table); }
  void drop_table(const std::string& table);
  // Regions of a disabled table are nowhere.
  void set_disabled(const std::string& table, bool disabled);
  [[nodiscard]] bool disabled(const std::string& table) const { return disabled_.contains(table); }
  [[nodiscard]] std::vector<FakeRegion>& regions() { return regions_; }
  [[nodiscard]] const std::vector<FakeRegion>& regions_const() const { return regions_; }
  [[nodiscard]] FakeRegion* region_of(const std::string& table, BytesView row);
  [[nodiscard]] FakeRegion* region_named(BytesView full_name);

  // The newest version of each cell, or all, in order.
  [[nodiscard]] std::vector<FakeCell> cells(const std::string& table, BytesView row,
                                            bool all_versions = false) const;
  [[nodiscard]] std::vector<Bytes> rows(const std::string& table, const Bytes& begin,
                                        const Bytes& end) const;

  void put(const std::string& table, FakeCell cell);
  // Versions up to and including `until`, also those that come later.
  void remove(const std::string& table, const FakeCell& column, std::uint64_t until);
  // The one of the cell's time; later puts are not hidden.
  void remove_version(const std::string& table, const FakeCell& cell);
  // To the end of the cell; a nonce that was seen before changes nothing.
  void append(const std::string& table, const FakeCell& cell, std::uint64_t nonce_group,
              std::uint64_t nonce);
  // The sum; a nonce that was seen before changes nothing. Nothing: the cell is no counter.
  std::optional<std::int64_t> increment(const std::string& table, const FakeCell& at,
                                        std::int64_t delta, std::uint64_t nonce_group,
                                        std::uint64_t nonce);
  void forget_nonces() { nonces_.clear(); }
  std::uint64_t now() { return ++now_; }  // a clock that only this moves

 private:
  using Column = std::pair<Bytes, Bytes>;
  using Versions = std::map<std::uint64_t, Bytes, std::greater<>>;
  using Rows = std::map<Bytes, std::map<Column, Versions>, std::less<>>;

  std::vector<FakeRegion> regions_;
  std::map<std::string, Rows> tables_;
  std::set<std::string> disabled_;
  std::map<std::tuple<std::string, Bytes, Column>, std::uint64_t> hidden_;  // until
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::int64_t> nonces_;
  std::uint64_t now_ = 1'700'000'000'000;
};

}  // namespace halite::test
