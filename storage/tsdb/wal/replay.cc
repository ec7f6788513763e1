#include "storage/tsdb/wal/replay.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/log.h"
#include "storage/tsdb/wal/format.h"
#include "storage/tsdb/wal/segment_read.h"
#include "storage/tsdb/wal/segment_scan.h"

namespace halite::storage::log_format {

namespace {

struct Found {
  SegmentFile file;
  std::optional<SegmentHead> head;  // nothing if damaged
};

class Replay {
 public:
  Replay(FileSystem& files, const LogOptions& options, const ReplayCallbacks& callbacks)
      : files_(files), options_(options), callbacks_(callbacks) {}

  Result<ReplayedLog> run() {
    TRY_VOID(list());
    TRY_VOID(set_aside_unreadable());
    for (const Found& found : found_) progress_.bytes_total += found.file.bytes;
    TRY_VOID(tell_progress());
    for (std::size_t i = 0; i < found_.size(); ++i) {
      TRY_VOID(replay_segment(i));
      progress_.bytes_done += found_[i].file.bytes;
      progress_.records = log_.report.records;
      TRY_VOID(tell_progress());
      log_.segments.push_back(found_[i].file);
    }
    log_.report.last = last_;
    return std::move(log_);
  }

 private:
  Result<void> tell_progress() const {
    return callbacks_.progress ? callbacks_.progress(progress_) : Result<void>();
  }
  Result<void> list();
  Result<void> take_segment(std::uint64_t number, const std::string& path);
  Result<void> set_aside_unreadable();
  Result<void> replay_segment(std::size_t index);
  Result<void> walk(const SegmentFile& file, BytesView bytes, const SegmentScan& scan,
                    std::optional<Sequence> bound);
  void note_unsynced(const SegmentFile& file, BytesView bytes, const SegmentScan& scan);
  Result<void> damaged(const SegmentFile& file, BytesView bytes, std::size_t begin, std::size_t end,
                       Sequence next);
  Result<void> set_aside(LogDamage& damage, BytesView bytes);

