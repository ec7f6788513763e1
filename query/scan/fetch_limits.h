// How much one sub-query may fetch from the store, by its metric: what tsd.query.limits.* is in
// OpenTSDB, beside the limits that every query has (QueryLimits).
//
//   Counting  points as stored, before filters of time cut them; bytes as rows of OpenTSDB would
//             have them: a key an hour and series, and kPointBytes a point.
//   Threads   FetchLimits::of() from any; a FetchMeter is used by all coroutines of one sub-query.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "common/result.h"
#include "query/limits.h"

namespace halite::query {

// Of one sub-query; 0 is no limit.
struct FetchLimit {
  std::uint64_t points_max = 0;
  std::uint64_t bytes_max = 0;
  std::uint64_t free_rows = 0;
};

struct FetchOverride;

class FetchLimits {
 public:
  FetchLimits(FetchLimitOptions options, const Clock& clock);
  ~FetchLimits();
  FetchLimits(const FetchLimits&) = delete;
  FetchLimits& operator=(const FetchLimits&) = delete;

  // Whether the file of overrides can be read and means something, for the start of the server.
  [[nodiscard]] static Result<void> check(const FetchLimitOptions& options);

  // The limit of a metric. A file of overrides that has become unreadable leaves those it had.
  [[nodiscard]] FetchLimit of(std::string_view metric, bool set_points_aside, bool set_bytes_aside);

 private:
  using Overrides = std::vector<FetchOverride>;
  static Result<std::shared_ptr<const Overrides>> read(const std::string& path);
  std::shared_ptr<const Overrides> overrides();

  const FetchLimitOptions options_;
  const Clock& clock_;
  std::mutex mutex_;
  std::shared_ptr<const Overrides> overrides_;  // guarded by mutex_; nullptr: never read
  TimestampMs read_at_ = 0;                     // guarded by mutex_
};

// What one sub-query has fetched so far.
class FetchMeter {
 public:
  static constexpr std::uint64_t kPointBytes = 10;  // qualifier and value

  explicit FetchMeter(FetchLimit limit) : limit_(limit) {}

  struct Amount {
    std::uint64_t points = 0;
    std::uint64_t rows = 0;
    std::uint64_t bytes = 0;
  };
  // kTooLarge, in OpenTSDB's words, above the limit.
  [[nodiscard]] Result<void> add(const Amount& amount);

  [[nodiscard]] bool counts() const { return limit_.points_max != 0 || limit_.bytes_max != 0; }

  // For what is read again from there.
  [[nodiscard]] Amount fetched() const { return {points_, rows_, bytes_}; }
  void go_back(const Amount& amount);

 private:
  const FetchLimit limit_;
  std::atomic<std::uint64_t> points_ = 0;
  std::atomic<std::uint64_t> rows_ = 0;
  std::atomic<std::uint64_t> bytes_ = 0;
};

}  // namespace halite::query
