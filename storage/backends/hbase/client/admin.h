// What the master and the region servers do with whole tables and regions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/task.h"
#include "storage/backends/hbase/client/core.h"
#include "storage/backends/hbase/messages/table_descriptor.h"

namespace halite::storage::hbase {

[[nodiscard]] Task<void> create_table(CorePtr core, TableDescriptor table,
                                      std::vector<Bytes> split_keys);
[[nodiscard]] Task<std::optional<TableDescriptor>> describe_table(CorePtr core, std::string table);
[[nodiscard]] Task<std::optional<TableState>> table_state(CorePtr core, std::string table);
[[nodiscard]] Task<void> modify_table(CorePtr core, TableDescriptor table);
[[nodiscard]] Task<void> enable_table(CorePtr core, std::string table);
[[nodiscard]] Task<void> disable_table(CorePtr core, std::string table);
[[nodiscard]] Task<void> drop_table(CorePtr core, std::string table);

[[nodiscard]] Task<void> flush_table(CorePtr core, std::string table);
[[nodiscard]] Task<void> compact_regions(CorePtr core, std::string table, std::vector<Bytes> names);
[[nodiscard]] Task<std::vector<ServerStatus>> server_statuses(CorePtr core);
[[nodiscard]] Task<std::vector<RegionStatus>> region_statuses(CorePtr core, std::string table);

}  // namespace halite::storage::hbase
