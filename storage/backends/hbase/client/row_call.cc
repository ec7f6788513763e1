// Over 400 lines because all calls share the attempt and the reading of its answer.
#include "storage/backends/hbase/client/row_call.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/gather.h"
#include "storage/backends/hbase/client/batch.h"
#include "storage/backends/hbase/messages/mutation_message.h"
#include "storage/backends/hbase/proto/client.pb.h"

namespace halite::storage::hbase {

namespace {

constexpr const char* kComparators = "org.apache.hadoop.hbase.filter.";

struct RowAnswer {
  std::vector<Cell> cells;
  bool processed = false;
};

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

// One attempt, at the server that has the row now. `request` makes the message for a region. Errors
// update the region cache.
template <class Request>
RemoteTask<RowAnswer> attempt(ClientContextPtr context, std::string table, Bytes row,
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

// Without `expected`, the cell must not exist.
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

constexpr std::size_t kRowsAtOnce = 64;
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

// Sends the request until there is an answer.
struct Final {
  RowAnswer answer;
  bool doubt = false;       // an attempt before the last may have been applied
  bool no_counter = false;  // nothing was changed: a cell is not a counter
};

template <class Request>
Task<Final> send_until_answered(ClientContextPtr context, std::string table, Bytes row,
                                Request request, Bytes cellblock) {
  Final last;
  Retry retry(context, context->options.operation_ms_max, Subject::kRows);
  for (;;) {
    RemoteTask<RowAnswer> trying =
        attempt(context, table, row, request, cellblock, retry.call_ms());
    Outcome<RowAnswer> answer = co_await std::move(trying);
    if (answer) {
      last.answer = *std::move(answer);
      co_return last;
    }
    last.no_counter = is_no_counter(answer.error());
    if (last.no_counter) co_return last;
    last.doubt = last.doubt || answer.error().maybe_done;
    Task<void> pausing = retry.after(answer.error());
    CO_TRY_VOID(co_await std::move(pausing));
  }
}

// See add_to_counters().
Task<Final> add_by_nonce(ClientContextPtr context, std::string table, const RowAdd& add,
                         Sign sign) {
  pb::MutateRequest request;
  Bytes cellblock;
  write_increment(add, sign, context->options.durability, *request.mutable_mutation(), cellblock);
  request.mutable_mutation()->set_nonce(context->nonce());
  request.set_nonce_group(context->nonce_group);
  Task<Final> sending = send_until_answered(context, std::move(table), add.row, std::move(request),
                                            std::move(cellblock));
  CO_TRY(Final last, co_await std::move(sending));
  last.answer.processed = true;
  co_return last;
}

// Adds and writes the mark if there is none; or undoes that if the mark is still `mark`. No nonce:
// HBase ignores it here, and the mark does more.
Task<Final> add_by_mark(ClientContextPtr context, std::string table, const RowAdd& add, Bytes mark,
                        Sign sign) {
  pb::MultiRequest request;
  Bytes cellblock;
  pb::RegionAction& actions = *request.add_region_action();
  const Durability durability = context->options.durability;
  actions.set_atomic(true);
  const bool adds = sign == Sign::kAdd;
  std::optional<Bytes> expected;
  if (!adds) expected = mark;
  set_condition(*actions.mutable_condition(), *add.once, expected);
  if (!add.deltas.empty()) {
    write_increment(add, sign, durability, *actions.add_action()->mutable_mutation(), cellblock);
  }
  RowMutation marking{.row = add.row, .puts = {}, .deletes = {}};
  pb::MutationProto& second = *actions.add_action()->mutable_mutation();
  if (adds) {
    marking.puts.push_back({add.once->family, add.once->qualifier, std::move(mark), 0});
    write_puts(marking, durability, second, cellblock);
  } else {
    // This version only, which hides no mark that is written later.
    marking.deletes.push_back({DeleteKind::kVersion, add.once->family, add.once->qualifier, 0});
    write_deletes(marking, durability, second, cellblock);
  }
  for (int i = 0; i < actions.action_size(); ++i) {
    actions.mutable_action(i)->set_index(static_cast<std::uint32_t>(i));
  }
  Task<Final> sending = send_until_answered(context, std::move(table), add.row, std::move(request),
                                            std::move(cellblock));
  co_return co_await std::move(sending);
}

Task<std::vector<Cell>> read_cells(ClientContextPtr context, std::string table, Bytes row,
                                   std::vector<FamilyColumns> columns) {
  std::vector<RowGet> reads(1);
  reads[0] = {.row = std::move(row), .columns = std::move(columns)};
  Task<std::vector<Row>> reading =
      read_rows(std::move(context), std::move(table), std::move(reads));
  CO_TRY(std::vector<Row> rows, co_await std::move(reading));
  co_return std::move(rows.front().cells);
}

// The counters after the request, from its answer. A repeated request may have an answer without
// them; then they are read, and include what others have added since.
Task<std::vector<Cell>> counters_after(ClientContextPtr context, std::string table,
                                       const RowAdd& add, Final last) {
  if (last.answer.processed && last.answer.cells.size() == add.deltas.size()) {
    co_return std::move(last.answer.cells);
  }
  std::vector<FamilyColumns> columns;
  for (const RowAdd::Delta& one : add.deltas) {  // sorted
    if (columns.empty() || columns.back().family != one.family) {
      columns.push_back({.family = one.family, .qualifiers = {}});
    }
    columns.back().qualifiers.push_back(one.qualifier);
  }
  Task<std::vector<Cell>> reading =
      read_cells(std::move(context), std::move(table), add.row, std::move(columns));
  co_return co_await std::move(reading);
}

// HBase's sums wrap. Both lists are sorted by column.
bool wrapped(const RowAdd& add, const std::vector<Cell>& counters) {
  auto counter = counters.begin();
  for (const RowAdd::Delta& one : add.deltas) {
    const auto place = std::tie(one.family, one.qualifier);
    while (counter != counters.end() && std::tie(counter->family, counter->qualifier) < place) {
      ++counter;
    }
    if (counter == counters.end()) return false;
    const bool here = std::tie(counter->family, counter->qualifier) == place;
    if (!here || counter->value.size() != sizeof one.delta) continue;
    std::int64_t before = 0;
    const auto sum = static_cast<std::int64_t>(load_be<std::uint64_t>(counter->value.data()));
    if (__builtin_sub_overflow(sum, one.delta, &before)) return true;
  }
  return false;
}

constexpr std::uint32_t kNextMillisecond = 2;

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

namespace {

// What follows an addition: undoes it if a sum does not fit. `mark` is this call's mark, if it
// writes one.
Task<RowAddResult> finish_add(ClientContextPtr context, std::string table, const RowAdd& add,
                              Bytes mark, Final added) {
  Task<std::vector<Cell>> counting = counters_after(context, table, add, std::move(added));
  CO_TRY(std::vector<Cell> counters, co_await std::move(counting));
  if (!wrapped(add, counters)) co_return RowAddResult{AddOutcome::kAdded, std::move(counters)};

  // The delete hides every mark of the same millisecond.
  Task<void> pausing = context->pauses->pause(kNextMillisecond);
  CO_TRY_VOID(co_await std::move(pausing));
  Task<Final> undoing = add.once ? add_by_mark(context, table, add, std::move(mark), Sign::kUndo)
                                 : add_by_nonce(context, table, add, Sign::kUndo);
  CO_TRY(Final undone, co_await std::move(undoing));
  Task<std::vector<Cell>> recounting = counters_after(context, table, add, std::move(undone));
  CO_TRY(counters, co_await std::move(recounting));
  co_return RowAddResult{AddOutcome::kOverflow, std::move(counters)};
}

Task<RowAddResult> add_once(ClientContextPtr context, std::string table, const RowAdd& add) {
  Bytes mark;  // not empty, which HBase treats as no cell; tells this call's mark from another's
  append_be(mark, context->nonce());
  Task<Final> adding = add_by_mark(context, table, add, mark, Sign::kAdd);
  CO_TRY(Final added, co_await std::move(adding));
  if (added.no_counter) co_return RowAddResult{AddOutcome::kNoCounter, {}};
  if (!added.answer.processed && !added.doubt) co_return RowAddResult{AddOutcome::kRepeated, {}};
  if (!added.answer.processed) {
    std::vector<FamilyColumns> columns(1);
    columns[0] = {.family = add.once->family, .qualifiers = {add.once->qualifier}};
    Task<std::vector<Cell>> reading = read_cells(context, table, add.row, std::move(columns));
    CO_TRY(const std::vector<Cell> marks, co_await std::move(reading));
    if (marks.empty()) {
      co_return fail(Errc::kUnavailable, "HBase lost an answer, and the mark has expired since");
    }
    if (marks.front().value != mark) co_return RowAddResult{AddOutcome::kRepeated, {}};
  }
  Task<RowAddResult> finishing =
      finish_add(std::move(context), std::move(table), add, std::move(mark), std::move(added));
  co_return co_await std::move(finishing);
}

}  // namespace

Task<std::vector<RowAddResult>> add_to_rows(ClientContextPtr context, std::string table,
                                            std::vector<RowAdd> adds) {
  const auto by_column = [](const RowAdd::Delta& a, const RowAdd::Delta& b) {
    return std::tie(a.family, a.qualifier) < std::tie(b.family, b.qualifier);
  };
  std::vector<std::size_t> plain;  // additions that HBase may take in a batch
  std::vector<RowAdd> batch;       // these
  std::vector<std::size_t> marked;
  std::vector<Task<RowAddResult>> markings;
  for (std::size_t i = 0; i < adds.size(); ++i) {
    std::ranges::sort(adds[i].deltas, by_column);
    if (adds[i].once) {
      marked.push_back(i);
      markings.push_back(add_once(context, table, adds[i]));
    } else if (!adds[i].deltas.empty()) {
      plain.push_back(i);
      batch.push_back(adds[i]);
    }
  }
  std::vector<RowAddResult> results(adds.size());
  auto gathering = gather(std::move(markings), kRowsAtOnce);
  std::vector<Result<RowAddResult>> marks = co_await std::move(gathering);
  for (std::size_t i = 0; i < marks.size(); ++i) {
    CO_TRY(results[marked[i]], std::move(marks[i]));
  }
  Task<std::vector<CountersAfter>> adding = add_to_counters(context, table, std::move(batch));
  CO_TRY(std::vector<CountersAfter> counters, co_await std::move(adding));
  // Few need more: their answers were lost, or their sums do not fit.
  std::vector<std::size_t> unfinished;
  std::vector<Task<RowAddResult>> finishings;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const RowAdd& add = adds[plain[i]];
    RowAddResult& result = results[plain[i]];
    if (!counters[i]) {
      result.outcome = AddOutcome::kNoCounter;
    } else if (counters[i]->size() == add.deltas.size() && !wrapped(add, *counters[i])) {
      result.counters = *std::move(counters[i]);
    } else {
      Final added{.answer = {.cells = *std::move(counters[i]), .processed = true}};
      unfinished.push_back(plain[i]);
      finishings.push_back(finish_add(context, table, add, Bytes(), std::move(added)));
    }
  }
  auto finishing = gather(std::move(finishings), kRowsAtOnce);
  std::vector<Result<RowAddResult>> finished = co_await std::move(finishing);
  for (std::size_t i = 0; i < finished.size(); ++i) {
    CO_TRY(results[unfinished[i]], std::move(finished[i]));
  }
  co_return results;
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
