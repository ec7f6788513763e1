// Over 400 lines because a thread and its shards share the head, the names and the first error.

#include "storage/tsdb/recovery/log_replay.h"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <boost/unordered/unordered_flat_set.hpp>
#include <xxhash.h>

#include "common/bytes/little_endian.h"
#include "common/threads/thread_name.h"

namespace halite::storage::engine {
namespace {

constexpr std::size_t kWaitingBytesMax = 16 << 20;  // records that no thread has read yet
constexpr std::size_t kBatchBytes = 64 << 10;       // records passed to a thread at once
// Points between the prefetch of a series and its use, and before that of its position.
constexpr std::size_t kAhead = 8;
constexpr std::size_t kSlabBytes = 256 << 10;  // holds any tsuid and its length
static_assert(kSlabBytes >= sizeof(std::uint32_t) + log_records::kNameBytesMax);

std::unexpected<Error> damaged(const char* what) {
  return fail(Errc::kCorruption, std::string("the log holds ") + what);
}

}  // namespace

// The series of one shard by their positions in the head.
class LogReplay::Shard {
 public:
  // has_index: find() works. It takes much of the time of a replay.
  explicit Shard(bool has_index) : has_index_(has_index) {}
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  [[nodiscard]] BytesView tsuid(std::uint32_t position) const {
    const char* const at = tsuids_[position];
    return {at + sizeof(std::uint32_t), load_le<std::uint32_t>(at)};
  }

  // The position of a series that has been added. Needs the index.
  [[nodiscard]] std::optional<std::uint32_t> find(BytesView tsuid) const {
    const auto found = by_tsuid_.find(tsuid);
    return found == by_tsuid_.end() ? std::nullopt : std::optional(*found);
  }

  // The series at the next position.
  void add(BytesView tsuid) {
    const std::size_t bytes = sizeof(std::uint32_t) + tsuid.size();
    if (bytes > kSlabBytes - slab_used_) {
      slabs_.push_back(std::make_unique_for_overwrite<char[]>(kSlabBytes));
      slab_used_ = 0;
    }
    char* const at = slabs_.back().get() + slab_used_;
    slab_used_ += bytes;
    store_le(at, static_cast<std::uint32_t>(tsuid.size()));
    std::ranges::copy(tsuid, at + sizeof(std::uint32_t));
    tsuids_.push_back(at);
    if (has_index_) by_tsuid_.insert(static_cast<std::uint32_t>(tsuids_.size() - 1));
  }

  // Whether no tsuid was added twice. Much faster than an index that grows with each series.
  [[nodiscard]] bool is_unique() const {
    Set seen(0, Hash{this}, Equal{this});
    seen.reserve(tsuids_.size());
    for (std::size_t position = 0; position < tsuids_.size(); ++position) {
      if (!seen.insert(static_cast<std::uint32_t>(position)).second) return false;
    }
    return true;
  }

 private:
  struct Hash {
    using is_transparent = void;
    using is_avalanching = void;
    const Shard* shard;
    std::size_t operator()(BytesView tsuid) const {
      return XXH3_64bits(tsuid.data(), tsuid.size());
    }
    std::size_t operator()(std::uint32_t position) const { return (*this)(shard->tsuid(position)); }
  };
  struct Equal {
    using is_transparent = void;
    const Shard* shard;
    bool operator()(std::uint32_t a, std::uint32_t b) const {
      return shard->tsuid(a) == shard->tsuid(b);
    }
    bool operator()(BytesView a, std::uint32_t b) const { return a == shard->tsuid(b); }
    bool operator()(std::uint32_t a, BytesView b) const { return shard->tsuid(a) == b; }
  };

  using Set = boost::unordered_flat_set<std::uint32_t, Hash, Equal>;  // of positions

  const bool has_index_;
  // Memory that grew as one piece would be copied and touched twice.
  std::vector<std::unique_ptr<char[]>> slabs_;
  std::size_t slab_used_ = kSlabBytes;  // of the last
  std::vector<const char*> tsuids_;     // in the slabs: their lengths, then their bytes
  Set by_tsuid_{0, Hash{this}, Equal{this}};
};

// Visits the names at the beginning of a record.
class LogReplay::Names final : public log_records::SectionVisitor {
 public:
  explicit Names(LogReplay& replay) : replay_(replay) {}

  Result<void> name(const log_records::NameRecord& name) override {
    replay_.take_name(name);
    return {};
  }
  Result<void> series(const log_records::SeriesRecord& /*series*/) override { return {}; }
  Result<void> points(const log_records::PointColumns& /*points*/) override { return {}; }

 private:
  LogReplay& replay_;
};

// A thread that reads the records of some shards.
class LogReplay::Worker final : public log_records::SectionVisitor {
 public:
  Worker(LogReplay& replay, std::size_t number, std::size_t workers)
      : replay_(replay), number_(number), workers_(workers), thread_([this] { run(); }) {}

