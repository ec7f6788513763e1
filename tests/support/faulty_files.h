// Files in memory that behave as badly as a disk may: what was not synced is lost in a power cut,
// sector by sector, directory entries too; syncs and writes fail on demand; the disk fills up.
//
// A power cut: of a file's unsynced 512-byte sectors any may be on the disk, and any part of a new
// size; of a directory's unsynced changes the first so many. What a failed sync was to write may be
// lost although the file still shows it, and no later sync writes it.
//
// With keep_on() what is on its disk is also on a real one, and so outlives the process.
//
//   Threads  any call from any thread.
//   Random   all chances come from the seed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "storage/files/files.h"
#include "tests/support/lasting_disk.h"

namespace halite::test {

class FaultyFiles final : public storage::FileSystem {
 public:
  explicit FaultyFiles(std::uint32_t seed) : random_(seed) {}

  // Begins with what the disk holds, and tells it of all that outlives a power cut from now on.
  // Call it before anything else.
  void keep_on(std::shared_ptr<LastingDisk> disk);
  // Begins with a copy of what the other one's disk holds. Call it before anything else.
  void begin_as(FaultyFiles& other);

  // Faults. A name_end chooses the files whose paths end so; "" is all of them.
  void fail_writes(std::string name_end, Error error);  // until heal()
  void fail_syncs(std::string name_end, Error error);   // until heal()
  void fail_opens(std::string name_end, Error error);   // for reading; until heal()
  void fail_sync_number(std::uint64_t number);          // 1 = the next sync of any file
  void fail_syncs_by_chance(double probability);        // 0 = none
  void set_capacity(std::uint64_t bytes);               // of all files; a write over it is cut off
  void heal();                                          // all of the above
  // Of paths with `part` in them: they answer well and do nothing, as some disks do.
  void ignore_syncs(std::string part);
  void set_sync_time(std::chrono::microseconds time);

  // Every call fails until power is back; open files and locks are dead for good.
  void cut_power();
  // The write, sync, rename... that comes so much later, of paths that contain `part`.
  void cut_power_after(std::uint64_t changes, std::string part = "");
  // As cut_power(), and what is not synced is lost at once: what keep_on() named is as the disk is
  // after the cut. Then calls `after` while nobody else gets to the files.
  void cut_power_for_good(const std::function<void()>& after);
  // Called where cut_power_after() strikes, with what was about to change; may not come back.
  void on_cut(std::function<void(const std::string& path)> then);
  void restore_power();  // what was not synced is lost now
  // In place of restore_power(): only the process ended. All that was written is there, but what
  // was not synced is lost in a later power cut.
  void restart_process();
  void crash() {
    cut_power();
    restore_power();
  }

  // Damages what is on the disk, and what the file shows.
  void flip_bit(const std::string& path, std::uint64_t offset, unsigned bit);
  void overwrite(const std::string& path, std::uint64_t offset, BytesView bytes);

  [[nodiscard]] std::uint64_t used_bytes();
  [[nodiscard]] std::uint64_t changes();  // made so far
  [[nodiscard]] std::uint64_t open_files() const { return open_files_; }

  Result<std::unique_ptr<storage::File>> open(const std::string& path,
                                              storage::OpenFile how) override;
  Result<void> remove(const std::string& path) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> link(const std::string& from, const std::string& to) override;
  Result<void> sync_dir(const std::string& dir) override;
  Result<void> make_dir(const std::string& dir) override;
  Result<void> remove_dir(const std::string& dir) override;
  Result<std::vector<std::string>> list(const std::string& dir) override;
  Result<storage::FileKind> kind(const std::string& path) override;
  Result<std::uint64_t> size(const std::string& path) override;
  Result<TimestampMs> modified(const std::string& path) override;
  Result<storage::DiskSpace> disk_space(const std::string& path) override;
  Result<std::unique_ptr<storage::FileLock>> lock(const std::string& path) override;

 private:
  friend class FaultyFile;
  friend class FaultyLock;

  // The content of a file: what is shown, what is on the disk, and which sectors differ.
  struct Inode {
    std::uint64_t number = 0;  // its name for the LastingDisk
    Bytes shown;
    Bytes lasting;
    std::set<std::uint64_t> dirty;  // sector numbers
  };
  using InodePtr = std::shared_ptr<Inode>;
  using Entries = std::map<std::string, InodePtr>;  // by name; null = a directory
  struct Change {                                   // of one directory, in one step
    std::vector<std::pair<std::string, std::optional<InodePtr>>> entries;  // nothing = removed
  };
  struct Dir {
    Entries shown;
    Entries lasting;
    std::vector<Change> unsynced;
  };
  struct Trouble {
    std::string name_end;
    Error error;
  };

  // All with mutex_ held.
  Result<void> power() const;
  Result<void> before_change(const std::string& path);
  [[nodiscard]] bool ignores_sync(const std::string& path) const;
  InodePtr make_inode();
  Result<Dir*> dir_above(const std::string& path);
  Result<InodePtr> file_at(const std::string& path);
  static void apply(Entries& entries, const Change& change);
  static void change(Dir& dir, Change change);
  void make_last(const std::string& path, Dir& dir, std::size_t changes);  // the first so many
  Result<void> write(const std::string& path, Inode& inode, std::uint64_t offset, BytesView bytes);
  Result<void> resize(Inode& inode, std::uint64_t size);
  Result<void> sync(const std::string& path, Inode& inode);
  void begin_life();
  void lose_unsynced(Inode& inode);
  void lose_all_unsynced();
  std::uint64_t used();

  std::atomic<std::uint64_t> open_files_ = 0;
  std::mutex mutex_;  // guards the rest
  std::mt19937 random_;
  std::map<std::string, Dir> dirs_ = {{"/", {}}, {".", {}}};
  std::set<std::string> locks_;
  std::uint64_t life_ = 0;  // power cuts so far: files opened before the last one are dead
  bool power_ = true;
  std::uint64_t changes_ = 0;
  std::optional<std::uint64_t> changes_to_cut_;  // of paths that contain cut_part_
  std::string cut_part_;
  std::function<void(const std::string&)> on_cut_;
  std::shared_ptr<LastingDisk> disk_;  // null = what lasts does so in here only
  std::uint64_t inodes_ = 0;           // made so far
  std::optional<std::string> ignored_syncs_;

  std::optional<Trouble> write_trouble_;
  std::optional<Trouble> sync_trouble_;
  std::optional<Trouble> open_trouble_;
  std::optional<std::uint64_t> syncs_to_failure_;
  double sync_failure_probability_ = 0;
  std::optional<std::uint64_t> capacity_;
  std::chrono::microseconds sync_time_{0};
};

}  // namespace halite::test
