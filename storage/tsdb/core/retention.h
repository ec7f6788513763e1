// Retention classes: metrics whose names share a prefix with its own TTL.
//
// Each class has its own shards, one for each salt, and its own ring of slots. So its cells are
// stored apart and expire by its TTL, and the key formats do not contain classes. Class 0 has the
// metrics that no rule names.
//
//   shard = class · salts + salt
//
//   Membership  the class of the longest prefix in use that the metric's name begins with. If rules
//               or names change, a metric that would move is pinned to the class of its points.
//   Threads     call from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"
#include "common/threads/semaphore.h"
#include "common/threads/task.h"
#include "storage/api/sharding.h"
#include "storage/api/wide_column.h"
#include "storage/cells/layouts/cyclic_layout.h"

namespace halite::storage::engine {

// The stored state of the classes. Class 0 is not listed; the first entry is class 1.
struct RetentionState {
  struct Class {
    std::string prefix;
    std::int64_t ttl_ms = 0;  // 0 = keep forever
    std::uint32_t slots = 0;  // ring size; 0 = created without a TTL, slots are never reused
    bool in_use = true;       // a rule names it: it takes new metrics
    bool operator==(const Class&) const = default;
  };
  std::vector<Class> classes;
  std::map<std::uint64_t, std::uint32_t> pinned;  // metric uid -> class

  // The class of an unpinned metric with this name.
  [[nodiscard]] std::uint32_t class_of(std::string_view metric) const;

  bool operator==(const RetentionState&) const = default;

  // JSON: {"format":1,"classes":[{"prefix":"tmp.","ttl_ms":604800000,"slots":1024,"in_use":true}],
  // "pinned":[[5,1]]}
  [[nodiscard]] Bytes to_bytes() const;
  // kCorruption: not written by to_bytes(). kUnsupported: written by a later version.
  static Result<RetentionState> from_bytes(BytesView bytes);
};

class Retention final : public Sharding {
 public:
  // `base` is the layout of class 0; all classes have its salts and span. kInvalidArgument: a class
  // whose TTL does not fit its slots, or more classes than shards allow.
  static Result<std::shared_ptr<Retention>> make(std::shared_ptr<const CyclicLayout> base,
                                                 RetentionState state);

  // All classes have its salts, span and widths.
  [[nodiscard]] const CyclicLayout& base() const { return *layouts_.front(); }
  [[nodiscard]] const CyclicLayout& layout_of(std::uint32_t shard) const {
    return *layouts_[shard / salts_];
  }
  [[nodiscard]] std::uint32_t shard_count() const override {
    return static_cast<std::uint32_t>(layouts_.size()) * salts_;
  }
  [[nodiscard]] std::uint32_t shard_of(std::uint64_t metric_uid, std::string_view metric,
                                       BytesView tsuid) const override;

  [[nodiscard]] std::uint32_t class_of(std::uint64_t metric_uid, std::string_view metric) const;
  // Since when the points of a metric, or of all metrics, have not expired.
  [[nodiscard]] TimestampMs kept_from(std::uint64_t metric_uid, std::string_view metric,
                                      TimestampMs now) const;
  [[nodiscard]] TimestampMs all_kept_from(TimestampMs now) const;
  void assign_class(std::uint64_t metric_uid, std::uint32_t to_class);
  [[nodiscard]] RetentionState state() const;

 private:
  Retention(std::vector<std::shared_ptr<const CyclicLayout>> layouts, RetentionState state);

  const std::vector<std::shared_ptr<const CyclicLayout>> layouts_;  // by class
  const std::uint32_t salts_;
  mutable std::shared_mutex mutex_;
  RetentionState state_;  // pins are guarded by mutex_; the classes are constant
};

// Reads the state from the settings table; only class 0 if none is stored.
Task<RetentionState> read_retention(std::shared_ptr<Table> settings);
Task<void> write_retention(std::shared_ptr<Table> settings, RetentionState state);

// Keeps metrics in their classes when they are renamed. Must outlive its tasks.
class RetentionClassWriter {
 public:
  RetentionClassWriter(std::shared_ptr<Table> settings, std::shared_ptr<Retention> retention)
      : settings_(std::move(settings)), retention_(std::move(retention)) {}

  // Call it before a metric gets a new name. The change is durable when the task completes.
  Task<void> keep_class(std::uint64_t metric_uid, std::string old_name, std::string new_name);

 private:
  const std::shared_ptr<Table> settings_;
  const std::shared_ptr<Retention> retention_;
  const std::shared_ptr<Semaphore> turn_ = std::make_shared<Semaphore>(SemaphoreLoad{1, 1});
};

}  // namespace halite::storage::engine
