// Converts tables' names and descriptions to messages.
#pragma once

#include <string>

#include "storage/backends/hbase/messages/table_descriptor.h"
#include "storage/backends/hbase/proto/admin.pb.h"

namespace halite::storage::hbase {

// Accepts "namespace:table", or "table" for the namespace "default".
[[nodiscard]] pb::TableName table_name(const std::string& table);
[[nodiscard]] std::string table_text(const pb::TableName& name);

[[nodiscard]] pb::TableSchema schema_from(const TableDescriptor& table);
[[nodiscard]] TableDescriptor descriptor_from(const pb::TableSchema& schema);

}  // namespace halite::storage::hbase
