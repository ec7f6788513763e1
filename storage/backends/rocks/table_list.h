// The entry of a table in the column family "default", as JSON:
//   {"families":[{"name":"t","ttl_ms":0}]}
#pragma once

#include <string>
#include <vector>

#include "common/result.h"
#include "storage/api/wide_column.h"

namespace halite::storage::rocks {

[[nodiscard]] std::string table_text(const std::vector<FamilySpec>& families);

// kCorruption: the text is not one that table_text() writes.
[[nodiscard]] Result<std::vector<FamilySpec>> parse_table_text(std::string_view text);

}  // namespace halite::storage::rocks
