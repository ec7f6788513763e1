// Operations of the master and the region servers on whole tables and regions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/threads/task.h"
#include "storage/backends/hbase/client/client_context.h"
#include "storage/backends/hbase/messages/table_descriptor.h"

namespace halite::storage::hbase {

[[nodiscard]] Task<void> create_table(ClientContextPtr context, TableDescriptor table,
                                      std::vector<Bytes> split_keys);
[[nodiscard]] Task<std::optional<TableDescriptor>> describe_table(ClientContextPtr context,
                                                                  std::string table);
[[nodiscard]] Task<std::optional<TableState>> table_state(ClientContextPtr context,
                                                          std::string table);
[[nodiscard]] Task<void> modify_table(ClientContextPtr context, TableDescriptor table);
[[nodiscard]] Task<void> enable_table(ClientContextPtr context, std::string table);
[[nodiscard]] Task<void> disable_table(ClientContextPtr context, std::string table);
[[nodiscard]] Task<void> drop_table(ClientContextPtr context, std::string table);

[[nodiscard]] Task<void> flush_table(ClientContextPtr context, std::string table);
[[nodiscard]] Task<void> compact_regions(ClientContextPtr context, std::string table,
                                         std::vector<Bytes> names);
[[nodiscard]] Task<std::vector<ServerStatus>> server_statuses(ClientContextPtr context);
[[nodiscard]] Task<std::vector<RegionStatus>> region_statuses(ClientContextPtr context,
                                                              std::string table);

}  // namespace halite::storage::hbase