  FileSystem& files_;
  const LogOptions& options_;
  const ReplayCallbacks& callbacks_;
  std::vector<Found> found_;
  Bytes bytes_;  // of the segment that is read
  ReplayedLog log_;
  ReplayProgress progress_;
  Sequence last_ = 0;  // last sequence read or given up
};

Result<void> Replay::list() {
  TRY(const std::vector<std::string> names, files_.list(options_.dir));
  for (const std::string& name : names) {
    const std::string path = options_.dir + "/" + name;
    if (name.starts_with(kSparePrefix)) {
      log_.spares.push_back(path);
    } else if (name.ends_with(kTemporaryEnd)) {
      TRY_VOID(files_.remove(path));
    } else if (const auto number = segment_number(name)) {
      TRY_VOID(take_segment(*number, path));
    }
  }
  return {};
}

// Call in the order of segment names, which is the order of their numbers.
Result<void> Replay::take_segment(std::uint64_t number, const std::string& path) {
  Found found;
  found.file.number = number;
  found.file.path = path;
  log_.number_max = std::max(log_.number_max, number);
  Bytes page(kPageBytes, '\0');
  {
    TRY(const std::unique_ptr<File> file, files_.open(path, OpenFile::kRead));
    TRY(found.file.bytes, file->size());
    TRY(const std::size_t got, file->pread(0, page));
    page.resize(got);
  }
  const Result<SegmentHead> head = read_segment_page(page);
  if (head && head->number == number) {
    log_.salt = head->salt;
    found.head = *head;
  } else if (head) {
    log_.spares.push_back(path);  // emptied; its new name did not become durable
    return {};
  } else if (head.error().code == Errc::kUnsupported) {
    return fail(Errc::kUnsupported, fmt::format("{}: {}", path, head.error().message));
  }
  // Nothing is lost there, but the log did not write it, and it takes disk space.
  if (const std::string text = oversize_text(found.file.bytes); !text.empty()) {
    log::error(
        "log segment {} is damaged: it {}. Its records are still read, and the file is removed "
        "when they are in chunks",
        path, text);
    found.file.oversized = true;
    found.file.bytes = kSegmentBytesMax;
  }
  found_.push_back(std::move(found));
  return {};
}

// Without a readable header the salt is unknown, so no record can be verified.
Result<void> Replay::set_aside_unreadable() {
  if (found_.empty() || log_.salt != 0) return {};
  for (const Found& found : found_) {
    LogDamage damage;
    damage.segment = found.file.path;
    damage.bytes = found.file.bytes;
    damage.quarantine =
        fmt::format("{}/{}{}", options_.dir, kDamagedPrefix, name_of(found.file.path));
    TRY_VOID(files_.rename(damage.segment, damage.quarantine));
    log::error("log segment {} has no readable header: set aside as {}", damage.segment,
               damage.quarantine);
    log_.report.damages.push_back(std::move(damage));
  }
  found_.clear();
  return files_.sync_dir(options_.dir);
}

Result<void> Replay::replay_segment(std::size_t index) {
  Found& found = found_[index];
  const bool known_begin = found.head.has_value();
  if (known_begin && index == 0) {
    // Earlier records were truncated, so they were flushed, unless a segment is missing.
    if (found.head->after > options_.flushed_upto && !options_.flushed_unknown) {
      last_ = std::min(found.head->after, options_.flushed_upto);
      TRY_VOID(damaged(found.file, {}, 0, 0, found.head->after + 1));
    }
    last_ = found.head->after;
  }
  found.file.after = last_;
  if (!known_begin) {
    log::error("the header of log segment {} is damaged; its records are still read",
               found.file.path);
  }
  std::optional<Sequence> bound;  // the last sequence before the next segment
  if (index + 1 < found_.size() && found_[index + 1].head) bound = found_[index + 1].head->after;
  TRY_VOID(read_segment(files_, found.file.path, bytes_));
  const SegmentKey key(log_.salt, found.file.number);
  const Sequence first = known_begin ? found.head->after + 1 : last_ + 1;
  const SegmentScan scan = scan_segment(bytes_, key, first);
  TRY_VOID(walk(found.file, bytes_, scan, bound));
  // A segment is synced before the next one begins.
  if (index + 1 == found_.size()) note_unsynced(found.file, bytes_, scan);
  found.file.last = last_;
  return {};
}

Result<void> Replay::walk(const SegmentFile& file, BytesView bytes, const SegmentScan& scan,
                          std::optional<Sequence> bound) {
  const Sequence synced = std::max(scan.synced_upto, bound.value_or(0));
  std::size_t whole_end = kPageBytes;
  for (const ScannedRecord& record : scan.records) {
    if (bound && record.sequence > *bound) break;  // cut off when the next segment was begun
    if (record.sequence <= last_) continue;
    if (record.sequence > last_ + 1) {
      const Sequence lost_end = std::min(record.sequence, synced + 1);
      if (lost_end > last_ + 1) {
        TRY_VOID(damaged(file, bytes, whole_end, record.offset, lost_end));
      }
      if (record.sequence > last_ + 1) {
        // The missing records were not acknowledged, and this one may depend on them.
        log_.report.torn = true;
        return {};
      }
    }
    last_ = record.sequence;
    whole_end = record.offset + record.bytes;
    if (record.sequence <= options_.flushed_upto) continue;
    TRY_VOID(callbacks_.record(record.sequence, record.payload));
    ++log_.report.records;
  }
  if (last_ < synced) TRY_VOID(damaged(file, bytes, whole_end, bytes.size(), synced + 1));
  return {};
}

void Replay::note_unsynced(const SegmentFile& file, BytesView bytes, const SegmentScan& scan) {
  std::size_t begin = kPageBytes;  // with the head of the first group that may not be synced
  std::size_t end = kPageBytes;
  for (const ScannedRecord& record : scan.records) {
    if (record.sequence > last_) break;
    end = record.offset + record.bytes;
    if (record.sequence <= scan.synced_upto) begin = end;
  }
  if (begin == end) return;
  log_.unsynced = {
      .path = file.path, .offset = begin, .bytes = Bytes(bytes.substr(begin, end - begin))};
}

// Handles the loss of the records from last_ + 1 to before `next`, whose bytes were in [begin,
// end).
Result<void> Replay::damaged(const SegmentFile& file, BytesView bytes, std::size_t begin,
                             std::size_t end, Sequence next) {
  LogDamage damage;
  damage.segment = file.path;
  damage.offset = begin;
  damage.begin = std::max(last_, options_.flushed_upto) + 1;
  damage.end = next;
  last_ = next - 1;
  if (damage.begin >= damage.end) return {};  // they are in chunks
  // Skipped when an end was missing; that was reported then.
  if (damage.end - damage.begin >= kSequencesSkipped) return {};
  if (begin < end && begin < bytes.size()) {
    damage.bytes = std::min(end, bytes.size()) - begin;
    TRY_VOID(set_aside(damage, bytes.substr(begin, damage.bytes)));
  }
  log::error("log segment {} is damaged at byte {}: {} acknowledged records are lost ({} to {}){}",
             file.path, begin, damage.end - damage.begin, damage.begin, damage.end - 1,
             damage.quarantine.empty() ? "" : ", the bytes are in " + damage.quarantine);
  log_.report.damages.push_back(std::move(damage));
  return {};
}

Result<void> Replay::set_aside(LogDamage& damage, BytesView bytes) {
  damage.quarantine = fmt::format("{}/{}{}-{:08x}.bytes", options_.dir, kDamagedPrefix,
                                  name_of(damage.segment).substr(0, 16), damage.offset);
  TRY(const FileKind there, files_.kind(damage.quarantine));
  if (there != FileKind::kNone) return {};  // from an earlier replay
  return write_whole(files_, damage.quarantine, bytes);
}

}  // namespace

Result<void> make_durable(FileSystem& files, const UnsyncedEnd& unsynced) {
  if (unsynced.bytes.empty()) return {};
  TRY(const std::unique_ptr<File> file, files.open(unsynced.path, OpenFile::kWrite));
  TRY_VOID(file->pwrite(unsynced.offset, unsynced.bytes));
  return file->sync();
}

Result<ReplayedLog> replay_log(FileSystem& files, const LogOptions& options,
                               const ReplayCallbacks& callbacks) {
  return Replay(files, options, callbacks).run();
}

}  // namespace halite::storage::log_format
