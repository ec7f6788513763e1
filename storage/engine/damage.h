// What of the chunks' files cannot be read: said in the process's log once a place, counted always.
//
// Nothing is repaired and nothing is removed. Questions that need what is there fail with the
// error; all else goes on without it (docs/damage.md).
//
//   Threads  any call from any thread.
#pragma once

#include <atomic>
#include <mutex>
#include <set>
#include <string>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include "common/result.h"

namespace halite::storage::engine {

class Damage {
 public:
  explicit Damage(prometheus::Registry& registry);

  // An error of reading chunks or of merging their files. Counts where it is kCorruption.
  void note(const Error& error);

  // RocksDB merged by itself, and met damage.
  void note_failed_merge(const Error& error);
  // Whether it did since this was asked last.
  [[nodiscard]] bool take_failed_merge() { return failed_merge_.exchange(false); }

 private:
  static constexpr std::size_t kPlacesMax = 1000;  // more are counted, but not said

  std::atomic<bool> failed_merge_ = false;
  std::mutex mutex_;
  std::set<std::string> places_;  // guarded by mutex_
  prometheus::Counter& reads_;
  prometheus::Gauge& found_;
};

}  // namespace halite::storage::engine
