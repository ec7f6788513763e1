// Writes log lines to a descriptor: a queue and a thread. Logging never waits for a disk or for the
// reader of a pipe.
//
//   Overflow  a line that does not fit into the queue is dropped and counted; once there is space
//             again, the log reports the number.
//   Order     as logged.
//   End       the destructor writes everything, but waits at most kFlushTimeout for a reader that
//             takes nothing.
//   Threads   call from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <spdlog/sinks/sink.h>

namespace halite::app {

class LogWriter final : public spdlog::sinks::sink {
 public:
  // The longest wait of flush() and the destructor.
  static constexpr std::chrono::milliseconds kFlushTimeout{5'000};

  // The descriptor stays open until the process ends. queue_bytes_max: of lines not yet written.
  LogWriter(int descriptor, std::size_t queue_bytes_max);
  ~LogWriter() override;
  LogWriter(const LogWriter&) = delete;

  // The bytes of a line in the queue.
  [[nodiscard]] static std::size_t queued_bytes(const spdlog::details::log_msg& message);

  void log(const spdlog::details::log_msg& message) override;
  // Waits until all earlier lines are written. Returns at once on the writing thread.
  void flush() override;
  void set_pattern(const std::string& pattern) override;
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override;

  [[nodiscard]] std::uint64_t dropped() const;  // lines so far

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with the thread, which may block forever
};

}  // namespace halite::app
