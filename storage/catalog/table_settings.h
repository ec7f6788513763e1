// The parameters of a point table, stored in the settings table and compared at every start.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/threads/task.h"
#include "storage/api/wide_column.h"
#include "storage/catalog/names/name_bytes.h"
#include "storage/cells/layouts/table_parameters.h"

namespace halite::storage {

[[nodiscard]] TableSpec settings_table_spec(std::string name);

// The parameters of `data_table`; nullopt if it does not exist yet.
Task<std::optional<TableParameters>> read_parameters(std::shared_ptr<Table> settings,
                                                     std::string data_table);

// Writes the parameters of a new table or compares them: kInvalidArgument, naming both values.
Task<void> write_or_compare_parameters(std::shared_ptr<Table> settings, std::string data_table,
                                       TableParameters configured);

// The form of names in a name table that other processes may write, decided when it is first
// opened. kMixed if the settings have parameters of any data table, because an earlier version may
// have stored names in UTF-8 in this table. kUnsupported: a later version decided.
Task<NameForm> choose_name_form(std::shared_ptr<Table> settings, std::string uid_table);

}  // namespace halite::storage
