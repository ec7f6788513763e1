// A region: a range of a table's rows, and its server, as hbase:meta describes it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/bytes/bytes.h"
#include "storage/backends/hbase/proto/client.pb.h"
#include "storage/backends/hbase/rpc/cellblock.h"
#include "storage/backends/hbase/rpc/options.h"

namespace halite::storage::hbase {

struct Region {
  Bytes name;                  // full: table, first row, number, and their digest
  std::string table;           // "namespace:table", or "table" of the default namespace
  Bytes begin;                 // included
  Bytes end;                   // excluded; empty = to the last row
  std::uint64_t id = 0;        // if two overlap, the greater one is newer
  Endpoint server;             // port 0 = no server at present
  std::int64_t sequence = -1;  // of its opening there; increases each time

  [[nodiscard]] bool holds(BytesView row) const {
    return row >= begin && (end.empty() || row < end);
  }
};
using RegionPtr = std::shared_ptr<const Region>;

inline constexpr BytesView kMetaRegion = "hbase:meta,,1";

// One row of hbase:meta.
struct MetaRow {
  Bytes key;
  RegionPtr region;     // null: no region, or it was split or merged
  bool closed = false;  // according to its state: it moves, or the table is disabled
};

// Parses the cells of one row; ignores damaged cells.
[[nodiscard]] MetaRow read_meta_row(BytesView key, const std::vector<CellView>& cells);

// Sets the region's name in a request.
void set_region(pb::RegionSpecifier& to, BytesView name);

// Parses "host:port", as cells of hbase:meta contain it.
[[nodiscard]] std::optional<Endpoint> endpoint_from(BytesView text);

}  // namespace halite::storage::hbase
