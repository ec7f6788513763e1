#include "storage/backends/rocks/committer.h"

#include <chrono>
#include <limits>
#include <utility>

#include "common/check.h"
#include "common/log.h"
#include "common/metrics.h"
#include "storage/backends/rocks/files/lasting_write.h"
#include "storage/backends/rocks/files/status.h"
#include "storage/backends/shared/wide_column_rules.h"

namespace halite::storage::rocks {

namespace {

constexpr const char* kClosed = "the store is closed";
constexpr std::size_t kUpdateBytes = 256;  // an update's part of the queue limit, besides its key

Error write_error(const rocksdb::Status& status) {
  Error error = error_of(status, "cannot write");
  // Whatever the reason, the request itself is valid and may succeed later.
  error.code = Errc::kUnavailable;
  return error;
}

}  // namespace

CommitStats::CommitStats(prometheus::Registry& registry)
    : commits(add_counter(registry, "halite_storage_commits_total",
                          "Synced writes to the embedded RocksDB store.")),
      failures(add_counter(registry, "halite_storage_commit_failures_total",
                           "Failed synced writes to the embedded RocksDB store.")),
      requests(add_counter(registry, "halite_storage_commit_requests_total",
                           "Write requests made durable by the embedded RocksDB store.")),
      cells(add_counter(registry, "halite_storage_cells_written_total",
                        "Cells written to or deleted from the embedded RocksDB store.")),
      bytes(add_counter(registry, "halite_storage_commit_bytes_total",
                        "Bytes passed to the log of the embedded RocksDB store.")),
      seconds(add_sync_seconds(registry, "halite_storage_commit_seconds",
                               "Duration of one synced write to the embedded RocksDB store.")),
      queue_bytes(
          add_gauge(registry, "halite_storage_commit_queue_bytes",
                    "Bytes waiting to be written to the log of the embedded RocksDB store.")) {}

// The read-modify-writes of one group. They come before the group's plain writes. All these calls
// run concurrently, so any order is correct. With this one, an update sees the database and the
// earlier updates, but no half-made batch.
class Committer::Updates {
 public:
  Updates(Database& database, HybridClock& times, RecentCells& recent, rocksdb::WriteBatch& batch)
      : database_(database), times_(times), recent_(recent), batch_(batch) {}

  // Sets the request's result to the caller's error; returns the status of the batch.
  rocksdb::Status apply(Request& request) {
    rocksdb::Status status;
    if (request.update) {
      Result<void> updated = update(*request.update, status);
      if (!updated) request.result = std::move(updated);
      return status;
    }
    for (const CellAdd& add : request.adds) {
      const Result<AddOutcome> outcome = this->add(add, status);
      if (!outcome) request.result = std::unexpected(outcome.error());
      if (!outcome || !status.ok()) break;
      request.outcomes.push_back(*outcome);
    }
    return status;
  }

 private:
  Result<void> update(Request::Update& update, rocksdb::Status& status) {
    TRY(const std::optional<BytesView> current, read(update.cell));
    TRY(const std::optional<Bytes> decision, update.decide(current));
    if (decision) status = put(update.cell, *decision);
    return {};
  }

  Result<AddOutcome> add(const CellAdd& add, rocksdb::Status& status) {
    if (add.once) {
      TRY(const std::optional<BytesView> mark, read(*add.once));
      if (mark) return AddOutcome::kRepeated;
    }
    std::vector<std::int64_t> sums;
    sums.reserve(add.cells.size());
    for (std::size_t i = 0; i < add.cells.size(); ++i) {
      TRY(const std::optional<BytesView> current, read(add.cells[i]));
      const auto sum = counter_sum(current, add.deltas[i]);
      if (!sum) return sum.error();
      sums.push_back(*sum);
    }
    for (std::size_t i = 0; i < sums.size() && status.ok(); ++i) {
      Bytes value;
      append_be(value, static_cast<std::uint64_t>(sums[i]));
      status = put(add.cells[i], value);
    }
    if (add.once && status.ok()) status = put(*add.once, {});
    return AddOutcome::kAdded;
  }

  // The cell after the updates so far. The view is valid until the next call.
  Result<std::optional<BytesView>> read(const CellKey& cell) {
    Bytes& held = recent_.at(cell.family.column_family->GetID(), cell.key);
    if (held.empty()) {
      const rocksdb::Status status =
          database_.db().Get({}, cell.family.column_family, cell.key, &held);
      if (!status.ok()) held.clear();
      if (status.IsNotFound()) return std::optional<BytesView>();
      TRY_VOID(checked(status, "cannot read"));
    }
    TRY(const StoredCell stored, parse_cell_of(cell.key, held));
    if (is_expired(stored.time, *cell.family.ttl_ms, times_.now_ms())) {
      return std::optional<BytesView>();
    }
    return std::optional(stored.value);
  }

  rocksdb::Status put(const CellKey& cell, BytesView value) {
    Bytes& held = recent_.at(cell.family.column_family->GetID(), cell.key);
    held.assign(kCellTimeBytes, '\0');
    held.append(value);
    set_cell_time(held.data(), times_.stamp());
    return batch_.Put(cell.family.column_family, cell.key, held);
  }

