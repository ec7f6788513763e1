// Shows how far an import or export has come: one line that is rewritten on a terminal, a line a
// minute elsewhere.
//
//   Threads  set() from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "app/bulk/checkpoint.h"
#include "app/tools/print.h"

namespace halite::app {

class Progress {
 public:
  // `bytes_total`: of the inputs, as stored; 0 if unknown. `quiet`: shows nothing.
  Progress(std::uint64_t bytes_total, bool quiet);
  ~Progress();  // ends the line on the terminal
  Progress(const Progress&) = delete;

  void set(std::uint64_t bytes_done, const ImportTotals& totals);
  // Removes the line from the terminal, before other output.
  void clear();

 private:
  [[nodiscard]] std::string text(std::chrono::steady_clock::time_point now) const;

  const std::uint64_t bytes_total_;
  const bool quiet_;
  const bool terminal_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point shown_ = began_;
  std::uint64_t bytes_begin_ = 0;  // of the first call, when an import resumes
  std::uint64_t points_begin_ = 0;
  bool begun_ = false;
  bool line_ = false;  // there is one on the terminal
  std::uint64_t bytes_done_ = 0;
  ImportTotals totals_;
};

}  // namespace halite::app
