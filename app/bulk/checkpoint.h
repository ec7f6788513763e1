// How far an import has come: a small JSON file, replaced atomically. `--resume` continues from it.
//
//   {"format":1,"into":"engine /var/halite",
//    "inputs":[{"path":"a.gz","bytes":123,"modified_ns":1764000000000000000}],
//    "lines_are":"opentsdb","file":0,"offset":4096,"lines":70,"points":60,"refused":10,
//    "errors_bytes":512,"errors":"refused.txt"}
//
// Older versions wrote neither "modified_ns" nor "errors": then these are not compared.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/bulk/block_reader.h"
#include "common/result.h"
#include "ingest/formats/point_format.h"
#include "storage/files/files.h"

namespace halite::app {

// The time between two checkpoints of an import, an export or a migration.
inline constexpr std::chrono::seconds kCheckpointInterval{20};
[[nodiscard]] inline std::chrono::milliseconds interval_ms(double seconds) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::duration<double>(seconds));
}

struct ImportTotals {
  std::uint64_t points = 0;   // stored
  std::uint64_t refused = 0;  // lines
};

// Everything before `position` is stored durably.
struct Checkpoint {
  ingest::Format format = ingest::Format::kOpenTsdb;
  InputPosition position;
  std::uint64_t lines = 0;  // before it in the file
  ImportTotals totals;
  std::uint64_t errors_bytes = 0;  // of the file of refused lines
  // --errors; empty: none was given. Nothing: an older version wrote the checkpoint.
  std::optional<std::string> errors = std::nullopt;
};

// A file that a command writes, and the flag that names it.
struct WrittenFile {
  std::string flag;
  std::string path;  // empty or "-": none
};

// kInvalidArgument: two of them, the checkpoint and its lock are one file, by whatever names.
// Devices may be given twice.
[[nodiscard]] Result<void> check_distinct(std::vector<WrittenFile> files,
                                          const std::string& checkpoint);

// kConflict: a task that is resumed was begun with another file of --errors than `now`. `path`: of
// its checkpoint, which says `before`.
[[nodiscard]] Result<void> check_errors_flag(const std::string& path,
                                             const std::optional<std::string>& before,
                                             const std::string& now);

// What a task that continues from `found`, a Checkpoint or a WalkState, keeps of the file of
// --errors. Nothing: the task has no such file yet. An older version did not say whether it had.
template <class State>
[[nodiscard]] std::optional<std::uint64_t> errors_kept(const std::optional<State>& found) {
  if (!found || (!found->errors && found->errors_bytes == 0)) return std::nullopt;
  return found->errors_bytes;
}

// Removes the file of a finished task. Not an error if there is none.
[[nodiscard]] Result<void> remove_checkpoint(const std::string& path);

// Keeps other tasks away from a checkpoint while a task runs, by a file beside it: the checkpoint
// itself is replaced. The destructor removes that file.
class CheckpointLock {
 public:
  // An empty path locks nothing. kConflict: another task uses the checkpoint.
  static Result<std::unique_ptr<CheckpointLock>> take(const std::string& checkpoint);
  ~CheckpointLock();
  CheckpointLock(const CheckpointLock&) = delete;
  CheckpointLock& operator=(const CheckpointLock&) = delete;

 private:
  CheckpointLock(std::string path, std::unique_ptr<storage::FileLock> lock);

  const std::string path_;
  const std::unique_ptr<storage::FileLock> lock_;  // null: there is no checkpoint
};

class CheckpointFile {
 public:
  // The inputs and the target identify the import.
  CheckpointFile(std::string path, const std::vector<std::string>& inputs, std::string into);

  // Nothing if the file does not exist. kConflict: it is of other inputs or another target, or an
  // input has changed; kCorruption: it cannot be read as a checkpoint.
  [[nodiscard]] Result<std::optional<Checkpoint>> read() const;
  [[nodiscard]] Result<void> write(const Checkpoint& checkpoint) const;
  [[nodiscard]] Result<void> remove() const { return remove_checkpoint(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Input {
    std::string path;
    std::uint64_t bytes = 0;        // 0: not a regular file
    std::uint64_t modified_ns = 0;  // likewise
    bool operator==(const Input&) const = default;
  };
  const std::string path_;
  const std::string into_;
  std::vector<Input> inputs_;
};

}  // namespace halite::app