  ~Worker() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  // The thread gets records in batches: a record is small compared with a switch of threads.
  Result<void> add(BytesView payload) {
    next_.bytes.append(payload);
    next_.ends.push_back(next_.bytes.size());
    return next_.bytes.size() < kBatchBytes ? Result<void>() : pass_on();
  }

  // Gives the thread the records that it does not have yet.
  Result<void> pass_on() {
    if (next_.ends.empty()) return {};
    {
      std::unique_lock lock(mutex_);
      changed_.wait(
          lock, [this] { return waiting_bytes_ < kWaitingBytesMax / workers_ || !first_error_; });
      if (!first_error_) return first_error_;
      waiting_bytes_ += next_.bytes.size();
      waiting_.push_back(std::exchange(next_, {}));
      if (!unused_.empty()) {
        next_ = std::move(unused_.back());
        unused_.pop_back();
      }
    }
    changed_.notify_all();
    return {};
  }

  // Lets the thread check its shards after the records that wait.
  void begin_check() {
    {
      const std::lock_guard lock(mutex_);
      check_is_due_ = true;
    }
    changed_.notify_all();
  }

  Result<void> wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] {
      return (waiting_.empty() && !is_reading_ && !check_is_due_) || !first_error_;
    });
    unused_ = {};
    return first_error_;
  }

  Result<void> name(const log_records::NameRecord& name) override {
    replay_.take_name(name);
    return {};
  }

  Result<void> series(const log_records::SeriesRecord& series) override {
    TRY_VOID(check(series.shard));
    Head& head = *replay_.head_;
    HeadShard& shard = head.shard(series.shard);
    Shard& known = *replay_.shards_[series.shard];
    const std::optional<std::uint32_t> defined = head.position_of(series.id);
    if (defined && *defined < shard.series_count() && shard.at(*defined).id == series.id &&
        known.tsuid(*defined) == series.tsuid) {
      return {};
    }
    std::optional<std::uint32_t> position;
    // Otherwise check_series() finds a series with two ids.
    if (reads_in_order()) position = known.find(series.tsuid);
    if (defined || position) TRY_VOID(not_consistent());
    if (!position) {
      const std::size_t bytes_before = shard.bytes();
      position = shard.add_series(series.id);
      known.add(series.tsuid);
      bytes_ += shard.bytes() - bytes_before;
      ++series_;
    }
    head.set_position(series.id, *position);
    greatest_id_ = std::max(greatest_id_, series.id);
    return {};
  }

  Result<void> points(const log_records::PointColumns& points) override {
    TRY_VOID(check(points.shard));
    Head& head = *replay_.head_;
    HeadShard& shard = head.shard(points.shard);
    const std::size_t count = points.series.size();
    const std::size_t bytes_before = shard.bytes();
    std::uint64_t unnamed = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (i + 2 * kAhead < count) head.prefetch_position(points.series[i + 2 * kAhead]);
      if (i + kAhead < count) {
        if (const auto next = head.position_of(points.series[i + kAhead])) shard.prefetch(*next);
      }
      const auto position = head.position_of(points.series[i]);
      if (!position) {
        ++unnamed;
        continue;
      }
      if (*position >= shard.series_count()) return damaged("points of a series in another shard");
      shard.append(*position, {.time = points.times[i],
                               .value = points.values[i],
                               .is_float = (points.flags[i] & kFloat) != 0});
    }
    if (unnamed > 0) replay_.unnamed_points_ += unnamed;
    head.account(static_cast<std::int64_t>(shard.bytes() - bytes_before), count - unnamed);
    return {};
  }

 private:
  struct Batch {
    Bytes bytes;
    std::vector<std::size_t> ends;  // of the records in `bytes`
  };

  [[nodiscard]] Result<void> check(std::uint32_t shard) const {
    if (shard >= replay_.shards_.size()) return damaged("a shard that does not exist");
    if (shard % workers_ != number_) return damaged("a record of several shards");
    return {};
  }

  // One thread reads the records in their order, so that the last definition of an id counts. Of
  // several threads each would need its own.
  [[nodiscard]] bool reads_in_order() const { return workers_ == 1; }

  [[nodiscard]] Result<void> not_consistent() const {
    replay_.inconsistent_ = true;
    return reads_in_order() ? Result<void>() : damaged("an id of two series");
  }

  [[nodiscard]] Result<void> check_shards() const {
    if (reads_in_order()) return {};  // each record was checked
    for (std::size_t shard = number_; shard < replay_.shards_.size(); shard += workers_) {
      if (!replay_.shards_[shard]->is_unique()) return damaged("a series with two ids");
    }
    return {};
  }

  void run() {
    name_this_thread("replay");
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return stopping_ || !waiting_.empty() || check_is_due_; });
      if (stopping_) return;
      std::vector<Batch> batches;
      batches.swap(waiting_);
      waiting_bytes_ = 0;
      const bool check = std::exchange(check_is_due_, false);
      is_reading_ = true;
      lock.unlock();
      changed_.notify_all();
      Result<void> outcome = read(batches);
      if (outcome && check) outcome = check_shards();
      lock.lock();
      is_reading_ = false;
      std::ranges::move(batches, std::back_inserter(unused_));
      if (!outcome && first_error_) first_error_ = outcome;
      changed_.notify_all();
    }
  }

  // Leaves the batches empty.
  Result<void> read(std::vector<Batch>& batches) {
    for (Batch& batch : batches) {
      std::size_t begin = 0;
      for (const std::size_t end : batch.ends) {
        TRY_VOID(reader_.read(BytesView(batch.bytes).substr(begin, end - begin), *this));
        note_series();
        begin = end;
      }
      batch.bytes.clear();
      batch.ends.clear();
    }
    return {};
  }

  // Once for each record: all threads change these.
  void note_series() {
    if (series_ == 0) return;
    replay_.head_->account(static_cast<std::int64_t>(std::exchange(bytes_, 0)), 0,
                           std::exchange(series_, 0));
    SeriesId greatest = replay_.greatest_id_;
    while (greatest_id_ > greatest &&
           !replay_.greatest_id_.compare_exchange_weak(greatest, greatest_id_)) {
    }
  }

  LogReplay& replay_;
  const std::size_t number_;
  const std::size_t workers_;
  Batch next_;  // of the caller
  log_records::SectionReader reader_;
  std::size_t bytes_ = 0;     // of the series since note_series()
  std::uint64_t series_ = 0;  // their number
  SeriesId greatest_id_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Batch> waiting_;     // guarded by mutex_
  std::vector<Batch> unused_;      // memory for others; guarded by mutex_
  std::size_t waiting_bytes_ = 0;  // guarded by mutex_
  bool is_reading_ = false;        // guarded by mutex_
  bool check_is_due_ = false;      // guarded by mutex_
  bool stopping_ = false;          // guarded by mutex_
  Result<void> first_error_;       // guarded by mutex_
  std::thread thread_;             // last: it uses the members above
};

