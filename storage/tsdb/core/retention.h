// Retention classes: metrics whose names begin alike are kept for a time of their own.
//
// Each class has its own shards, as many as there are salts, and its own ring of slots in them: its
// cells lie apart, expire by its own TTL, and nothing in the formats knows of classes. Class 0 is
// of the metrics that no rule names.
//
//   shard = class · salts + salt
//
//   Belonging  a metric's class is that of the longest prefix in use that its name begins with. A
//              metric for which that would change, because the rules or its name do, is pinned to
//              the class that has its points.
//   Threads    any call from any thread.
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
#include "common/semaphore.h"
#include "common/task.h"
#include "storage/api/sharding.h"
#include "storage/api/wide_column.h"
#include "storage/cells/layouts/cyclic_layout.h"

namespace halite::storage::engine {

// What is kept of the classes; class 0 is not listed, so that the first has the number 1.
struct RetentionState {
  struct Class {
    std::string prefix;
    std::int64_t ttl_ms = 0;  // 0 = for ever
    std::uint32_t slots = 0;  // of its ring; 0 = it was made without a TTL: never used again
    bool in_use = true;       // some rule names it: it takes new metrics
    bool operator==(const Class&) const = default;
  };
  std::vector<Class> classes;
  std::map<std::uint64_t, std::uint32_t> pinned;  // metric uid -> class

  // The class of a metric of this name that is not pinned.
  [[nodiscard]] std::uint32_t class_of(std::string_view metric) const;

  bool operator==(const RetentionState&) const = default;

  // JSON: {"format":1,"classes":[{"prefix":"tmp.","ttl_ms":604800000,"slots":1024,"in_use":true}],
  // "pinned":[[5,1]]}
  [[nodiscard]] Bytes to_bytes() const;
  // kCorruption: not what to_bytes() writes. kUnsupported: written by a later version.
  static Result<RetentionState> from_bytes(BytesView bytes);
};

class Retention final : public Sharding {
 public:
  // `base` is class 0's layout; the others have its salts and span. kInvalidArgument: a class
  // whose TTL does not go with its slots, or more classes than there are shards.
  static Result<std::shared_ptr<Retention>> make(std::shared_ptr<const CyclicLayout> base,
                                                 RetentionState state);

  // Salts, span and widths are those of all classes.
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
  void assign_class(std::uint64_t metric_uid, std::uint32_t to_class);
  [[nodiscard]] RetentionState state() const;

 private:
  Retention(std::vector<std::shared_ptr<const CyclicLayout>> layouts, RetentionState state);

  const std::vector<std::shared_ptr<const CyclicLayout>> layouts_;  // by class
  const std::uint32_t salts_;
  mutable std::shared_mutex mutex_;
  RetentionState state_;  // its pins are guarded by mutex_; the classes stay
};

// The stored state; only class 0 if none was stored. In the settings table.
Task<RetentionState> read_retention(std::shared_ptr<Table> settings);
Task<void> write_retention(std::shared_ptr<Table> settings, RetentionState state);

// Keeps metrics in their classes when their names change, one at a time. Outlives its tasks.
class RetentionClassWriter {
 public:
  RetentionClassWriter(std::shared_ptr<Table> settings, std::shared_ptr<Retention> retention)
      : settings_(std::move(settings)), retention_(std::move(retention)) {}

  // Call it before a metric gets a new name. Durable.
  Task<void> keep_class(std::uint64_t metric_uid, std::string old_name, std::string new_name);

 private:
  const std::shared_ptr<Table> settings_;
  const std::shared_ptr<Retention> retention_;
  const std::shared_ptr<Semaphore> turn_ = std::make_shared<Semaphore>(SemaphoreLoad{1, 1});
};

}  // namespace halite::storage::engine
