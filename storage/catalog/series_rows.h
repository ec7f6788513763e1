// The series table: a row for each series, its key the tsuid, with one empty cell. See
// docs/formats/names-and-series.md.
//
//   Lifetime  the table outlives what is under way.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "common/task.h"
#include "storage/api/wide_column.h"

namespace halite::storage {

[[nodiscard]] TableSpec series_table_spec(std::string name);

// Rows for series that have none, or have one already. Durable when it returns.
[[nodiscard]] Task<void> write_series_rows(Table& table, std::vector<Bytes> tsuids);
// All of them, or none when it fails. Durable when it returns.
[[nodiscard]] Task<void> delete_series_rows(Table& table, std::vector<Bytes> tsuids);

// Which of these have a row, in the order asked.
[[nodiscard]] Task<std::vector<bool>> have_series_rows(Table& table, std::vector<Bytes> tsuids);

// Rows whose key begins with prefix, keys only.
[[nodiscard]] std::unique_ptr<Scanner> scan_series_rows(Table& table, BytesView prefix,
                                                        const ReadContext& context);

}  // namespace halite::storage
