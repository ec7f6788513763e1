// Converts changes and reads of rows to messages and cells.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/bytes/bytes.h"
#include "storage/backends/hbase/messages/data.h"
#include "storage/backends/hbase/proto/client.pb.h"
#include "storage/backends/hbase/rpc/cellblock.h"
#include "storage/backends/hbase/rpc/options.h"

namespace halite::storage::hbase {

// Checks row, family and value lengths against HBase's rules: kInvalidArgument or kTooLarge.
[[nodiscard]] Result<void> check_row(BytesView row);
[[nodiscard]] Result<void> check_mutation(const RowMutation& mutation,
                                          const ClientOptions& options);
[[nodiscard]] Result<void> check_append(const CellAppend& append, const ClientOptions& options);
[[nodiscard]] Result<void> check_family(BytesView family);

[[nodiscard]] std::size_t mutation_bytes(const RowMutation& mutation);
[[nodiscard]] std::size_t append_bytes(const CellAppend& append);

// Writes one Put message with its cells in the cellblock; write_deletes() does so for deletes.
void write_puts(const RowMutation& mutation, Durability durability, pb::MutationProto& to,
                Bytes& cells);
void write_deletes(const RowMutation& mutation, Durability durability, pb::MutationProto& to,
                   Bytes& cells);

// The server does not return the new cell.
void write_append(const CellAppend& append, std::uint64_t nonce, Durability durability,
                  pb::MutationProto& to, Bytes& cells);

// Adds the deltas, or takes them away again.
enum class Sign : std::uint8_t { kAdd, kUndo };
void write_increment(const RowAdd& add, Sign sign, Durability durability, pb::MutationProto& to,
                     Bytes& cells);
[[nodiscard]] std::size_t add_bytes(const RowAdd& add);

void write_get(const RowGet& get, pb::Get& to);
void write_columns(const FamilyColumns& columns, pb::Column& to);
// Of a Get or a Scan that also returns deleted cells and delete markers.
void write_raw(pb::NameBytesPair& attribute);

[[nodiscard]] Cell cell_from(const CellView& view);
[[nodiscard]] Cell cell_from(const pb::Cell& message);

// Converts 0 to HBase's "now".
[[nodiscard]] std::uint64_t wire_time(TimestampMs time);

}  // namespace halite::storage::hbase
