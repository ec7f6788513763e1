#include "storage/tsdb/wal/segments.h"

#include <algorithm>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "common/log.h"
#include "storage/tsdb/wal/newest_segment.h"

namespace halite::storage::log_format {

namespace {

constexpr std::uint64_t kZerosBytes = 1 << 20;  // written at once

// Not 0, which means "none".
std::uint64_t drawn_salt() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32 | device()) | 1;
}

}  // namespace

Segments::Segments(FileSystem& files, const LogOptions& options, ReplayedLog replayed)
    : files_(files),
      options_(options),
      salt_(replayed.salt != 0 ? replayed.salt : drawn_salt()),
      number_max_(replayed.number_max),
      segments_(replayed.segments.begin(), replayed.segments.end()) {
  for (std::string& path : replayed.spares) {
    // Treats a spare of unreadable size as empty.
    const std::uint64_t bytes = files_.size(path).value_or(0);
    spares_.push_back({std::move(path), bytes});
  }
}

Result<void> Segments::write_zeros(File& file, std::uint64_t begin, std::uint64_t end) {
  const Bytes zeros(std::min(kZerosBytes, end - begin), '\0');
  while (begin < end) {
    const std::uint64_t bytes = std::min<std::uint64_t>(zeros.size(), end - begin);
    TRY_VOID(file.pwrite(begin, BytesView(zeros).substr(0, bytes)));
    begin += bytes;
  }
  return {};
}

// Returns a spare file, or a new one of minimum size. Its name shows that it is not a segment yet.
Result<Segments::Spare> Segments::make_file() {
  if (!spares_.empty()) return spares_.back();
  Spare made{fmt::format("{}/new{}", options_.dir, kTemporaryEnd), options_.segment_bytes_min};
  TRY(const std::unique_ptr<File> file, files_.open(made.path, OpenFile::kReplace));
  TRY_VOID(write_zeros(*file, 0, made.bytes));
  return made;
}

Result<void> Segments::begin_next(Sequence after) {
  TRY(Spare file_made, make_file());
  // The number of a failed attempt is not reused, because parts of it may be on the disk.
  const std::uint64_t number = ++number_max_;
  {
    TRY(const std::unique_ptr<File> file, files_.open(file_made.path, OpenFile::kWrite));
    TRY_VOID(file->pwrite(0, segment_page({salt_, number, after})));
    TRY_VOID(file->sync());
  }
  SegmentFile segment;
  segment.number = number;
  segment.path = options_.dir + "/" + segment_name(number);
  segment.bytes = std::max<std::uint64_t>(file_made.bytes, kPageBytes);
  segment.after = after;
  segment.last = after;
  TRY_VOID(files_.rename(file_made.path, segment.path));
  if (!spares_.empty()) spares_.pop_back();
  TRY_VOID(files_.sync_dir(options_.dir));
  TRY(std::unique_ptr<File> file, files_.open(segment.path, OpenFile::kWrite));
  segments_.push_back(std::move(segment));
  active_ = std::move(file);
  active_key_ = SegmentKey(salt_, number);
  active_offset_ = kPageBytes;
  // The segment works without the note; only its loss would not be detected.
  if (const auto noted = note_bytes(segments_.back().bytes); !noted) {
    log::warn("{}", noted.error().message);
  }
  return {};
}

// Notes that this many bytes of the active segment are durable and stay.
Result<void> Segments::note_bytes(std::uint64_t bytes) {
  noted_bytes_ = bytes;
  const SegmentFile& active = segments_.back();
  return write_newest(files_, options_.dir,
                      {.number = active.number, .after = active.after, .bytes_min = bytes});
}

// New segments are exempt: they allow the previous one to be truncated.
Result<void> Segments::check_growth(std::uint64_t bytes) {
  if (options_.reserve_bytes == 0) return {};
  const auto is_there = [&]() -> bool {
    const Result<DiskSpace> space = files_.disk_space(options_.dir);
    return !space || space->free_bytes >= bytes + options_.reserve_bytes + disk_bytes() / 2;
  };
  if (is_there()) return {};
  TRY_VOID(trim_spares(0));
  if (is_there()) return {};
  return fail(
      Errc::kOverloaded,
      fmt::format(
          "{}: no space left on device except the reserve for chunks (engine.log_reserve_bytes)",
          options_.dir));
}

Result<void> Segments::write(BytesView group, Sequence last, Growth growth) {
  SegmentFile& segment = segments_.back();
  const std::uint64_t end = active_offset_ + group.size();
  std::uint64_t grown = std::max(segment.bytes, end);
  if (end > segment.bytes && growth == Growth::kAhead) {
    grown = std::min<std::uint64_t>(options_.segment_bytes, std::max(2 * segment.bytes, end));
    TRY_VOID(check_growth(grown - segment.bytes));
  }
  TRY_VOID(active_->pwrite(active_offset_, group));
  if (end > segment.bytes) {
    TRY_VOID(write_zeros(*active_, end, grown));
    segment.bytes = grown;
  }
  active_offset_ = end;
  segment.last = last;
  return {};
}

Result<void> Segments::sync() {
  TRY_VOID(active_->datasync());
  if (segments_.back().bytes <= noted_bytes_) return {};
  // Synced data is durable without the note; only its later loss would not be detected.
  if (const auto noted = note_bytes(segments_.back().bytes); !noted) {
    log::warn("{}", noted.error().message);
  }
  return {};
}

Result<void> Segments::empty_out(const SegmentFile& segment) {
  // A file larger than a segment would count as disk space of the log.
  if (segment.oversized || spares_.size() >= options_.spare_segments_max) {
    return files_.remove(segment.path);
  }
  Spare spare{fmt::format("{}/{}{:016x}", options_.dir, kSparePrefix, segment.number),
              segment.bytes};
  TRY_VOID(files_.rename(segment.path, spare.path));
  spares_.push_back(std::move(spare));
  return {};
}

Result<void> Segments::truncate_upto(Sequence sequence) {
  bool changed = false;
  bool oldest = true;  // segments with records are removed oldest first, empty ones at any time
  for (std::size_t i = 0; i + 1 < segments_.size();) {
    const SegmentFile& segment = segments_[i];
    oldest = oldest && segment.last <= sequence;
    if (!oldest && segment.last != segment.after) {
      ++i;
      continue;
    }
    TRY_VOID(empty_out(segment));
    segments_.erase(segments_.begin() + static_cast<std::ptrdiff_t>(i));
    changed = true;
  }
  return changed ? files_.sync_dir(options_.dir) : Result<void>();
}

Result<void> Segments::trim_spares(std::size_t left) {
  if (spares_.size() <= left) return {};
  while (spares_.size() > left) {
    TRY_VOID(files_.remove(spares_.back().path));
    spares_.pop_back();
  }
  return files_.sync_dir(options_.dir);
}

Result<void> Segments::shrink() {
  TRY_VOID(trim_spares(0));
  SegmentFile& active = segments_.back();
  const std::uint64_t needed = std::max<std::uint64_t>(active_offset_, options_.segment_bytes_min);
  if (active.bytes > needed) {
    TRY_VOID(note_bytes(needed));
    TRY_VOID(active_->truncate(needed));
    active.bytes = needed;
  }
  return {};
}

std::uint64_t Segments::disk_bytes() const {
  std::uint64_t bytes = 0;
  for (const SegmentFile& segment : segments_) {
    if (!segment.oversized) bytes += segment.bytes;  // otherwise mostly a hole, and soon removed
  }
  for (const Spare& spare : spares_) bytes += spare.bytes;
  return bytes;
}

}  // namespace halite::storage::log_format
