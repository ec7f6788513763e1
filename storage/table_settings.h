// What a point table was made with, kept next to it and compared at every opening.
#pragma once

#include <optional>
#include <string>

#include "common/task.h"
#include "storage/schema/table_parameters.h"
#include "storage/wide_column.h"

namespace halite::storage {

[[nodiscard]] TableSpec settings_table_spec(std::string name);

// What `data_table` was made with; nothing when it was not made yet.
Task<std::optional<TableParameters>> read_parameters(std::shared_ptr<Table> settings,
                                                     std::string data_table);

// Writes the parameters of a new table, or compares: kConflict, naming both values.
Task<void> settle_parameters(std::shared_ptr<Table> settings, std::string data_table,
                             TableParameters configured);

}  // namespace halite::storage
