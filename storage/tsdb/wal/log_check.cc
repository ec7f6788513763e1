#include "storage/tsdb/wal/log_check.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "storage/tsdb/wal/format.h"
#include "storage/tsdb/wal/newest_segment.h"
#include "storage/tsdb/wal/replay.h"
#include "storage/tsdb/wal/segment_read.h"
#include "storage/tsdb/wal/segment_scan.h"

namespace halite::storage {

using namespace log_format;  // NOLINT(google-build-using-namespace): this is a part of it

namespace {

struct Segment {
  SegmentFile file;
  std::optional<SegmentHead> head;  // nothing if damaged
};

// A group head or a record, and its position.
struct Item {
  std::size_t offset = 0;
  Sequence sequence = 0;                // of a group: of its first record
  const ScannedGroup* group = nullptr;  // exactly one of the two is not null
  const ScannedRecord* record = nullptr;
};

std::vector<Item> items_of(const SegmentScan& scan) {
  std::vector<Item> items;
  for (const ScannedGroup& group : scan.groups) {
    items.push_back({group.offset, group.head.first, &group, nullptr});
  }
  for (const ScannedRecord& record : scan.records) {
    items.push_back({record.offset, record.sequence, nullptr, &record});
  }
  std::ranges::sort(items, {}, &Item::offset);
  return items;
}

// Compares the scan of a segment with what should be there.
class SegmentWalk {
 public:
  SegmentWalk(const LogCheck& check, const Segment& segment, Sequence last,
              std::vector<LogFault>& faults)
      : check_(check), segment_(segment), last_(last), faults_(faults) {}

  Result<void> walk(const SegmentScan& scan, std::optional<Sequence> bound) {
    synced_ = std::max(scan.synced_upto, bound.value_or(0));
    for (const Item& item : items_of(scan)) {
      if (bound && item.sequence > *bound) break;  // cut off when the next segment was begun
      if (item.offset > at_ && !fills_up(item)) missing(item.sequence);
      TRY_VOID(item.group != nullptr ? pass(*item.group) : pass(*item.record));
    }
    Sequence end = std::max(group_end_sequence_, synced_ + 1);
    if (bound) end = std::min(end, *bound + 1);
    if (end > last_ + 1) missing(end);
    return {};
  }

  [[nodiscard]] Sequence last() const { return last_; }

 private:
  // Whether the item follows a group whose head is damaged, so that the group's end is unknown.
  [[nodiscard]] bool fills_up(const Item& item) const {
    return item.group != nullptr && !in_group_ && item.offset == padded(at_, kPageBytes);
  }

  Result<void> pass(const ScannedGroup& group) {
    in_group_ = group.head.records > 0;
    group_end_ = group.offset + group.head.bytes;
    group_end_sequence_ = group.head.first + group.head.records;
    at_ = in_group_ ? group.offset + kGroupHeadBytes : group_end_;
    note_behind(group.head.first);
    return {};
  }

  Result<void> pass(const ScannedRecord& record) {
    note_behind(record.sequence);
    at_ = record.offset + record.bytes;
    last_ = record.sequence;
    if (in_group_ && record.sequence + 1 == group_end_sequence_) {
      at_ = group_end_;
      in_group_ = false;
    }
    Result<void> read = check_.record(record.sequence, record.payload);
    if (read || read.error().code != Errc::kCorruption) return read;
    LogFault fault{.file = segment_.file.path, .offset = record.offset};
    fault.what =
        fmt::format("record {} cannot be parsed: {}", record.sequence, read.error().message);
    fault.begin = record.sequence;
    fault.end = record.sequence + 1;
    faults_.push_back(std::move(fault));
    return {};
  }

  // Reports invalid bytes at at_. `next` is the sequence after them.
  void missing(Sequence next) {
    LogFault fault{.file = segment_.file.path, .offset = at_};
    fault.begin = std::max(last_, check_.flushed_upto) + 1;
    fault.end = std::max(next, fault.begin);
    // Skipped when an end was missing; that was reported then.
    if (fault.end - fault.begin >= kSequencesSkipped) return;
    fault.may_be_torn = std::max(next, last_ + 1) > synced_ + 1 && last_ >= synced_;
    fault.before = last_;
    if (fault.begin < fault.end) {
      fault.what = fmt::format("{} records cannot be read ({} to {})", fault.end - fault.begin,
                               fault.begin, fault.end - 1);
    } else {
      fault.what = "bytes are damaged, but all lost records are in chunks";
    }
    faults_.push_back(std::move(fault));
    last_ = std::max(last_, next - 1);
    behind_wanted_ = true;
  }

  void note_behind(Sequence sequence) {
    if (std::exchange(behind_wanted_, false)) faults_.back().behind = sequence;
  }

  const LogCheck& check_;
  const Segment& segment_;
  Sequence last_;  // last sequence read or reported
  std::vector<LogFault>& faults_;
  Sequence synced_ = 0;          // acknowledged up to here
  std::size_t at_ = kPageBytes;  // expected offset of the next item
  bool in_group_ = false;        // more of its records follow
  std::size_t group_end_ = 0;
  Sequence group_end_sequence_ = 0;  // sequence after its last record
  bool behind_wanted_ = false;       // the last fault still needs its `behind`
};

class LogChecker {
 public:
  LogChecker(FileSystem& files, const LogCheck& check) : files_(files), check_(check) {}