  Database& database_;
  HybridClock& times_;
  RecentCells& recent_;  // the cells after the updates so far
  rocksdb::WriteBatch& batch_;
};

Committer::Committer(const RocksOptions& options, Database& database, HybridClock& times,
                     prometheus::Registry& registry)
    : group_bytes_max_(options.commit_group_bytes_max),
      database_(database),
      times_(times),
      stats_(registry),
      semaphore_(std::make_shared<Semaphore>(
          SemaphoreLoad{std::numeric_limits<std::size_t>::max(), options.commit_queue_bytes_max})),
      lasting_seen_time_(database.seen_time()),
      recent_(options.recent_cells_bytes_max),
      thread_([this] { run(); }) {}

Committer::~Committer() { stop(); }

Task<void> Committer::write(std::vector<RowWrite> rows, std::vector<FamilyHandle> families) {
  const std::size_t bytes = CellBatch::bytes_of(rows);
  CO_TRY(Semaphore::Permit pass, co_await semaphore_->enter(SemaphoreLoad{1, bytes}));
  auto request = std::make_shared<Request>();
  request->pass = std::move(pass);
  request->bytes = bytes;
  request->cells = CellBatch(rows, families);
  rows = {};  // only the encoded cells wait
  co_return co_await commit(std::move(request));
}

Task<void> Committer::update(FamilyHandle family, Bytes key, Decide decide) {
  const std::size_t bytes = key.size() + kUpdateBytes;
  CO_TRY(Semaphore::Permit pass, co_await semaphore_->enter(SemaphoreLoad{1, bytes}));
  auto request = std::make_shared<Request>();
  request->pass = std::move(pass);
  request->bytes = bytes;
  request->update.emplace(CellKey{std::move(family), std::move(key)}, std::move(decide));
  co_return co_await commit(std::move(request));
}

Task<std::vector<AddOutcome>> Committer::add(std::vector<CellAdd> adds) {
  std::size_t bytes = 0;
  for (const CellAdd& add : adds) {
    for (const CellKey& cell : add.cells) bytes += cell.key.size() + kUpdateBytes;
    if (add.once) bytes += add.once->key.size() + kUpdateBytes;
  }
  CO_TRY(Semaphore::Permit pass, co_await semaphore_->enter(SemaphoreLoad{1, bytes}));
  auto request = std::make_shared<Request>();
  request->pass = std::move(pass);
  request->bytes = bytes;
  request->adds = std::move(adds);
  CO_TRY_VOID(co_await commit(request));
  co_return std::move(request->outcomes);
}

Task<void> Committer::commit(std::shared_ptr<Request> request) {
  stats_.queue_bytes.Increment(static_cast<double>(request->bytes));
  if (!enqueue(request)) {
    stats_.queue_bytes.Decrement(static_cast<double>(request->bytes));
    co_return fail(Errc::kUnavailable, kClosed);
  }
  co_return co_await request->done.wait();
}

bool Committer::enqueue(const std::shared_ptr<Request>& request) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return false;
    queue_.push_back(request);
  }
  arrived_.notify_one();
  return true;
}

void Committer::stop() {
  semaphore_->close(kClosed);
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  arrived_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Committer::run() {
  for (Group group = take_group(); !group.empty(); group = take_group()) {
    const auto begin = std::chrono::steady_clock::now();
    const Result<void> outcome = write_group(group);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    stats_.seconds.Observe(took.count());
    {
      const std::lock_guard lock(mutex_);
      last_commit_ = outcome;
    }
    finish(group, outcome);
  }
}

Result<void> Committer::health() const {
  const std::lock_guard lock(mutex_);
  return last_commit_;
}

// Waits for requests; empty at the end.
Committer::Group Committer::take_group() {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
  Group group;
  std::size_t bytes = 0;
  while (!queue_.empty() && (group.empty() || bytes + queue_.front()->bytes <= group_bytes_max_)) {
    bytes += queue_.front()->bytes;
    group.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return group;
}

Result<void> Committer::write_group(Group& group) {
  rocksdb::WriteBatch batch;
  rocksdb::Status status = fill_batch(group, batch);
  if (status.ok() && batch.Count() > 0) {
    status = write_lasting(database_.db(), database_.meta(), batch);
    stats_.bytes.Increment(static_cast<double>(batch.GetDataSize()));
  }
  if (!status.ok()) {
    recent_.clear();
    stats_.failures.Increment();
    log::error("a commit of {} calls failed: {}", group.size(), status.ToString());
    return std::unexpected(write_error(status));
  }
  lasting_seen_time_ = times_.seen();
  stats_.commits.Increment();
  stats_.requests.Increment(static_cast<double>(group.size()));
  stats_.cells.Increment(batch.Count());
  return {};
}

rocksdb::Status Committer::fill_batch(Group& group, rocksdb::WriteBatch& batch) {
  recent_.begin_batch();
  Updates updates(database_, times_, recent_, batch);
  for (const auto& request : group) {
    const rocksdb::Status status = updates.apply(*request);
    if (!status.ok()) return status;
  }
  for (const auto& request : group) {
    const rocksdb::Status status = request->cells.append_to(batch, times_);
    if (!status.ok()) return status;
    request->cells.remove_from(recent_);
  }
  if (batch.Count() == 0 || times_.seen() == lasting_seen_time_) return rocksdb::Status::OK();
  Bytes seen;
  append_be(seen, static_cast<std::uint64_t>(times_.seen()));
  return batch.Put(database_.meta(), kSeenTimeKey, seen);
}

void Committer::finish(const Group& group, const Result<void>& outcome) {
  for (const auto& request : group) {
    stats_.queue_bytes.Decrement(static_cast<double>(request->bytes));
    request->pass = Semaphore::Permit();
    request->done.finish(outcome ? request->result : outcome);
  }
}

}  // namespace halite::storage::rocks
