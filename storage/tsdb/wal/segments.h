// The segment files of an open log: the active one, older ones that may be needed, and spare ones.
//
// A segment grows by doubling from segment_bytes_min, within reserve_bytes. An emptied segment
// keeps its size, so that a sync of it does not change metadata. Unwritten parts contain zeros or
// old records.
//
//   Threads  one at a time; blocks.
//   Errors   kOverloaded: the disk is full; nothing has changed, retry. Any other is permanent.
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

  // Makes a new segment the active one, durably empty, beginning after `after`. Sync the previous
  // one first.
  Result<void> begin_next(Sequence after);

  // Whether so many bytes, in whole pages, fit in the active segment.
  [[nodiscard]] bool has_room(std::size_t bytes) const {
    return active_offset_ + bytes <= options_.segment_bytes;
  }
  [[nodiscard]] const SegmentKey& key() const { return active_key_; }  // key to seal a group with
  [[nodiscard]] std::uint64_t offset() const { return active_offset_; }

  // kAhead leaves reserve_bytes free; kNeeded grows only as far as needed and may use the reserve.
  enum class Growth : std::uint8_t { kAhead, kNeeded };
  // Writes a sealed group at offset(). `last`: the last sequence in the segment afterwards.
  Result<void> write(BytesView group, Sequence last, Growth growth = Growth::kAhead);
  Result<void> sync();

  Result<void> truncate_upto(Sequence sequence);
  Result<void> trim_spares(std::size_t left);
  Result<void> shrink();

  [[nodiscard]] std::uint64_t disk_bytes() const;
  [[nodiscard]] std::size_t count() const { return segments_.size(); }  // without spare segments

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
  std::deque<SegmentFile> segments_;  // oldest first; after begin_next() the last is active
  std::vector<Spare> spares_;

  std::unique_ptr<File> active_;
  SegmentKey active_key_{0, 0};
  std::uint64_t active_offset_ = 0;  // of the next group
  std::uint64_t noted_bytes_ = 0;    // size of the active segment in the file `newest`
};

}  // namespace halite::storage::log_format
