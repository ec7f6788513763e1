#include "storage/backends/hbase/client/batch.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <utility>

#include <prometheus/gauge.h>

#include "common/gather.h"
#include "storage/backends/hbase/client/batch_request.h"
#include "storage/backends/hbase/messages/mutation_message.h"
#include "storage/backends/hbase/rpc/transport.h"

namespace halite::storage::hbase {

namespace {

constexpr std::size_t kRequestsAtOnce = 64;  // for one call, over all servers

class WriteJob final : public BatchJob {
 public:
  WriteJob(std::vector<RowMutation> rows, Durability durability)
      : rows_(std::move(rows)), durability_(durability) {}

  [[nodiscard]] std::size_t size() const override { return rows_.size(); }
  [[nodiscard]] const Bytes& row(std::size_t at) const override { return rows_[at].row; }
  [[nodiscard]] std::size_t bytes(std::size_t at) const override {
    return mutation_bytes(rows_[at]);
  }
  [[nodiscard]] bool atomic(std::size_t at) const override {
    return !rows_[at].puts.empty() && !rows_[at].deletes.empty();
  }
  void append(std::size_t at, pb::RegionAction& to, Bytes& cells) const override {
    const RowMutation& row = rows_[at];
    if (!row.deletes.empty()) {
      write_deletes(row, durability_, *to.add_action()->mutable_mutation(), cells);
    }
    if (!row.puts.empty()) {
      write_puts(row, durability_, *to.add_action()->mutable_mutation(), cells);
    }
  }
  Result<void> take(std::size_t at, const pb::Result& result, CellReader& cells) override {
    static_cast<void>(at);
    for (int i = 0; i < result.associated_cell_count(); ++i) TRY_VOID(cells.next());
    return {};
  }

 private:
  const std::vector<RowMutation> rows_;
  const Durability durability_;
};

class AppendJob final : public BatchJob {
 public:
  AppendJob(std::vector<CellAppend> cells, ClientContext& context)
      : cells_(std::move(cells)),
        durability_(context.options.durability),
        nonce_group_(context.nonce_group) {
    nonces_.reserve(cells_.size());
    while (nonces_.size() < cells_.size()) nonces_.push_back(context.nonce());
  }

  [[nodiscard]] std::size_t size() const override { return cells_.size(); }
  [[nodiscard]] const Bytes& row(std::size_t at) const override { return cells_[at].cell.row; }
  [[nodiscard]] std::size_t bytes(std::size_t at) const override {
    return append_bytes(cells_[at]);
  }
  [[nodiscard]] bool atomic(std::size_t) const override { return false; }
  void append(std::size_t at, pb::RegionAction& to, Bytes& cells) const override {
    write_append(cells_[at], nonces_[at], durability_, *to.add_action()->mutable_mutation(), cells);
  }
  Result<void> take(std::size_t, const pb::Result& result, CellReader& cells) override {
    for (int i = 0; i < result.associated_cell_count(); ++i) TRY_VOID(cells.next());
    return {};
  }
  [[nodiscard]] std::uint64_t nonce_group() const override { return nonce_group_; }

 private:
  const std::vector<CellAppend> cells_;
  const Durability durability_;
  const std::uint64_t nonce_group_;
  std::vector<std::uint64_t> nonces_;  // one for each cell, kept when it is sent again
};

class ReadJob final : public BatchJob {
 public:
  explicit ReadJob(std::vector<RowGet> reads) : reads_(std::move(reads)), rows_(reads_.size()) {
    for (std::size_t i = 0; i < reads_.size(); ++i) rows_[i].key = reads_[i].row;
  }

  std::vector<Row> take_rows() { return std::move(rows_); }

  [[nodiscard]] std::size_t size() const override { return reads_.size(); }
  [[nodiscard]] const Bytes& row(std::size_t at) const override { return reads_[at].row; }
  [[nodiscard]] std::size_t bytes(std::size_t at) const override {
    constexpr std::size_t kMessageBytes = 16;
    std::size_t bytes = kMessageBytes + reads_[at].row.size();
    for (const FamilyColumns& columns : reads_[at].columns) {
      bytes += kMessageBytes + columns.family.size();
      for (const Bytes& qualifier : columns.qualifiers) bytes += 2 + qualifier.size();
    }
    return bytes;
  }
  [[nodiscard]] bool atomic(std::size_t) const override { return false; }
  void append(std::size_t at, pb::RegionAction& to, Bytes& cells) const override {
    static_cast<void>(cells);
    write_get(reads_[at], *to.add_action()->mutable_get());
  }
  Result<void> take(std::size_t at, const pb::Result& result, CellReader& cells) override {
    TRY(rows_[at].cells, cells_of(result, cells));
    return {};
  }

