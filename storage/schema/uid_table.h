// Names and their ids: metrics, tag keys, tag values (OpenTSDB's tsdb-uid table, byte for byte).
//
// Assignment is atomic across coroutines, threads and processes on one table: increment the
// counter, then compare-and-put id -> name, then name -> id; whoever loses the last step takes the
// winner's id and leaks his own. Found pairs are cached for ever; name views stay valid as long as
// the table object.
//
//   Names    are stored in ISO-8859-1 or UTF-8 bytes as given; length 1 to 32 767 bytes.
//   Threads  any call from any thread.
//   Errors   kNotFound "No such name for 'metrics': 'x'", "No such unique ID for 'metrics': [0, 0,
//   1]";
//            kTooLarge "All Unique IDs for metrics on 3 bytes are already assigned!".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/point_store.h"
#include "storage/schema/row_layout.h"
#include "storage/wide_column.h"

namespace halite::storage {

[[nodiscard]] std::string_view name_kind_text(NameKind kind);  // "metrics", "tagk", "tagv"

class UidTable {
 public:
  // Families: 0 = id, 1 = name, as in uid_table_spec().
  UidTable(std::shared_ptr<Table> table, UidWidths widths);
  ~UidTable();

  struct Entry {
    std::uint64_t uid = 0;
    std::string_view name;
  };

  Task<Entry> find(NameKind kind, std::string name);
  Task<Entry> find_or_assign(NameKind kind, std::string name);
  Task<Entry> name_of(NameKind kind, std::uint64_t uid);

  // From the cache alone, without a wait; nullptr when it is not there.
  [[nodiscard]] const Entry* cached(NameKind kind, std::string_view name) const;
  [[nodiscard]] const Entry* cached(NameKind kind, std::uint64_t uid) const;

  Task<std::vector<std::string>> suggest(NameKind kind, std::string prefix, std::size_t max);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

[[nodiscard]] TableSpec uid_table_spec(std::string name);

}  // namespace halite::storage
