#include "app/server/log_writer.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <spdlog/details/log_msg_buffer.h>
#include <spdlog/pattern_formatter.h>

#include "common/threads/thread_name.h"

namespace halite::app {
namespace {

using spdlog::details::log_msg;
using spdlog::details::log_msg_buffer;

// Returns false on a write error; the rest is lost.
bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd room{.fd = descriptor, .events = POLLOUT, .revents = 0};
      if (::poll(&room, 1, -1) < 0 && errno != EINTR) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

// Other threads handle signals.
void block_all_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

struct LogWriter::State {
  State(int where, std::size_t most) : descriptor(where), queue_bytes_max(most) {}

  const int descriptor;
  const std::size_t queue_bytes_max;

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::vector<log_msg_buffer> queue;  // guarded by mutex, like all down to `formatting`
  std::size_t queue_bytes = 0;        // queued or being written
  std::uint64_t logged = 0;           // lines queued so far
  std::uint64_t written = 0;          // of these: written, or lost with the descriptor
  std::uint64_t dropped = 0;
  std::uint64_t dropped_told = 0;  // reported by a log line
  bool ending = false;
  bool ended = false;

  std::mutex formatting;
  std::unique_ptr<spdlog::formatter> formatter =  // guarded by formatting
      std::make_unique<spdlog::pattern_formatter>();

  std::thread thread;

  void run();
  bool write(const std::vector<log_msg_buffer>& lines, std::uint64_t newly_dropped);
};

void LogWriter::State::run() {
  name_this_thread("log-writer");
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return ending || !queue.empty() || dropped != dropped_told; });
    if (queue.empty() && dropped == dropped_told) break;  // stop
    const std::vector<log_msg_buffer> lines = std::exchange(queue, {});
    const std::size_t bytes = queue_bytes;  // all of it: written lines were already subtracted
    const std::uint64_t newly_dropped = dropped - dropped_told;
    dropped_told = dropped;
    lock.unlock();
    const bool whole = write(lines, newly_dropped);
    lock.lock();
    queue_bytes -= bytes;
    written += lines.size();
    if (!whole) dropped_told = dropped += lines.size();  // a report could not be written either
    changed.notify_all();
  }
  ended = true;
  changed.notify_all();
}

bool LogWriter::State::write(const std::vector<log_msg_buffer>& lines,
                             std::uint64_t newly_dropped) {
  spdlog::memory_buf_t text;
  {
    const std::lock_guard lock(formatting);
    for (const log_msg_buffer& line : lines) formatter->format(line, text);
    if (newly_dropped != 0) {
      const std::string told =
          fmt::format("{} log lines were dropped because the queue was full (log.queue_bytes_max)",
                      newly_dropped);
      formatter->format(log_msg("halite", spdlog::level::warn, told), text);
    }
  }
  return write_all(descriptor, {text.data(), text.size()});
}

LogWriter::LogWriter(int descriptor, std::size_t queue_bytes_max)
    : state_(std::make_shared<State>(descriptor, queue_bytes_max)) {
  state_->thread = std::thread([state = state_] {
    block_all_signals();
    state->run();
  });
}

LogWriter::~LogWriter() {
  std::unique_lock lock(state_->mutex);
  state_->ending = true;
  state_->changed.notify_all();
  const bool ended =
      state_->changed.wait_for(lock, kFlushTimeout, [this] { return state_->ended; });
  lock.unlock();
  if (ended) {
    state_->thread.join();
  } else {
    state_->thread.detach();  // blocked by a reader that takes nothing
  }
}

std::size_t LogWriter::queued_bytes(const log_msg& message) {
  return message.payload.size() + sizeof(log_msg_buffer);
}

void LogWriter::log(const log_msg& message) {
  const std::size_t bytes = queued_bytes(message);
  const std::lock_guard lock(state_->mutex);
  if (bytes > state_->queue_bytes_max - state_->queue_bytes) {
    ++state_->dropped;
    return;
  }
  state_->queue.emplace_back(message);
  state_->queue_bytes += bytes;
  ++state_->logged;
  state_->changed.notify_all();
}

void LogWriter::flush() {
  if (std::this_thread::get_id() == state_->thread.get_id()) return;
  std::unique_lock lock(state_->mutex);
  const std::uint64_t wanted = state_->logged;
  state_->changed.wait_for(lock, kFlushTimeout, [&] { return state_->written >= wanted; });
}

void LogWriter::set_pattern(const std::string& pattern) {
  set_formatter(std::make_unique<spdlog::pattern_formatter>(pattern));
}

void LogWriter::set_formatter(std::unique_ptr<spdlog::formatter> formatter) {
  const std::lock_guard lock(state_->formatting);
  state_->formatter = std::move(formatter);
}

std::uint64_t LogWriter::dropped() const {
  const std::lock_guard lock(state_->mutex);
  return state_->dropped;
}

}  // namespace halite::app