 private:
  const std::vector<RowGet> reads_;
  std::vector<Row> rows_;
};

using Failures = std::vector<BatchFailure>;

std::int64_t ms_until(WriteEnd end) {
  const auto left = end - std::chrono::steady_clock::now();
  return std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
}

Fault too_late() {
  return {.remedy = Remedy::kGiveUp,
          .error = {Errc::kUnavailable, "the time in which rows may be written is over", {}},
          .moved = {}};
}

// Sends a part of the job to one server. Never fails: the list contains what failed.
Task<Failures> send(ClientContextPtr context, std::shared_ptr<BatchJob> job, Endpoint server,
                    std::vector<BatchItem> items, std::uint32_t timeout_ms, WriteEnd end) {
  BatchRequest request(*job, std::move(items));
  Semaphore::Permit held;
  if (!job->waits_for_each()) {
    Task<Semaphore::Permit> entering = context->servers.batch_pass(server, timeout_ms);
    Result<Semaphore::Permit> pass = co_await std::move(entering);
    if (!pass) {
      const bool busy = pass.error().code == Errc::kOverloaded;
      co_return request.all_failed(Fault{.remedy = busy ? Remedy::kOverloaded : Remedy::kGiveUp,
                                         .error = pass.error(),
                                         .moved = {}});
    }
    held = *std::move(pass);
  }
  if (end != kNoWriteEnd) {
    // It is sent within this time, and the server drops it so long after it has arrived.
    const std::int64_t left_ms = ms_until(end) / 2;
    if (left_ms <= 0) co_return request.all_failed(too_late());
    timeout_ms = static_cast<std::uint32_t>(std::min<std::int64_t>(timeout_ms, left_ms));
  }
  RemoteTask<Reply> calling =
      context->servers.call(server, kClientService, request.call(timeout_ms));
  const Outcome<Reply> reply = co_await std::move(calling);
  if (!reply) co_return request.all_failed(reply.error());
  co_return request.read(*reply, to_text(server), *job);
}

// One attempt for all pending items.
class Round {
 public:
  Round(ClientContextPtr context, std::string table, std::shared_ptr<BatchJob> job, WriteEnd end)
      : context_(std::move(context)), table_(std::move(table)), job_(std::move(job)), end_(end) {}

  // Returns the items that failed, including those whose region could not be located.
  Task<Failures> run(std::vector<std::size_t> pending, std::uint32_t timeout_ms) {
    Failures failures;
    std::map<Endpoint, std::vector<BatchItem>> by_server;
    std::vector<std::size_t> lost;  // without a known region
    for (const std::size_t at : pending) {
      RegionPtr region = job_->bound_to(at);
      if (region == nullptr) region = context_->locator.known(table_, job_->row(at));
      if (region == nullptr) {
        lost.push_back(at);
      } else {
        by_server[region->server].push_back({.at = at, .region = std::move(region)});
      }
    }
    if (!lost.empty()) {
      Task<Failures> looking = look_up(std::move(lost), by_server);
      CO_TRY(failures, co_await std::move(looking));
    }
    std::vector<Task<Failures>> parts;
    for (auto& [server, items] : by_server) {
      std::ranges::sort(
          items, {}, [](const BatchItem& item) { return std::pair(item.region.get(), item.at); });
      cut(server, items, timeout_ms, parts);
    }
    auto gathering = gather(std::move(parts), kRequestsAtOnce);
    std::vector<Result<Failures>> outcomes = co_await std::move(gathering);
    for (Result<Failures>& outcome : outcomes) {
      if (!outcome) co_return std::unexpected(std::move(outcome).error());
      std::ranges::move(*outcome, std::back_inserter(failures));
    }
    co_return failures;
  }

 private:
  using Located = std::map<Endpoint, std::vector<BatchItem>>;

  // Locates rows without a known region. A row that cannot be located does not delay the others. To
  // avoid a look-up for each row, each failure doubles the number of rows that are skipped. A
  // look-up also returns neighbouring regions, so skipped rows may be known later.
  Task<Failures> look_up(std::vector<std::size_t> lost, Located& by_server) {
    std::ranges::sort(lost, {}, [this](std::size_t at) { return BytesView(job_->row(at)); });
    std::optional<Fault> fault;
    std::size_t step = 1;
    for (std::size_t i = 0; i < lost.size() && !(fault && fault->of_meta); i += step) {
      const Bytes& row = job_->row(lost[i]);
      if (context_->locator.known(table_, row) != nullptr) continue;
      RemoteTask<RegionPtr> locating = context_->locator.locate(table_, row);
      Outcome<RegionPtr> located = co_await std::move(locating);
      step = located ? 1 : step * 2;
      if (!located) fault = std::move(located).error();
    }
    Failures failures;
    for (const std::size_t at : lost) {
      RegionPtr region = context_->locator.known(table_, job_->row(at));
      if (region != nullptr) {
        by_server[region->server].push_back({.at = at, .region = std::move(region)});
      } else {
        failures.push_back({{.at = at, .region = nullptr}, fault ? *fault : passed_by()});
      }
    }
    co_return failures;
  }

  // The region was located, and dropped from the cache at once.
  static Fault passed_by() {
    return {.remedy = Remedy::kRelocate,
            .error = {Errc::kUnavailable, "a region has moved while it was looked up", {}},
            .moved = {}};
  }

