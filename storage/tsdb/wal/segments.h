// The segment files of an open log: the one that is written, older ones that may be needed, spare
// ones to be written again.
//
// A segment grows by doubling from segment_bytes_min, as far as reserve_bytes allows; one that was
// emptied keeps its size, so that a sync of it need not touch metadata. Both are zeros or old
// records where nothing was written yet.
//
//   Threads  one at a time; blocks.
//   Errors   kOverloaded: the disk is full; nothing has changed, try again. Any other: give up.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "storage/files/files.h"
#include "storage/tsdb/wal/format.h"
#include "storage/tsdb/wal/log.h"
#include "storage/tsdb/wal/replay.h"

namespace halite::storage::log_format {

class Segments {
 public:
  Segments(FileSystem& files, const LogOptions& options, ReplayedLog replayed);

  // Makes a new segment the active one, durable as an empty one that begins behind `after`. The
  // caller has synced the one before.
  Result<void> begin_next(Sequence after);

  // Whether so many bytes, whole pages, fit in the active segment.
  [[nodiscard]] bool has_room(std::size_t bytes) const {
    return active_offset_ + bytes <= options_.segment_bytes;
  }
  [[nodiscard]] const SegmentKey& key() const { return active_key_; }  // what to seal a group for
  [[nodiscard]] std::uint64_t offset() const { return active_offset_; }

  // Growing ahead leaves what reserve_bytes says; who only grows as far as needed takes what there
  // is.
  enum class Growth : std::uint8_t { kAhead, kNeeded };
  // A sealed group, at offset(). `last`: the last sequence the segment then holds.
  Result<void> write(BytesView group, Sequence last, Growth growth = Growth::kAhead);
  Result<void> sync();

  Result<void> truncate_upto(Sequence sequence);
  Result<void> trim_spares(std::size_t left);
  Result<void> shrink();

  [[nodiscard]] std::uint64_t disk_bytes() const;
  [[nodiscard]] std::size_t count() const { return segments_.size(); }  // without spare ones

 private:
  struct Spare {
    std::string path;
    std::uint64_t bytes = 0;
  };
  Result<Spare> make_file();
  Result<void> write_zeros(File& file, std::uint64_t begin, std::uint64_t end);
  Result<void> check_growth(std::uint64_t bytes);
  Result<void> empty_out(const SegmentFile& segment);
  Result<void> note_bytes(std::uint64_t bytes);

  FileSystem& files_;
  const LogOptions& options_;
  const std::uint64_t salt_;
  std::uint64_t number_max_;
  std::deque<SegmentFile> segments_;  // oldest first; the last is active after begin_next()
  std::vector<Spare> spares_;

  std::unique_ptr<File> active_;
  SegmentKey active_key_{0, 0};
  std::uint64_t active_offset_ = 0;  // where the next group goes
  std::uint64_t noted_bytes_ = 0;    // of the active segment, in the file `newest`
};

}  // namespace halite::storage::log_format
