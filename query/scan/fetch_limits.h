// Limits what one sub-query fetches from the store, by metric. Corresponds to OpenTSDB's
// tsd.query.limits.*, in addition to the limits of every query (QueryLimits).
//
//   Counting  Points as stored, before time filters. Bytes as OpenTSDB's rows would need: a key for
//             each hour and series, and kPointBytes for each point.
//   Threads   Call FetchLimits::of() from any thread. All coroutines of a sub-query share a
//             FetchMeter.
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

// For one sub-query; 0 = no limit.
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

  // Whether the overrides file can be read and is valid. For the server's start.
  [[nodiscard]] static Result<void> check(const FetchLimitOptions& options);

  // The limit of a metric. If the overrides file becomes unreadable, its last content stays in
  // force.
  [[nodiscard]] FetchLimit of(std::string_view metric, bool set_points_aside, bool set_bytes_aside);

 private:
  using Overrides = std::vector<FetchOverride>;
  static Result<std::shared_ptr<const Overrides>> read(const std::string& path);
  std::shared_ptr<const Overrides> overrides();

  const FetchLimitOptions options_;
  const Clock& clock_;
  std::mutex mutex_;
  std::shared_ptr<const Overrides> overrides_;  // guarded by mutex_; nullptr: not yet read
  TimestampMs read_at_ = 0;                     // guarded by mutex_
};

// Counts what one sub-query has fetched.
class FetchMeter {
 public:
  static constexpr std::uint64_t kPointBytes = 10;  // qualifier and value

  explicit FetchMeter(FetchLimit limit) : limit_(limit) {}

  struct Amount {
    std::uint64_t points = 0;
    std::uint64_t rows = 0;
    std::uint64_t bytes = 0;
  };
  // kTooLarge, with OpenTSDB's message: above the limit.
  [[nodiscard]] Result<void> add(const Amount& amount);

  [[nodiscard]] bool counts() const { return limit_.points_max != 0 || limit_.bytes_max != 0; }

  // A position to return to before a part is read again.
  [[nodiscard]] Amount fetched() const { return {points_, rows_, bytes_}; }
  void go_back(const Amount& amount);

 private:
  const FetchLimit limit_;
  std::atomic<std::uint64_t> points_ = 0;
  std::atomic<std::uint64_t> rows_ = 0;
  std::atomic<std::uint64_t> bytes_ = 0;
};

}  // namespace halite::query