  void cut(const Endpoint& server, std::vector<BatchItem>& items, std::uint32_t timeout_ms,
           std::vector<Task<Failures>>& parts) const {
    std::size_t actions_max = context_->options.batch_actions_max;
    if (job_->waits_for_each()) {
      actions_max = std::clamp<std::size_t>(items.size() / kRequestsAtOnce, 1, actions_max);
    }
    std::vector<BatchItem> part;
    std::size_t bytes = 0;
    for (BatchItem& item : items) {
      const std::size_t more = job_->bytes(item.at);
      if (!part.empty() &&
          (part.size() == actions_max || bytes + more > context_->options.request_bytes_max)) {
        parts.push_back(send(context_, job_, server, std::exchange(part, {}), timeout_ms, end_));
        bytes = 0;
      }
      bytes += more;
      part.push_back(std::move(item));
    }
    parts.push_back(send(context_, job_, server, std::move(part), timeout_ms, end_));
  }

  const ClientContextPtr context_;
  const std::string table_;
  const std::shared_ptr<BatchJob> job_;
  const WriteEnd end_;
};

// The fault with the greatest weight decides on the pause.
int weight(const Fault& fault) {
  switch (fault.remedy) {
    case Remedy::kGiveUp:
      return 4;
    case Remedy::kOverloaded:
      return 3;
    case Remedy::kAtOnce:
    case Remedy::kMoved:
      return 0;
    case Remedy::kWait:
    case Remedy::kRelocate:
    case Remedy::kReopen:
    case Remedy::kReconnect:
      break;
  }
  return fault.tries_max == 0 ? 1 : 2;
}

// The permit for an operation's bytes, counted in the metric.
class OperationSlot {
 public:
  OperationSlot(Semaphore::Permit pass, prometheus::Gauge& gauge, std::size_t bytes)
      : pass_(std::move(pass)), gauge_(gauge), bytes_(static_cast<double>(bytes)) {
    gauge_.Increment(bytes_);
  }
  OperationSlot(const OperationSlot&) = delete;
  ~OperationSlot() { gauge_.Decrement(bytes_); }

 private:
  const Semaphore::Permit pass_;
  prometheus::Gauge& gauge_;
  const double bytes_;
};

}  // namespace

Task<void> run_batch(ClientContextPtr context, std::string table, std::shared_ptr<BatchJob> job,
                     WriteEnd end) {
  std::vector<std::size_t> pending(job->size());
  std::iota(pending.begin(), pending.end(), std::size_t{0});
  std::size_t bytes = 0;
  for (const std::size_t at : pending) bytes += job->bytes(at);
  const std::chrono::milliseconds patience(
      std::clamp<std::int64_t>(ms_until(end), 1, context->options.operation_ms_max));
  Task<Semaphore::Permit> entering =
      context->operations->enter({.items = 0, .bytes = bytes}, patience);
  CO_TRY(Semaphore::Permit pass, co_await std::move(entering));
  const OperationSlot held(std::move(pass), context->stats.operation_bytes, bytes);

  Retry retry(context, context->options.operation_ms_max, Subject::kRows, end);
  Round round(context, table, job, end);
  while (!pending.empty()) {
    const std::size_t tried = pending.size();
    Task<Failures> attempt = round.run(std::move(pending), retry.call_ms());
    CO_TRY(Failures failures, co_await std::move(attempt));
    std::erase_if(failures, [&job](const BatchFailure& failure) {
      return job->refuse(failure.item, failure.fault);
    });
    if (failures.empty()) break;
    if (failures.size() < tried) retry.progress();
    pending.clear();
    const Fault* worst = nullptr;
    for (const BatchFailure& failure : failures) {
      if (failure.item.region != nullptr)
        context->locator.learn(failure.item.region, failure.fault);
      pending.push_back(failure.item.at);
      if (worst == nullptr || weight(failure.fault) > weight(*worst)) worst = &failure.fault;
    }
    std::ranges::sort(pending);
    Task<void> pausing = retry.after(*worst);
    CO_TRY_VOID(co_await std::move(pausing));
  }
  co_return Result<void>();
}

Task<void> write_rows(ClientContextPtr context, std::string table, std::vector<RowMutation> rows,
                      WriteEnd end) {
  const Durability durability = context->options.durability;
  auto job = std::make_shared<WriteJob>(std::move(rows), durability);
  Task<void> running = run_batch(std::move(context), std::move(table), std::move(job), end);
  co_return co_await std::move(running);
}

Task<void> append_cells(ClientContextPtr context, std::string table,
                        std::vector<CellAppend> cells) {
  auto job = std::make_shared<AppendJob>(std::move(cells), *context);
  Task<void> running = run_batch(std::move(context), std::move(table), std::move(job));
  co_return co_await std::move(running);
}

Task<std::vector<Row>> read_rows(ClientContextPtr context, std::string table,
                                 std::vector<RowGet> reads) {
  const auto job = std::make_shared<ReadJob>(std::move(reads));
  Task<void> running = run_batch(std::move(context), std::move(table), job);
  CO_TRY_VOID(co_await std::move(running));
  co_return job->take_rows();
}

}  // namespace halite::storage::hbase
