// The series table: a row for each series, with the tsuid as key and one empty cell. See
// docs/formats/names-and-series.md.
//
//   Lifetime  the table must outlive running calls.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/threads/task.h"
#include "storage/api/wide_column.h"

namespace halite::storage {

[[nodiscard]] TableSpec series_table_spec(std::string name);

// Writes the rows of series; existing rows are unchanged. Durable when it returns.
[[nodiscard]] Task<void> write_series_rows(Table& table, std::vector<Bytes> tsuids);
// Deletes rows. Durable when it returns; after an error some may be deleted.
[[nodiscard]] Task<void> delete_series_rows(Table& table, std::vector<Bytes> tsuids);

// Whether each tsuid has a row, in order.
[[nodiscard]] Task<std::vector<bool>> have_series_rows(Table& table, std::vector<Bytes> tsuids);

// Rows whose key begins with prefix, keys only.
[[nodiscard]] std::unique_ptr<Scanner> scan_series_rows(Table& table, BytesView prefix,
                                                        const ReadContext& context);

}  // namespace halite::storage
