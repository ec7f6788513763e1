// The times of the steps of one request: what it did, from when to when.
//
//   SpanLog log(clock);
//   { const SpanLog::Timed timed(&log, "parse"); ... }
//   log.spans()
//
//   Threads  call from any thread.
//   Limits   kStepsMax steps and kShardsMax reads of shards; more are counted, not kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "common/clock.h"

namespace halite {

class SpanLog {
 public:
  static constexpr std::size_t kStepsMax = 64;
  static constexpr std::size_t kShardsMax = 64;

  struct Span {
    std::string_view name;      // a literal
    std::int64_t begin_us = 0;  // Clock::elapsed_us()
    std::int64_t end_us = 0;
    std::optional<std::uint32_t> shard = {};  // the read of one: a part of the next step in the log
    std::uint64_t points = 0;                 // read from the shard
  };

  // Measures a step during its lifetime, unless the log is null.
  class Timed {
   public:
    Timed(SpanLog* log, std::string_view name)
        : log_(log), name_(name), begin_us_(log == nullptr ? 0 : log->clock_.elapsed_us()) {}
    ~Timed() {
      if (log_ == nullptr) return;
      log_->add({.name = name_, .begin_us = begin_us_, .end_us = log_->clock_.elapsed_us()});
    }
    Timed(const Timed&) = delete;

   private:
    SpanLog* const log_;
    const std::string_view name_;
    const std::int64_t begin_us_;
  };

  // The clock outlives it. `begin_us` is when the request began.
  SpanLog(const Clock& clock, std::int64_t begin_us) : clock_(clock), begin_us_(begin_us) {}
  explicit SpanLog(const Clock& clock) : SpanLog(clock, clock.elapsed_us()) {}

  [[nodiscard]] std::int64_t begin_us() const { return begin_us_; }

  void add(const Span& span) {
    const std::lock_guard lock(mutex_);
    std::size_t& kept = span.shard ? shards_ : steps_;
    if (kept == (span.shard ? kShardsMax : kStepsMax)) {
      ++left_out_;
      return;
    }
    ++kept;
    spans_.push_back(span);
  }

  // In the order of their ends.
  [[nodiscard]] std::vector<Span> spans() const {
    const std::lock_guard lock(mutex_);
    return spans_;
  }
  [[nodiscard]] std::size_t left_out() const {
    const std::lock_guard lock(mutex_);
    return left_out_;
  }

 private:
  const Clock& clock_;
  const std::int64_t begin_us_;
  mutable std::mutex mutex_;
  std::vector<Span> spans_;   // guarded by mutex_
  std::size_t steps_ = 0;     // guarded by mutex_
  std::size_t shards_ = 0;    // guarded by mutex_
  std::size_t left_out_ = 0;  // guarded by mutex_
};

}  // namespace halite
