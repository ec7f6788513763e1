#include "storage/backends/hbase/client/row_attempt.h"

#include <type_traits>
#include <utility>

#include "storage/backends/hbase/messages/mutation_message.h"

namespace halite::storage::hbase {

namespace {

constexpr const char* kComparators = "org.apache.hadoop.hbase.filter.";

Outcome<RowAnswer> read_answer(const Reply& reply) {
  pb::MutateResponse response;
  if (!response.ParseFromArray(reply.message.data(), static_cast<int>(reply.message.size()))) {
    return give_up(Errc::kInternal, "HBase returned an invalid answer to a write");
  }
  RowAnswer answer;
  answer.processed = response.processed();
  for (const pb::Cell& cell : response.result().cell()) answer.cells.push_back(cell_from(cell));
  CellReader reader(reply.cellblock);
  while (!reader.at_end()) {
    const Result<CellView> cell = reader.next();
    if (!cell) return std::unexpected(Fault{.error = cell.error(), .moved = {}});
    answer.cells.push_back(cell_from(*cell));
  }
  return answer;
}

// The answer to a Multi with one region action.
Outcome<RowAnswer> read_multi_answer(const Reply& reply, const std::string& server) {
  pb::MultiResponse response;
  const bool parsed =
      response.ParseFromArray(reply.message.data(), static_cast<int>(reply.message.size()));
  if (!parsed || response.region_action_result_size() != 1) {
    return give_up(Errc::kInternal, "HBase returned an invalid answer to a write");
  }
  const pb::RegionActionResult& result = response.region_action_result(0);
  const auto faulty = [&server](const pb::NameBytesPair& exception) {
    return std::unexpected(
        classify(exception_from_text(exception.name(), exception.value()), server));
  };
  if (result.has_exception()) return faulty(result.exception());
  for (const pb::ResultOrException& entry : result.result_or_exception()) {
    if (entry.has_exception()) return faulty(entry.exception());
  }
  RowAnswer answer;
  answer.processed = result.processed();
  CellReader reader(reply.cellblock);
  for (const pb::ResultOrException& entry : result.result_or_exception()) {
    for (const pb::Cell& cell : entry.result().cell()) answer.cells.push_back(cell_from(cell));
    for (int i = 0; i < entry.result().associated_cell_count(); ++i) {
      const Result<CellView> cell = reader.next();
      if (!cell) return std::unexpected(Fault{.error = cell.error(), .moved = {}});
      answer.cells.push_back(cell_from(*cell));
    }
  }
  return answer;
}

template <class Request>
RemoteTask<RowAnswer> attempt_any(ClientContextPtr context, std::string table, Bytes row,
                                  Request request, Bytes cellblock, std::uint32_t timeout_ms) {
  RemoteTask<RegionPtr> locating = context->locator.locate(table, std::move(row));
  Outcome<RegionPtr> region = co_await std::move(locating);
  if (!region) co_return std::unexpected(std::move(region).error());
  constexpr bool kMulti = std::is_same_v<Request, pb::MultiRequest>;
  if constexpr (kMulti) {
    set_region(*request.mutable_region_action(0)->mutable_region(), (*region)->name);
  } else {
    set_region(*request.mutable_region(), (*region)->name);
  }
  Call call{.method = kMulti ? "Multi" : "Mutate",
            .message = request.SerializeAsString(),
            .cellblock = std::move(cellblock),
            .timeout_ms = timeout_ms,
            .priority = {}};
  const Endpoint server = (*region)->server;
  RemoteTask<Reply> calling = context->servers.call(server, kClientService, std::move(call));
  const Outcome<Reply> reply = co_await std::move(calling);
  Outcome<RowAnswer> answer;
  if (!reply) {
    answer = std::unexpected(reply.error());
  } else if constexpr (kMulti) {
    answer = read_multi_answer(*reply, to_text(server));
  } else {
    answer = read_answer(*reply);
  }
  if (!answer) context->locator.learn(*region, answer.error());
  co_return answer;
}

}  // namespace

RemoteTask<RowAnswer> attempt(ClientContextPtr context, std::string table, Bytes row,
                              pb::MutateRequest request, Bytes cellblock,
                              std::uint32_t timeout_ms) {
  return attempt_any(std::move(context), std::move(table), std::move(row), std::move(request),
                     std::move(cellblock), timeout_ms);
}

RemoteTask<RowAnswer> attempt(ClientContextPtr context, std::string table, Bytes row,
                              pb::MultiRequest request, Bytes cellblock, std::uint32_t timeout_ms) {
  return attempt_any(std::move(context), std::move(table), std::move(row), std::move(request),
                     std::move(cellblock), timeout_ms);
}

void set_condition(pb::Condition& condition, const CellAddress& cell,
                   const std::optional<Bytes>& expected) {
  condition.set_row(cell.row);
  condition.set_family(cell.family);
  condition.set_qualifier(cell.qualifier);
  condition.set_compare_type(pb::EQUAL);
  pb::Comparator& comparator = *condition.mutable_comparator();
  if (!expected) {
    comparator.set_name(std::string(kComparators) + "NullComparator");
    comparator.set_serialized_comparator("");
    return;
  }
  pb::BinaryComparator binary;
  binary.mutable_comparable()->set_value(*expected);
  comparator.set_name(std::string(kComparators) + "BinaryComparator");
  comparator.set_serialized_comparator(binary.SerializeAsString());
}

}  // namespace halite::storage::hbase