  Result<std::vector<LogFault>> run() {
    TRY_VOID(list());
    TRY(const bool newest_found, check_newest());
    const Sequence first = segments_.empty() ? 0 : first_sequence();
    Sequence last = first;
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      TRY_VOID(check_segment(i, last));
      if (check_.file_done) check_.file_done(segments_[i].file.path, segments_[i].file.bytes);
    }
    // A new log gets the file after its first segment.
    const bool is_new = segments_.empty() || (segments_.size() == 1 &&
                                              segments_.front().file.number == 1 && last == first);
    if (!newest_found && !is_new) {
      faults_.push_back({.file = newest_path(check_.dir), .what = "is missing"});
    }
    return std::move(faults_);
  }

 private:
  Result<void> list() {
    TRY(const std::vector<std::string> names, files_.list(check_.dir));
    for (const std::string& name : names) {
      if (const auto number = segment_number(name)) {
        TRY_VOID(take_segment(*number, check_.dir + "/" + name));
      }
    }
    return {};
  }

  Result<void> take_segment(std::uint64_t number, const std::string& path) {
    Segment segment;
    segment.file.number = number;
    segment.file.path = path;
    Bytes page(kPageBytes, '\0');
    TRY(const std::unique_ptr<File> file, files_.open(path, OpenFile::kRead));
    TRY(segment.file.bytes, file->size());
    TRY(const std::size_t got, file->pread(0, page));
    page.resize(got);
    const Result<SegmentHead> head = read_segment_page(page);
    if (head && head->number != number) return {};  // emptied: a spare segment
    if (head) {
      segment.head = *head;
      salt_ = head->salt;
    } else if (head.error().code == Errc::kUnsupported) {
      return fail(Errc::kUnsupported, fmt::format("{}: {}", path, head.error().message));
    } else {
      faults_.push_back({.file = path, .what = "the head is damaged: " + head.error().message});
    }
    if (std::string text = oversize_text(segment.file.bytes); !text.empty()) {
      faults_.push_back({.file = path, .offset = kSegmentBytesMax, .what = std::move(text)});
      segment.file.bytes = kSegmentBytesMax;
    }
    segments_.push_back(std::move(segment));
    return {};
  }

  // Detects that the end of the log is missing. False: there is no file `newest`.
  Result<bool> check_newest() {
    const std::string path = newest_path(check_.dir);
    std::optional<NewestSegment> newest;
    TRY(const FileKind kind, files_.kind(path));
    const bool found = kind == FileKind::kFile;
    if (found) {
      TRY(const Bytes bytes, read_whole(files_, path, kNewestBytesMax));
      const Result<NewestSegment> read = parse_newest(bytes);
      if (read) newest = *read;
      if (!read) faults_.push_back({.file = path, .what = "damaged: " + read.error().message});
    }
    ReplayedLog replayed;
    for (const Segment& segment : segments_) replayed.segments.push_back(segment.file);
    const std::string missing = missing_end(newest, replayed, check_.flushed_upto);
    if (!missing.empty()) {
      faults_.push_back({.file = check_.dir, .what = "the end of the log is missing: " + missing});
    }
    return found;
  }

  // Earlier records were truncated, so they were flushed, unless a segment is missing.
  Sequence first_sequence() {
    const Segment& first = segments_.front();
    if (!first.head) return 0;
    if (first.head->after > check_.flushed_upto && !check_.flushed_unknown) {
      LogFault fault{.file = first.file.path};
      fault.what = "the segments before this one are missing";
      fault.begin = check_.flushed_upto + 1;
      fault.end = first.head->after + 1;
      faults_.push_back(std::move(fault));
    }
    return first.head->after;
  }

  Result<void> check_segment(std::size_t index, Sequence& last) {
    const Segment& segment = segments_[index];
    if (salt_ == 0) return {};  // without the salt no record can be verified
    std::optional<Sequence> bound;
    if (index + 1 < segments_.size() && segments_[index + 1].head) {
      bound = segments_[index + 1].head->after;
    }
    TRY_VOID(read_segment(files_, segment.file.path, bytes_));
    const SegmentKey key(salt_, segment.file.number);
    const Sequence before = segment.head ? segment.head->after : last;
    SegmentWalk walk(check_, segment, before, faults_);
    TRY_VOID(walk.walk(scan_segment(bytes_, key, before + 1), bound));
    last = std::max(last, walk.last());
    return {};
  }

  FileSystem& files_;
  const LogCheck& check_;
  std::vector<Segment> segments_;
  Bytes bytes_;  // of the segment that is read
  std::uint64_t salt_ = 0;
  std::vector<LogFault> faults_;
};

}  // namespace

Result<std::vector<LogFault>> check_log(FileSystem& files, const LogCheck& check) {
  return LogChecker(files, check).run();
}

}  // namespace halite::storage
