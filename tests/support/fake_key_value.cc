#include "tests/support/fake_key_value.h"

#include <cstddef>

#include "common/check.h"

namespace halite::test {
namespace {

namespace pb = storage::hbase::pb;

FakeChange take_cell(BytesView& block) {
  const auto take = [&block](std::size_t bytes) {
    HALITE_CHECK(bytes <= block.size(), "a cellblock is too short");
    const BytesView taken = block.substr(0, bytes);
    block.remove_prefix(bytes);
    return taken;
  };
  const auto total = load_be<std::uint32_t>(take(4).data());
  const auto key = load_be<std::uint32_t>(take(4).data());
  const auto value = load_be<std::uint32_t>(take(4).data());
  HALITE_CHECK(total == 8 + key + value, "a cell's lengths contradict each other");
  FakeChange change;
  change.cell.row = take(load_be<std::uint16_t>(take(2).data()));
  change.cell.family = take(load_be<std::uint8_t>(take(1).data()));
  change.cell.qualifier = take(key - 12 - change.cell.row.size() - change.cell.family.size());
  change.cell.time = load_be<std::uint64_t>(take(8).data());
  change.kind = load_be<std::uint8_t>(take(1).data());
  change.cell.value = take(value);
  return change;
}

std::uint8_t kind_of(const pb::MutationProto& mutation, std::uint32_t delete_type) {
  constexpr std::uint8_t kKinds[] = {8, 12, 14, 10};
  return mutation.mutate_type() == pb::MutationProto::DELETE ? kKinds[delete_type % 4] : kPutType;
}

}  // namespace

void append_cell(Bytes& to, const FakeCell& cell) {
  const std::size_t key = 12 + cell.row.size() + cell.family.size() + cell.qualifier.size();
  append_be(to, static_cast<std::uint32_t>(8 + key + cell.value.size()));
  append_be(to, static_cast<std::uint32_t>(key));
  append_be(to, static_cast<std::uint32_t>(cell.value.size()));
  append_be(to, static_cast<std::uint16_t>(cell.row.size()));
  to += cell.row;
  append_be(to, static_cast<std::uint8_t>(cell.family.size()));
  to += cell.family + cell.qualifier;
  append_be(to, cell.time);
  append_be(to, kPutType);
  to += cell.value;
}

std::vector<FakeChange> changes_of(const pb::MutationProto& mutation, BytesView& cellblock) {
  std::vector<FakeChange> changes;
  for (int i = 0; i < mutation.associated_cell_count(); ++i) {
    changes.push_back(take_cell(cellblock));
  }
  for (const pb::ColumnValue& column : mutation.column_value()) {
    for (const auto& value : column.qualifier_value()) {
      const std::uint64_t time = value.has_timestamp() ? value.timestamp() : kLatestTime;
      changes.push_back({{mutation.row(), column.family(), value.qualifier(), time, value.value()},
                         kind_of(mutation, value.delete_type())});
    }
  }
  return changes;
}

}  // namespace halite::test
