#include "storage/backends/hbase/client/row_call.h"

#include <utility>
#include <vector>

#include "storage/backends/hbase/client/batch.h"
#include "storage/backends/hbase/client/row_attempt.h"
#include "storage/backends/hbase/messages/mutation_message.h"
#include "storage/backends/hbase/proto/client.pb.h"

namespace halite::storage::hbase {

namespace {

Bytes one_cell(const CellAddress& cell, BytesView value, TimestampMs time) {
  Bytes block;
  append_cell(block, {.row = cell.row,
                      .family = cell.family,
                      .qualifier = cell.qualifier,
                      .time = wire_time(time),
                      .kind = CellKind::kPut,
                      .value = value});
  return block;
}

void set_mutation(pb::MutationProto& mutation, pb::MutationProto::MutationType type,
                  const Bytes& row, Durability durability) {
  mutation.set_row(row);
  mutation.set_mutate_type(type);
  mutation.set_associated_cell_count(1);
  if (durability != Durability::kTableDefault) {
    mutation.set_durability(static_cast<std::uint32_t>(durability));
  }
}

constexpr int kUnsaidMax = 3;  // attempts whose answer has no sum

enum class Found : std::uint8_t { kOurs, kOther, kUnreadable };

// After a lost answer: reads whether the cell holds what this write would have left.
boost::asio::awaitable<Found> read_back(ClientContextPtr context, std::string table,
                                        const CheckAndPut& change) {
  std::vector<RowGet> reads(1);
  reads.front().row = change.cell.row;
  reads.front().columns.push_back(
      {.family = change.cell.family, .qualifiers = {change.cell.qualifier}});
  Task<std::vector<Row>> reading =
      read_rows(std::move(context), std::move(table), std::move(reads));
  const Result<std::vector<Row>> rows = co_await std::move(reading);
  if (!rows) co_return Found::kUnreadable;
  const std::vector<Cell>& cells = rows->front().cells;
  const bool ours = !cells.empty() && cells.front().value == change.value &&
                    (change.time == 0 || cells.front().time == change.time);
  co_return ours ? Found::kOurs : Found::kOther;
}

}  // namespace

Task<IncrementResult> increment_cell(ClientContextPtr context, std::string table, CellAddress cell,
                                     std::int64_t delta) {
  Bytes amount;
  append_be(amount, static_cast<std::uint64_t>(delta));
  const Bytes cellblock = one_cell(cell, amount, 0);
  pb::MutateRequest request;
  set_mutation(*request.mutable_mutation(), pb::MutationProto::INCREMENT, cell.row,
               context->options.durability);
  // All attempts share it, so HBase recognizes one that it has counted.
  request.mutable_mutation()->set_nonce(context->nonce());
  request.set_nonce_group(context->nonce_group);

  int unsaid = 0;
  Retry retry(context, context->options.operation_ms_max, Subject::kRows);
  for (;;) {
    RemoteTask<RowAnswer> trying =
        attempt(context, table, request.mutation().row(), request, cellblock, retry.call_ms());
    const Outcome<RowAnswer> answer = co_await std::move(trying);
    if (answer) {
      // A server that died counted an earlier attempt. The next server knows this from its log, but
      // not the sum. A read now would include other writers' increments, so it is counted once
      // more.
      if (answer->cells.empty() && ++unsaid <= kUnsaidMax) {
        request.mutable_mutation()->set_nonce(context->nonce());
        continue;
      }
      if (answer->cells.size() != 1 || answer->cells.front().value.size() != sizeof delta) {
        co_return fail(Errc::kUnavailable, "HBase did not return the value of a counter");
      }
      const Cell& counter = answer->cells.front();
      const auto sum = static_cast<std::int64_t>(load_be<std::uint64_t>(counter.value.data()));
      co_return IncrementResult{.sum = sum, .time = counter.time};
    }
    if (is_no_counter(answer.error())) {
      co_return fail(Errc::kInvalidArgument, answer.error().error.message);
    }
    Task<void> pausing = retry.after(answer.error());
    CO_TRY_VOID(co_await std::move(pausing));
  }
}

Task<CasOutcome> check_and_put_cell(ClientContextPtr context, std::string table,
                                    CheckAndPut change) {
  const Bytes cellblock = one_cell(change.cell, change.value, change.time);
  pb::MutateRequest request;
  set_mutation(*request.mutable_mutation(), pb::MutationProto::PUT, change.cell.row,
               context->options.durability);
  set_condition(*request.mutable_condition(), change.cell, change.expected);

  bool doubt = false;  // an attempt may have been applied without an answer
  Retry retry(context, context->options.operation_ms_max, Subject::kRows);
  for (;;) {
    RemoteTask<RowAnswer> trying =
        attempt(context, table, request.mutation().row(), request, cellblock, retry.call_ms());
    const Outcome<RowAnswer> answer = co_await std::move(trying);
    if (answer && answer->processed) co_return CasOutcome::kApplied;
    if (answer && !doubt) co_return CasOutcome::kRefused;
    if (answer) {
      // Refused because of an attempt of this call, or of another writer's value, perhaps over this
      // one's.
      auto reading = read_back(context, table, change);
      const Found found = co_await std::move(reading);
      co_return found == Found::kOurs ? CasOutcome::kApplied : CasOutcome::kUnknown;
    }
    doubt = doubt || answer.error().maybe_done;
    Task<void> pausing = retry.after(answer.error());
    const Result<void> paused = co_await std::move(pausing);
    if (!paused && doubt) co_return CasOutcome::kUnknown;
    if (!paused) co_return std::unexpected(paused.error());
  }
}

Task<CasOutcome> check_and_mutate_row(ClientContextPtr context, std::string table,
                                      CheckAndMutate change) {
  const RowMutation& mutation = change.mutation;
  pb::MultiRequest request;
  pb::RegionAction& actions = *request.add_region_action();
  actions.set_atomic(true);
  set_condition(*actions.mutable_condition(), {mutation.row, change.family, change.qualifier},
                change.expected);
  Bytes cellblock;
  const Durability durability = context->options.durability;
  if (!mutation.deletes.empty()) {
    write_deletes(mutation, durability, *actions.add_action()->mutable_mutation(), cellblock);
  }
  if (!mutation.puts.empty()) {
    write_puts(mutation, durability, *actions.add_action()->mutable_mutation(), cellblock);
  }
  for (int i = 0; i < actions.action_size(); ++i) {
    actions.mutable_action(i)->set_index(static_cast<std::uint32_t>(i));
  }
  bool doubt = false;  // an attempt may have been applied without an answer
  Retry retry(context, context->options.operation_ms_max, Subject::kRows);
  for (;;) {
    RemoteTask<RowAnswer> trying =
        attempt(context, table, mutation.row, request, cellblock, retry.call_ms());
    const Outcome<RowAnswer> answer = co_await std::move(trying);
    if (answer && answer->processed) co_return CasOutcome::kApplied;
    if (answer) co_return doubt ? CasOutcome::kUnknown : CasOutcome::kRefused;
    doubt = doubt || answer.error().maybe_done;
    Task<void> pausing = retry.after(answer.error());
    CO_TRY_VOID(co_await std::move(pausing));
  }
}

}  // namespace halite::storage::hbase