LogReplay::LogReplay(std::uint64_t head_number, std::uint32_t shards, unsigned threads)
    : head_(std::make_shared<Head>(head_number, shards, UINT32_MAX)) {
  const std::size_t workers = std::clamp<std::size_t>(threads, 1, shards);
  for (std::uint32_t i = 0; i < shards; ++i) {
    shards_.push_back(std::make_unique<Shard>(workers == 1));
  }
  for (std::size_t i = 0; i < workers; ++i) {
    workers_.push_back(std::make_unique<Worker>(*this, i, workers));
  }
}

LogReplay::~LogReplay() = default;

Result<void> LogReplay::add(BytesView payload) {
  Names names(*this);
  TRY(const BytesView rest, log_records::read_names(payload, names));
  if (rest.empty()) return {};
  TRY(const std::uint32_t shard, log_records::shard_of(rest));
  return workers_[shard % workers_.size()]->add(rest);
}

void LogReplay::take_name(const log_records::NameRecord& name) {
  const std::lock_guard lock(names_mutex_);
  names_.push_back(
      {.kind = static_cast<NameKind>(name.kind), .uid = name.uid, .name = std::string(name.name)});
}

std::vector<LoggedName> LogReplay::take_names() {
  const std::lock_guard lock(names_mutex_);
  return std::exchange(names_, {});
}

Result<void> LogReplay::wait() {
  for (const auto& worker : workers_) TRY_VOID(worker->pass_on());
  for (const auto& worker : workers_) TRY_VOID(worker->wait());
  return {};
}

Result<void> LogReplay::check_series() {
  for (const auto& worker : workers_) worker->begin_check();
  for (const auto& worker : workers_) TRY_VOID(worker->wait());
  return {};
}

BytesView LogReplay::tsuid(std::uint32_t shard, std::uint32_t position) const {
  return shards_[shard]->tsuid(position);
}

void LogReplay::begin_head(std::uint64_t number) {
  auto next = std::make_shared<Head>(number, head_->shard_count(), UINT32_MAX);
  next->copy_positions(*head_);
  for (std::uint32_t i = 0; i < head_->shard_count(); ++i) {
    const HeadShard& before = head_->shard(i);
    HeadShard& shard = next->shard(i);
    for (std::uint32_t position = 0; position < before.series_count(); ++position) {
      shard.add_series(before.at(position).id);
    }
    next->account(static_cast<std::int64_t>(shard.bytes()), 0, shard.series_count());
  }
  head_ = std::move(next);
  bytes_before_ = head_->bytes();
}

}  // namespace halite::storage::engine
