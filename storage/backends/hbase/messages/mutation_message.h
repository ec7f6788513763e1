// Rows' changes and reads as messages and cells.
#pragma once

#include "common/bytes.h"
#include "storage/backends/hbase/messages/data.h"
#include "storage/backends/hbase/proto/client.pb.h"
#include "storage/backends/hbase/rpc/cellblock.h"
#include "storage/backends/hbase/rpc/options.h"

namespace halite::storage::hbase {

// Row, family and value lengths within HBase's rules; kInvalidArgument or kTooLarge says which.
[[nodiscard]] Result<void> check_row(BytesView row);
[[nodiscard]] Result<void> check_mutation(const RowMutation& mutation,
                                          const ClientOptions& options);
[[nodiscard]] Result<void> check_append(const CellAppend& append, const ClientOptions& options);
[[nodiscard]] Result<void> check_family(BytesView family);

[[nodiscard]] std::size_t mutation_bytes(const RowMutation& mutation);
[[nodiscard]] std::size_t append_bytes(const CellAppend& append);

// One Put message whose cells go to the cellblock; the same for its deletes.
void write_puts(const RowMutation& mutation, Durability durability, pb::MutationProto& to,
                Bytes& cells);
void write_deletes(const RowMutation& mutation, Durability durability, pb::MutationProto& to,
                   Bytes& cells);

// Without the cell that it becomes as an answer.
void write_append(const CellAppend& append, std::uint64_t nonce, Durability durability,
                  pb::MutationProto& to, Bytes& cells);

void write_get(const RowGet& get, pb::Get& to);
void write_columns(const FamilyColumns& columns, pb::Column& to);

[[nodiscard]] Cell cell_from(const CellView& view);
[[nodiscard]] Cell cell_from(const pb::Cell& message);

// HBase's "now" for 0.
[[nodiscard]] std::uint64_t wire_time(TimestampMs time);

}  // namespace halite::storage::hbase
