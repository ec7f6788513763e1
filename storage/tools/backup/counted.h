// Counts the bytes of a job for its progress, and asks whether the job is to end.
#pragma once

#include <cstdint>

#include "common/result.h"
#include "storage/tools/backup/backup.h"

namespace halite::storage::backup {

// Not thread-safe. The context outlives it.
class Counted {
 public:
  explicit Counted(const BackupContext& work) : work_(work) {}
  [[nodiscard]] bool ended() const { return work_.ended && work_.ended(); }
  // kCancelled: the job is to end. Copying counts no extra progress, because most files are only
  // read.
  [[nodiscard]] Result<void> go_on() const {
    if (ended()) return fail(Errc::kCancelled, "stopped");
    return {};
  }
  void expect(std::uint64_t bytes) { progress_.bytes_total += bytes; }
  Result<void> add(std::uint64_t bytes) {
    progress_.bytes_done += bytes;
    if (work_.progress) work_.progress(progress_);
    return go_on();
  }

 private:
  const BackupContext& work_;
  Progress progress_;
};

}  // namespace halite::storage::backup
