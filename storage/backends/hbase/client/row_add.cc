#include "storage/backends/hbase/client/row_add.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "common/gather.h"
#include "storage/backends/hbase/client/batch.h"
#include "storage/backends/hbase/client/row_attempt.h"
#include "storage/backends/hbase/messages/mutation_message.h"
#include "storage/backends/hbase/proto/client.pb.h"

namespace halite::storage::hbase {

namespace {

constexpr std::size_t kRowsAtOnce = 64;
constexpr std::uint32_t kNextMillisecond = 2;

// The counters of a row after an addition. Empty: an earlier attempt was applied, and its answer is
// lost. nullopt: a cell is not a counter, and nothing was added.
using CountersAfter = std::optional<std::vector<Cell>>;

// Of a region, at one server and since one opening.
bool same_opening(const Region& a, const Region& b) {
  return a.name == b.name && a.server == b.server && a.sequence == b.sequence;
}

class AddJob final : public BatchJob {
 public:
  AddJob(std::vector<RowAdd> adds, Sign sign, ClientContext& context)
      : adds_(std::move(adds)),
        sign_(sign),
        durability_(context.options.durability),
        nonce_group_(context.nonce_group),
        doubts_(adds_.size()),
        counters_(adds_.size()) {
    nonces_.reserve(adds_.size());
    while (nonces_.size() < adds_.size()) nonces_.push_back(context.nonce());
  }

  std::vector<CountersAfter> take_counters() { return std::move(counters_); }
  // Additions that may or may not have been applied.
  [[nodiscard]] std::size_t unknown() const { return unknown_; }

  [[nodiscard]] std::size_t size() const override { return adds_.size(); }
  [[nodiscard]] const Bytes& row(std::size_t at) const override { return adds_[at].row; }
  [[nodiscard]] std::size_t bytes(std::size_t at) const override { return add_bytes(adds_[at]); }
  [[nodiscard]] bool atomic(std::size_t) const override { return false; }
  void append(std::size_t at, pb::RegionAction& to, Bytes& cells) const override {
    pb::MutationProto& mutation = *to.add_action()->mutable_mutation();
    write_increment(adds_[at], sign_, durability_, mutation, cells);
    mutation.set_nonce(nonces_[at]);
  }
  Result<void> take(std::size_t at, const pb::Result& result, CellReader& cells) override {
    TRY(counters_[at], cells_of(result, cells));
    return {};
  }
  bool refuse(const BatchItem& item, const Fault& fault) override {
    if (is_no_counter(fault)) return true;
    if (item.region == nullptr) return false;
    Doubt& doubt = doubts_[item.at];
    const bool doubted = doubt.region != nullptr && same_opening(*doubt.region, *item.region);
    if (doubted && fault.moved) {
      ++unknown_;
      return true;
    }
    if (doubted && !is_still_there(fault)) doubt.asked = true;
    if (!doubted && fault.maybe_done) doubt = {.region = item.region};
    return false;
  }
  [[nodiscard]] RegionPtr bound_to(std::size_t at) const override {
    return doubts_[at].asked ? nullptr : doubts_[at].region;
  }
  [[nodiscard]] bool waits_for_each() const override { return true; }
  [[nodiscard]] std::uint64_t nonce_group() const override { return nonce_group_; }

 private:
  // A lost answer.
  struct Doubt {
    RegionPtr region;    // which may have applied the addition; null = there is no doubt
    bool asked = false;  // and did not answer when it was sent there again
  };

  // The server has the region, but no time.
  static bool is_still_there(const Fault& fault) {
    return fault.remedy == Remedy::kWait || fault.remedy == Remedy::kOverloaded ||
           fault.remedy == Remedy::kAtOnce;
  }

  const std::vector<RowAdd> adds_;
  const Sign sign_;
  const Durability durability_;
  const std::uint64_t nonce_group_;
  std::vector<std::uint64_t> nonces_;  // one for each addition, kept when it is sent again
  std::vector<Doubt> doubts_;
  std::size_t unknown_ = 0;
  std::vector<CountersAfter> counters_;
};

Task<std::vector<CountersAfter>> add_by_nonces(ClientContextPtr context, std::string table,
                                               std::vector<RowAdd> adds, Sign sign) {
  const auto job = std::make_shared<AddJob>(std::move(adds), sign, *context);
  Task<void> running = run_batch(std::move(context), table, job);
  CO_TRY_VOID(co_await std::move(running));
  if (job->unknown() > 0) {
    co_return fail(Errc::kUnavailable,
                   fmt::format("a region of {} moved while HBase's answer was lost: {} of {} "
                               "additions may have been counted",
                               table, job->unknown(), job->size()));
  }
  co_return job->take_counters();
}

// Sends the request until there is an answer.
struct Final {
  RowAnswer answer;
  bool doubt = false;       // an attempt before the last may have been applied
  bool no_counter = false;  // nothing was changed: a cell is not a counter
};

Task<Final> send_until_answered(ClientContextPtr context, std::string table, Bytes row,
                                pb::MultiRequest request, Bytes cellblock) {
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

// Of a row without a mark.
Task<Final> undo_by_nonce(ClientContextPtr context, std::string table, const RowAdd& add) {
  std::vector<RowAdd> adds = {add};
  Task<std::vector<CountersAfter>> undoing =
      add_by_nonces(std::move(context), std::move(table), std::move(adds), Sign::kUndo);
  CO_TRY(std::vector<CountersAfter> counters, co_await std::move(undoing));
  Final undone;
  undone.no_counter = !counters.front();
  undone.answer.processed = true;
  if (counters.front()) undone.answer.cells = *std::move(counters.front());
  co_return undone;
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
                                 : undo_by_nonce(context, table, add);
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
  Task<std::vector<CountersAfter>> adding =
      add_by_nonces(context, table, std::move(batch), Sign::kAdd);
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

}  // namespace halite::storage::hbase
