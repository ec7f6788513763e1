// Reads the records of a log into a head, with one thread for every few shards.
//
// The head has the ids of the log: an id means the same series in all records that a replay reads,
// because a series is removed only when none of its points is in the log alone
// (storage/catalog/epochs.h). That holds above the position that the chunks have. If that position
// is unknown, use one thread: it reads the records in their order, so that an id has the meaning of
// its last definition. is_consistent() tells.
//
//   Threads  one at a time; the head's threads are private.
//   Errors   kCorruption: a record that this code does not write.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/catalog/names/deferred_names.h"
#include "storage/tsdb/head/head.h"
#include "storage/tsdb/wal/records.h"

namespace halite::storage::engine {

class LogReplay {
 public:
  LogReplay(std::uint64_t head_number, std::uint32_t shards, unsigned threads);
  ~LogReplay();
  LogReplay(const LogReplay&) = delete;
  LogReplay& operator=(const LogReplay&) = delete;

  // Passes the record to the thread of its shard. Waits while that thread is far behind. May return
  // an error of an earlier record.
  [[nodiscard]] Result<void> add(BytesView payload);
  // Waits until the head has all records. Call it before the functions below.
  [[nodiscard]] Result<void> wait();
  // After wait(): kCorruption if a series has two ids. Takes much time, and is needless if all
  // series are added to a SeriesTable, which finds that, too.
  [[nodiscard]] Result<void> check_series();

  // The names of the records so far, in the order of the log, without those taken before. Records
  // of names only have been read when add() returns.
  [[nodiscard]] std::vector<LoggedName> take_names();

  [[nodiscard]] const std::shared_ptr<Head>& head() const { return head_; }
  // The growth of the head since begin_head().
  [[nodiscard]] std::size_t bytes() const { return head_->bytes() - bytes_before_; }
  // The tsuid of a series of the head.
  [[nodiscard]] BytesView tsuid(std::uint32_t shard, std::uint32_t position) const;
  // Continues with an empty head that has the same series at the same positions.
  void begin_head(std::uint64_t number);

  // Points without a series, because the record that defines it is damaged.
  [[nodiscard]] std::uint64_t unnamed_points() const { return unnamed_points_; }
  [[nodiscard]] SeriesId greatest_id() const { return greatest_id_; }
  // Whether each id has one series and each series has one id.
  [[nodiscard]] bool is_consistent() const { return !inconsistent_; }

 private:
  void take_name(const log_records::NameRecord& name);

  class Shard;
  class Names;
  class Worker;

  std::shared_ptr<Head> head_;
  std::size_t bytes_before_ = 0;
  std::mutex names_mutex_;
  std::vector<LoggedName> names_;  // guarded by names_mutex_
  std::vector<std::unique_ptr<Shard>> shards_;
  std::atomic<std::uint64_t> unnamed_points_ = 0;
  std::atomic<SeriesId> greatest_id_ = 0;
  std::atomic<bool> inconsistent_ = false;
  std::vector<std::unique_ptr<Worker>> workers_;  // last: they use the members above
};

}  // namespace halite::storage::engine
