// Where the log's lines go: a queue, and a thread of its own that writes them to a descriptor. Who
// logs waits for no disk and no reader of a pipe.
//
//   Overflow  a line for which there is no room is dropped and counted; once there is room again,
//             the log says how many were.
//   Order     as they were logged.
//   End       everything is written before it is gone; but it waits for a reader that takes nothing
//             for kFlushTimeout only.
//   Threads   any call from any thread.
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
  // As long as flush() and the destructor wait at most.
  static constexpr std::chrono::milliseconds kFlushTimeout{5'000};

  // The descriptor outlives the process's last line. queue_bytes_max: of lines not yet written.
  LogWriter(int descriptor, std::size_t queue_bytes_max);
  ~LogWriter() override;
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // A line's part of the queue.
  [[nodiscard]] static std::size_t queued_bytes(const spdlog::details::log_msg& message);

  void log(const spdlog::details::log_msg& message) override;
  // Waits until all that was logged before is written. Returns at once on the thread that writes.
  void flush() override;
  void set_pattern(const std::string& pattern) override;
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override;

  [[nodiscard]] std::uint64_t dropped() const;  // lines so far

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with the thread, which may be stuck for ever
};

}  // namespace halite::app
