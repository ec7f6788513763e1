// A region: a run of a table's rows, and who serves it. What hbase:meta says of one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "storage/backends/hbase/proto/client.pb.h"
#include "storage/backends/hbase/rpc/cellblock.h"
#include "storage/backends/hbase/rpc/options.h"

namespace halite::storage::hbase {

struct Region {
  Bytes name;                  // whole: table, first row, number, and their digest
  std::string table;           // "namespace:table", or "table" of the default namespace
  Bytes begin;                 // included
  Bytes end;                   // excluded; empty = to the last row
  std::uint64_t id = 0;        // of two that overlap the greater is the younger
  Endpoint server;             // port 0 = nobody just now
  std::int64_t sequence = -1;  // of its opening there; grows with each

  [[nodiscard]] bool holds(BytesView row) const {
    return row >= begin && (end.empty() || row < end);
  }
};
using RegionPtr = std::shared_ptr<const Region>;

inline constexpr BytesView kMetaRegion = "hbase:meta,,1";

// One row of hbase:meta.
struct MetaRow {
  Bytes key;
  RegionPtr region;     // null: no region, or one that was split or merged away
  bool closed = false;  // its state says so: moving, or the table is disabled
};

// Reads the cells of one row; what is damaged is as if it were not there.
[[nodiscard]] MetaRow read_meta_row(BytesView key, const std::vector<CellView>& cells);

// Puts the region's name into a request.
void set_region(pb::RegionSpecifier& to, BytesView name);

// "host:port", as cells of hbase:meta have it.
[[nodiscard]] std::optional<Endpoint> endpoint_from(BytesView text);

}  // namespace halite::storage::hbase
