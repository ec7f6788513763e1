// HBase's filters of rows by their keys, as region servers apply them.
#pragma once

#include "common/bytes/bytes.h"
#include "storage/backends/hbase/proto/client.pb.h"

namespace halite::test {

// Whether a scan with this filter gives out the row. Filters of cells let every row pass; of those
// of rows it knows RowFilter with a regular expression, FuzzyRowFilter, MultiRowRangeFilter, and
// lists that all have to pass.
[[nodiscard]] bool passes_rows(const storage::hbase::pb::Filter& filter, BytesView row);

}  // namespace halite::test
