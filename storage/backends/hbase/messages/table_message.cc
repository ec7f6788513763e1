#include "storage/backends/hbase/messages/table_message.h"

namespace halite::storage::hbase {

namespace {

constexpr const char* kDefaultNamespace = "default";

template <class Message>
void write_maps(const Attributes& attributes, const Attributes& configuration, Message& to) {
  for (const auto& [name, value] : attributes) {
    pb::BytesBytesPair& pair = *to.add_attributes();
    pair.set_first(name);
    pair.set_second(value);
  }
  for (const auto& [name, value] : configuration) {
    pb::NameStringPair& pair = *to.add_configuration();
    pair.set_name(name);
    pair.set_value(value);
  }
}

template <class Message>
void read_maps(const Message& from, Attributes& attributes, Attributes& configuration) {
  for (const pb::BytesBytesPair& pair : from.attributes()) {
    attributes.insert_or_assign(pair.first(), pair.second());
  }
  for (const pb::NameStringPair& pair : from.configuration()) {
    configuration.insert_or_assign(pair.name(), pair.value());
  }
}

}  // namespace

pb::TableName table_name(const std::string& table) {
  const std::size_t colon = table.find(':');
  pb::TableName name;
  name.set_namespace_(colon == std::string::npos ? kDefaultNamespace : table.substr(0, colon));
  name.set_qualifier(colon == std::string::npos ? table : table.substr(colon + 1));
  return name;
}

std::string table_text(const pb::TableName& name) {
  if (name.namespace_().empty() || name.namespace_() == kDefaultNamespace) return name.qualifier();
  return name.namespace_() + ":" + name.qualifier();
}

pb::TableSchema schema_from(const TableDescriptor& table) {
  pb::TableSchema schema;
  *schema.mutable_table_name() = table_name(table.name);
  write_maps(table.attributes, table.configuration, schema);
  for (const FamilyDescriptor& family : table.families) {
    pb::ColumnFamilySchema& to = *schema.add_column_families();
    to.set_name(family.name);
    write_maps(family.attributes, family.configuration, to);
  }
  return schema;
}

TableDescriptor descriptor_from(const pb::TableSchema& schema) {
  TableDescriptor table;
  table.name = table_text(schema.table_name());
  read_maps(schema, table.attributes, table.configuration);
  for (const pb::ColumnFamilySchema& from : schema.column_families()) {
    FamilyDescriptor& family = table.families.emplace_back();
    family.name = from.name();
    read_maps(from, family.attributes, family.configuration);
  }
  return table;
}

}  // namespace halite::storage::hbase
