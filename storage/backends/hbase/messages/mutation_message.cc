#include "storage/backends/hbase/messages/mutation_message.h"

#include <limits>

#include <fmt/format.h>

namespace halite::storage::hbase {

namespace {

constexpr std::size_t kRowBytesMax = 32767;
constexpr std::size_t kFamilyBytesMax = 127;
constexpr std::size_t kMessageBytes = 32;  // of a mutation, without its cells

CellKind kind_of(const CellDelete& change) {
  switch (change.kind) {
    case DeleteKind::kVersion:
      return CellKind::kDeleteVersion;
    case DeleteKind::kVersions:
      return CellKind::kDeleteVersions;
    case DeleteKind::kFamily:
      break;
  }
  return CellKind::kDeleteFamily;
}

CellView put_view(BytesView row, const Cell& cell) {
  return {.row = row,
          .family = cell.family,
          .qualifier = cell.qualifier,
          .time = wire_time(cell.time),
          .kind = CellKind::kPut,
          .value = cell.value};
}

CellView append_view(const CellAppend& append) {
  return {.row = append.cell.row,
          .family = append.cell.family,
          .qualifier = append.cell.qualifier,
          .time = wire_time(append.time),
          .kind = CellKind::kPut,
          .value = append.value};
}

CellView delta_view(BytesView row, const RowAdd::Delta& one, BytesView amount) {
  return {.row = row,
          .family = one.family,
          .qualifier = one.qualifier,
          .time = wire_time(0),
          .kind = CellKind::kPut,
          .value = amount};
}

CellView delete_view(BytesView row, const CellDelete& change) {
  const bool whole_family = change.kind == DeleteKind::kFamily;
  return {.row = row,
          .family = change.family,
          .qualifier = whole_family ? BytesView() : BytesView(change.qualifier),
          .time = wire_time(change.time),
          .kind = kind_of(change),
          .value = {}};
}

void set_head(pb::MutationProto& to, pb::MutationProto::MutationType type, Durability durability,
              std::size_t cells) {
  to.set_mutate_type(type);
  if (durability != Durability::kTableDefault) {
    to.set_durability(static_cast<std::uint32_t>(durability));
  }
  to.set_associated_cell_count(static_cast<std::int32_t>(cells));
}

}  // namespace

std::uint64_t wire_time(TimestampMs time) {
  return time == 0 ? kLatestTime : static_cast<std::uint64_t>(time);
}

Result<void> check_row(BytesView row) {
  if (!row.empty() && row.size() <= kRowBytesMax) return {};
  return fail(
      Errc::kInvalidArgument,
      fmt::format("a row key of {} bytes; 1 to {} bytes are allowed", row.size(), kRowBytesMax));
}

Result<void> check_family(BytesView family) {
  if (!family.empty() && family.size() <= kFamilyBytesMax) return {};
  return fail(Errc::kInvalidArgument, fmt::format("a family of {} bytes; 1 to {} are allowed",
                                                  family.size(), kFamilyBytesMax));
}

Result<void> check_mutation(const RowMutation& mutation, const ClientOptions& options) {
  TRY_VOID(check_row(mutation.row));
  for (const Cell& cell : mutation.puts) {
    TRY_VOID(check_family(cell.family));
    if (cell.time < 0) return fail(Errc::kInvalidArgument, "a cell's time is below 0");
    if (cell_bytes(put_view(mutation.row, cell)) > options.value_bytes_max) {
      return fail(Errc::kTooLarge,
                  fmt::format("a cell of {} bytes; at most {} are allowed",
                              cell_bytes(put_view(mutation.row, cell)), options.value_bytes_max));
    }
  }
  for (const CellDelete& change : mutation.deletes) {
    TRY_VOID(check_family(change.family));
    if (change.time < 0) return fail(Errc::kInvalidArgument, "a delete's time is below 0");
  }
  return {};
}

Result<void> check_append(const CellAppend& append, const ClientOptions& options) {
  TRY_VOID(check_row(append.cell.row));
  TRY_VOID(check_family(append.cell.family));
  const std::size_t bytes = cell_bytes(append_view(append));
  if (bytes <= options.value_bytes_max) return {};
  return fail(Errc::kTooLarge, fmt::format("an addition of {} bytes; {} are allowed", bytes,
                                           options.value_bytes_max));
}

std::size_t append_bytes(const CellAppend& append) {
  return kMessageBytes + append.cell.row.size() + cell_bytes(append_view(append));
}

std::size_t add_bytes(const RowAdd& add) {
  std::size_t bytes = kMessageBytes + add.row.size();
  for (const RowAdd::Delta& one : add.deltas) {
    bytes += cell_bytes(delta_view(add.row, one, BytesView()));
    bytes += sizeof one.delta;
  }
  return bytes;
}

std::size_t mutation_bytes(const RowMutation& mutation) {
  std::size_t bytes = kMessageBytes + mutation.row.size();
  for (const Cell& cell : mutation.puts) bytes += cell_bytes(put_view(mutation.row, cell));
  for (const CellDelete& change : mutation.deletes) {
    bytes += cell_bytes(delete_view(mutation.row, change));
  }
  return bytes;
}

void write_puts(const RowMutation& mutation, Durability durability, pb::MutationProto& to,
                Bytes& cells) {
  to.set_row(mutation.row);
  set_head(to, pb::MutationProto::PUT, durability, mutation.puts.size());
  for (const Cell& cell : mutation.puts) append_cell(cells, put_view(mutation.row, cell));
}

void write_deletes(const RowMutation& mutation, Durability durability, pb::MutationProto& to,
                   Bytes& cells) {
  to.set_row(mutation.row);
  set_head(to, pb::MutationProto::DELETE, durability, mutation.deletes.size());
  for (const CellDelete& change : mutation.deletes) {
    append_cell(cells, delete_view(mutation.row, change));
  }
}

void write_append(const CellAppend& append, std::uint64_t nonce, Durability durability,
                  pb::MutationProto& to, Bytes& cells) {
  to.set_row(append.cell.row);
  set_head(to, pb::MutationProto::APPEND, durability, 1);
  to.set_nonce(nonce);
  pb::NameBytesPair& results = *to.add_attribute();
  results.set_name("_rr_");
  results.set_value(Bytes(1, '\0'));
  append_cell(cells, append_view(append));
}

void write_increment(const RowAdd& add, Sign sign, Durability durability, pb::MutationProto& to,
                     Bytes& cells) {
  to.set_row(add.row);
  set_head(to, pb::MutationProto::INCREMENT, durability, add.deltas.size());
  for (const RowAdd::Delta& one : add.deltas) {
    const auto delta = static_cast<std::uint64_t>(one.delta);
    Bytes amount;
    append_be(amount, sign == Sign::kAdd ? delta : 0 - delta);
    append_cell(cells, delta_view(add.row, one, amount));
  }
}

void write_columns(const FamilyColumns& columns, pb::Column& to) {
  to.set_family(columns.family);
  for (const Bytes& qualifier : columns.qualifiers) to.add_qualifier(qualifier);
}

void write_raw(pb::NameBytesPair& attribute) {
  attribute.set_name("_raw_");
  attribute.set_value(Bytes(1, '\1'));
}

void write_get(const RowGet& get, pb::Get& to) {
  to.set_row(get.row);
  for (const FamilyColumns& columns : get.columns) write_columns(columns, *to.add_column());
  if (!get.all_versions) {
    to.set_max_versions(1);
    return;
  }
  // Without this attribute a region server returns at most the family's number of versions. It may
  // have more, and deletes can make any of them visible.
  write_raw(*to.add_attribute());
  to.set_max_versions(std::numeric_limits<std::int32_t>::max());
}

Cell cell_from(const CellView& view) {
  return {.family = Bytes(view.family),
          .qualifier = Bytes(view.qualifier),
          .value = Bytes(view.value),
          .time = static_cast<TimestampMs>(view.time)};
}

Cell cell_from(const pb::Cell& message) {
  return {.family = message.family(),
          .qualifier = message.qualifier(),
          .value = message.value(),
          .time = static_cast<TimestampMs>(message.timestamp())};
}

}  // namespace halite::storage::hbase
