// What a point table was made with, kept next to it and compared at every opening.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/task.h"
#include "storage/api/wide_column.h"
#include "storage/catalog/names/name_bytes.h"
#include "storage/cells/layouts/table_parameters.h"

namespace halite::storage {

[[nodiscard]] TableSpec settings_table_spec(std::string name);

// What `data_table` was made with; nothing when it was not made yet.
Task<std::optional<TableParameters>> read_parameters(std::shared_ptr<Table> settings,
                                                     std::string data_table);

// Writes the parameters of a new table, or compares: kConflict, naming both values.
Task<void> write_or_compare_parameters(std::shared_ptr<Table> settings, std::string data_table,
                                       TableParameters configured);

// How names lie in a names table that other processes may write, decided when it is first opened:
// kMixed where the settings have parameters of any data table, since an earlier version may then
// have kept names in UTF-8 in this names table. kUnsupported: a later version decided.
Task<NameForm> choose_name_form(std::shared_ptr<Table> settings, std::string uid_table);

}  // namespace halite::storage
