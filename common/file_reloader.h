// The parsed content of files. A separate thread reads them again when they change.
//
//   FileReloader<const Accounts> accounts;
//   TRY_VOID(accounts.start({.paths = {path}, .read = .., .taken = .., .refused = ..}, 1s));
//   accounts.current()     never waits for a disk: safe on event loops
//
//   Errors   start() returns the error of the first reading. If a later reading fails, the previous
//            value stays in use. The log reports each reason once, and every check tries again.
//   Threads  call current() and version() from any thread; the rest from one thread at a time.
#pragma once

#include <sys/stat.h>

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

#include "common/log.h"
#include "common/result.h"
#include "common/threads/thread_name.h"

namespace halite {

// Detects whether a file has changed since it was read. Two versions of a file have different
// stamps, however soon one replaces the other by a rename. All fields are zero if the file does not
// exist.
struct FileStamp {
  std::int64_t seconds = 0;  // last change of content, permissions or owner
  std::int64_t nanoseconds = 0;
  std::uint64_t inode = 0;
  std::int64_t bytes = 0;
  bool regular = false;  // reading anything else may block forever
  bool operator==(const FileStamp&) const = default;

  [[nodiscard]] static FileStamp of(const std::string& path) {
    struct stat info = {};
    if (::stat(path.c_str(), &info) != 0) return {};
    return {info.st_ctim.tv_sec, info.st_ctim.tv_nsec, info.st_ino, info.st_size,
            S_ISREG(info.st_mode)};
  }
};

template <class T>
class FileReloader {
 public:
  struct Source {
    std::vector<std::string> paths;  // checked together
    std::function<Result<std::shared_ptr<T>>()> read;
    std::function<std::string(const T&)> taken;  // the log message for a new reading
    std::string refused;                         // the start of the log message for a failed
                                                 // reading, before the reason
  };

  // Reads the files once, then again whenever a check finds them changed.
  [[nodiscard]] Result<void> start(Source source, std::chrono::milliseconds period) {
    source_ = std::move(source);
    std::vector<FileStamp> found = stamps();
    TRY(std::shared_ptr<T> first, source_.read());
    start_from(std::move(first), std::move(found), std::move(source_), period);
    return {};
  }

  // Begins with a value that was read when the files had these stamps.
  void start_from(std::shared_ptr<T> first, std::vector<FileStamp> stamps, Source source,
                  std::chrono::milliseconds period) {
    source_ = std::move(source);
    seen_ = std::move(stamps);
    publish(std::move(first));
    thread_ = std::jthread([this, period](const std::stop_token& stop) { run(stop, period); });
  }

  // Null before start().
  [[nodiscard]] std::shared_ptr<T> current() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }
  // Changes whenever the files are read again.
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
  std::vector<FileStamp> seen_;  // taken before the reading; used only on thread_, like complaint_
  std::string complaint_;        // the error of the last check; empty = none
  mutable std::mutex mutex_;     // held only for a copy
  std::shared_ptr<T> value_;     // guarded by mutex_
  std::uint64_t version_ = 0;    // guarded by mutex_
  std::jthread thread_;          // last: ends before what it uses
};

}  // namespace halite
