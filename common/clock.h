// The source of time. A test can stop a FakeClock, so any failing run can be repeated.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace halite {

// Milliseconds since 1970-01-01T00:00:00Z.
using TimestampMs = std::int64_t;

struct TimeRange {
  TimestampMs begin = 0;  // inclusive
  TimestampMs end = 0;    // exclusive
  bool operator==(const TimeRange&) const = default;
};

// Call from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual TimestampMs now_ms() const = 0;
  // now_ms(), more precisely.
  [[nodiscard]] virtual std::int64_t now_us() const { return now_ms() * 1000; }
  // Microseconds since an arbitrary moment, to measure durations. Changes of the system time do not
  // affect it.
  [[nodiscard]] virtual std::int64_t elapsed_us() const { return now_ms() * 1000; }
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] TimestampMs now_ms() const override {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
  }
  [[nodiscard]] std::int64_t now_us() const override {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(since).count();
  }
  [[nodiscard]] std::int64_t elapsed_us() const override {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(since).count();
  }
};

// Stands still until the test sets it.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(TimestampMs now_ms) : now_ms_(now_ms) {}
  [[nodiscard]] TimestampMs now_ms() const override { return now_ms_; }
  void set(TimestampMs now_ms) { now_ms_ = now_ms; }
  void advance(std::int64_t by_ms) { now_ms_ += by_ms; }

 private:
  std::atomic<TimestampMs> now_ms_;
};

}  // namespace halite
