// Any bytes as the file of a log segment, and the same bytes laid over a whole one.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <tuple>

#include "storage/tsdb/wal/segment_scan.h"

namespace halite::storage::log_format {

namespace {

constexpr std::uint64_t kSalt = 7;
constexpr std::uint64_t kNumber = 12;

void check(BytesView segment, std::uint64_t first) {
  const SegmentScan scan = scan_segment(segment, SegmentKey(kSalt, kNumber), first);
  std::uint64_t next = first;
  std::size_t end = kPageBytes;
  for (const ScannedRecord& record : scan.records) {
    if (record.sequence < next || record.offset < end) std::abort();
    if (record.payload.size() + kRecordHeadBytes > record.bytes) std::abort();
    if (record.payload.data() < segment.data() ||
        record.payload.data() + record.payload.size() > segment.data() + segment.size()) {
      std::abort();
    }
    next = record.sequence + 1;
    end = record.offset + record.bytes;
  }
}

Bytes whole_segment() {
  Bytes segment = segment_page({kSalt, kNumber, 4});
  const SegmentKey key(kSalt, kNumber);
  for (std::uint64_t first = 5; first < 9; first += 2) {
    Bytes group;
    begin_group(group);
    append_record(group, first, "the first payload");
    append_record(group, first + 1, Bytes(100, 'x'));
    seal_group(group, first - 1, first, 2, key, segment.size());
    segment += group;
  }
  return segment;
}

}  // namespace

// The first two bytes say where in the whole segment the rest goes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const BytesView input(reinterpret_cast<const char*>(data), size);
  std::ignore = read_segment_page(input);
  check(input, 0);
  if (size < 2) return 0;
  static const Bytes kWhole = whole_segment();
  Bytes segment = kWhole;
  const std::size_t at = (data[0] | data[1] << 8) % segment.size();
  const BytesView over = input.substr(2, segment.size() - at);
  std::ranges::copy(over, segment.begin() + static_cast<std::ptrdiff_t>(at));
  check(segment, 5);
  return 0;
}

}  // namespace halite::storage::log_format
