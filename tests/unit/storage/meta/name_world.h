// Tables in memory with a few names, for tests of what is said about them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/check.h"
#include "storage/backends/memory/memory_store.h"
#include "storage/catalog/names/uid_table.h"
#include "storage/meta/objects/ts_meta_store.h"
#include "storage/meta/objects/uid_meta.h"
#include "tests/support/run_task.h"

namespace halite::storage {

struct NameWorld {
  NameWorld() {
    // 000001 of each kind, then 000002.
    for (const char* name : {"sys.cpu", "sys.mem"}) assign(NameKind::kMetric, name);
    for (const char* name : {"host", "dc"}) assign(NameKind::kTagKey, name);
    for (const char* name : {"web01", "lga"}) assign(NameKind::kTagValue, name);
  }

  void assign(NameKind kind, std::string name) {
    const auto entry = test::run_task(uids.find_or_assign(kind, std::move(name)));
    HALITE_CHECK(entry.has_value(), "a name gets its id");
  }

  std::shared_ptr<Table> open(TableSpec spec) {
    auto table = test::run_task(tables.open_table(std::move(spec)));
    HALITE_CHECK(table.has_value(), "a table in memory opens");
    return *table;
  }

  // One cell's value; empty when there is none.
  static std::string cell(Table& table, Family family, std::string_view row_hex,
                          std::string qualifier) {
    std::vector<RowRead> reads;
    reads.push_back(RowRead{*from_hex(row_hex), family, {std::move(qualifier)}});
    const auto rows = test::run_task(table.read(std::move(reads)));
    HALITE_CHECK(rows.has_value(), "a table in memory is read");
    return rows->front().cells.empty() ? "" : rows->front().cells.front().value;
  }

  FakeClock clock{1'356'998'400'000};
  MemoryStore tables{clock};
  std::shared_ptr<Table> names = open(uid_table_spec("tsdb-uid"));
  std::shared_ptr<Table> series = open(meta_table_spec("tsdb-meta"));
  UidTable uids{names, {}};
  UidMetaStore uid_metas{names, uids, {}};
  TsMetaStore ts_metas{series, uid_metas, {}};
};

}  // namespace halite::storage
