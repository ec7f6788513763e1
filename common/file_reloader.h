// What files say, read again by a thread of its own when they change.
//
//   Reloaded<const Accounts> accounts;
//   TRY_VOID(accounts.start({.paths = {path}, .read = .., .taken = .., .refused = ..}, 1s));
//   accounts.current()     waits for no disk: fit for io threads
//
//   Errors   of the first reading: start()'s. Files that cannot be read later, or are wrong, leave
//            what was read before; the log says so once for each reason, and every look tries
//            again.
//   Threads  current() and version() from any; the rest from one.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/file_stamp.h"
#include "common/log.h"
#include "common/result.h"
#include "common/thread_name.h"

namespace halite {

template <class T>
class FileReloader {
 public:
  struct Source {
    std::vector<std::string> paths;  // looked at together
    std::function<Result<std::shared_ptr<T>>()> read;
    std::function<std::string(const T&)> taken;  // what the log says of a new reading
    std::string refused;                         // and of one that failed, before its reason
  };

  // Reads once and, from then on, as soon as a look at the files finds them changed.
  [[nodiscard]] Result<void> start(Source source, std::chrono::milliseconds period) {
    source_ = std::move(source);
    seen_ = stamps();
    TRY(std::shared_ptr<T> first, source_.read());
    publish(std::move(first));
    thread_ = std::jthread([this, period](const std::stop_token& stop) { run(stop, period); });
    return {};
  }

  // Null before start().
  [[nodiscard]] std::shared_ptr<T> current() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }
  // Another number once the files were read again.
  [[nodiscard]] std::uint64_t version() const {
    const std::lock_guard lock(mutex_);
    return version_;
  }

 private:
  [[nodiscard]] std::vector<FileStamp> stamps() const {
    std::vector<FileStamp> stamps;
    for (const std::string& path : source_.paths) stamps.push_back(FileStamp::of(path));
    return stamps;
  }

  void publish(std::shared_ptr<T> value) {
    const std::lock_guard lock(mutex_);
    value_.swap(value);
    ++version_;
  }

  void run(const std::stop_token& stop, std::chrono::milliseconds period) {
    name_this_thread("reload");
    std::mutex asleep;
    std::condition_variable_any woken;
    std::unique_lock lock(asleep);
    while (!woken.wait_for(lock, stop, period, [&stop] { return stop.stop_requested(); })) look();
  }

  void look() {
    std::vector<FileStamp> found = stamps();
    if (found == seen_) return;
    Result<std::shared_ptr<T>> fresh = source_.read();
    if (!fresh) {
      const std::string& why = fresh.error().message;
      if (complaint_ != why) {
        log::error("{}; the previous one stays in use: {}", source_.refused, why);
      }
      complaint_ = why;
      return;
    }
    seen_ = std::move(found);
    complaint_.clear();
    log::info("{}", source_.taken(**fresh));
    publish(*std::move(fresh));
  }

  Source source_;                // set by start()
  std::vector<FileStamp> seen_;  // from before the reading; only on the thread, as is the next
  std::string complaint_;        // of the last look; empty = none
  mutable std::mutex mutex_;     // held for a copy at most
  std::shared_ptr<T> value_;     // guarded by mutex_
  std::uint64_t version_ = 0;    // guarded by mutex_
  std::jthread thread_;          // the last: it ends before what it works with
};

}  // namespace halite
