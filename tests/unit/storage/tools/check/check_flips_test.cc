// Every flipped bit is found, but those of bytes that say nothing: docs/operate/reliability.md
// names them.
#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "storage/backends/rocks/rocks_store.h"
#include "storage/tsdb/chunk_db/chunk_db.h"
#include "storage/tsdb/wal/format.h"
#include "storage/tsdb/wal/segment_scan.h"
#include "tests/support/sanitized.h"
#include "tests/unit/storage/tools/check/checked_world.h"

namespace halite::storage {
namespace {

struct Span {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// The bytes of a segment that say something.
std::vector<Span> of_segment(const Bytes& bytes) {
  using log_format::kGroupHeadBytes;
  using log_format::kPageBytes;
  using log_format::kRecordHeadBytes;
  using log_format::read_segment_page;
  using log_format::ScannedGroup;
  using log_format::ScannedRecord;
  using log_format::SegmentHead;
  using log_format::SegmentKey;
  using log_format::SegmentScan;
  const SegmentHead head = read_segment_page(BytesView(bytes).substr(0, kPageBytes)).value();
  const SegmentScan scan = scan_segment(bytes, SegmentKey(head.salt, head.number), head.after + 1);
  std::vector<Span> spans = {{0, 40}};
  for (const ScannedRecord& record : scan.records) {
    spans.push_back({record.offset, record.offset + kRecordHeadBytes + record.payload.size()});
  }
  for (const ScannedGroup& group : scan.groups) {
    const bool last_of_none = group.head.records == 0 && group.offset == scan.groups.back().offset;
    if (!last_of_none) spans.push_back({group.offset, group.offset + kGroupHeadBytes});
  }
  return spans;
}

// RocksDB's, in blocks of 32 KiB whose last bytes may be too few for a record.
std::vector<Span> of_records(const Bytes& bytes) {
  std::vector<Span> spans;
  for (std::uint64_t begin = 0; begin < bytes.size(); begin += 32768) {
    const std::uint64_t end = std::min<std::uint64_t>(bytes.size(), begin + 32768);
    spans.push_back({begin, end - begin == 32768 ? end - 6 : end});
  }
  return spans;
}

// RocksDB excludes the eight bytes of this property from their block's checksum, and goes by the
// number in its manifest.
std::vector<Span> of_table(const Bytes& bytes) {
  constexpr std::string_view kUnchecked = "external_sst_file.global_seqno";
  const std::size_t at = bytes.find(kUnchecked);
  if (at == Bytes::npos) return {{0, bytes.size()}};
  const std::size_t value = at + kUnchecked.size();
  return {{0, value}, {value + sizeof(std::uint64_t), bytes.size()}};
}

std::set<std::string> live_tables(Damaged& data) {
  std::set<std::string> paths;
  engine::ChunkDbOptions chunks;
  chunks.dir = kChunks;
  chunks.files = data.world.files;
  chunks.read_only = true;
  auto opened = engine::ChunkDb::open(chunks).value();
  for (const auto& file : opened->tables->live_files()) paths.insert(file.path);
  EXPECT_TRUE(opened->close());
  RocksOptions rocks;
  rocks.dir = kNames;
  rocks.files = data.world.files;
  rocks.read_only = true;
  prometheus::Registry registry;
  auto store = RocksStore::open(rocks, data.world.clock, registry).value();
  for (const auto& file : store->live_files()) paths.insert(file.path);
  EXPECT_TRUE(test::run_task(store->close()));
  return paths;
}

// What of the files says something; files that are not named say nothing.
std::vector<std::pair<std::string, Span>> places(Damaged& data) {
  std::vector<std::pair<std::string, Span>> found;
  const std::set<std::string> live = live_tables(data);
  for (const char* const dir : {kNames, kChunks, kLog}) {
    for (const std::string& name : data.world.files->list(dir).value()) {
      const std::string path = fmt::format("{}/{}", dir, name);
      if (data.world.files->kind(path).value() != FileKind::kFile) continue;
      const Bytes bytes = read_whole(*data.world.files, path, 1 << 28).value();
      std::vector<Span> spans;
      if (live.contains(path)) {
        spans = of_table(bytes);
      } else if (name == "CURRENT" || name == "newest") {
        spans = {{0, bytes.size()}};
      } else if (name.starts_with("MANIFEST-") || (name.ends_with(".log") && dir != kLog)) {
        spans = of_records(bytes);
      } else if (name.ends_with(".log")) {
        spans = of_segment(bytes);
      }
      for (const Span& span : spans) {
        if (span.begin < span.end) found.emplace_back(path, span);
      }
    }
  }
  return found;
}

// The ends of a span, where most is said in few bytes, and some places between.
std::vector<std::uint64_t> chosen(const Span& span, std::uint64_t ends, std::uint64_t between,
                                  std::mt19937_64& random) {
  std::set<std::uint64_t> offsets;
  for (std::uint64_t i = 0; i < ends; ++i) {
    offsets.insert(std::min(span.begin + i, span.end - 1));
    offsets.insert(std::max(span.begin, span.end - 1 - std::min(i, span.end - 1)));
  }
  std::uniform_int_distribution<std::uint64_t> any(span.begin, span.end - 1);
  for (std::uint64_t i = 0; i < between; ++i) offsets.insert(any(random));
  return {offsets.begin(), offsets.end()};
}

// With names in tables as well as in their log, and a log of several segments.
void add_names(Damaged& data) {
  ASSERT_TRUE(data.world.open());
  ASSERT_TRUE(test::run_task(data.world.rows->compact()));
  ASSERT_TRUE(data.world.intern({"late"}));
  for (int i = 0; i < 3; ++i) data.put(data.world.clock.now_ms() + i * 100'000, 5);
  data.world.crash();
}

TEST(CheckFlips, OfAnyByteThatSaysSomethingAreFound) {
  std::mt19937_64 random(11);
  Damaged data;
  add_names(data);
  ASSERT_EQ(text_of(checked(data)), "");
  std::size_t flips = 0;
  std::size_t elsewhere = 0;
  for (const auto& [path, span] : places(data)) {
    const bool table = path.ends_with(".sst");
    for (const std::uint64_t offset :
         chosen(span, table ? 1 : 2, test::kSanitized ? 0 : 12, random)) {
      const auto bit = static_cast<unsigned>(random() % 8);
      data.world.files->flip_bit(path, offset, bit);
      const check::Report report = checked(data);
      EXPECT_FALSE(report.findings.empty()) << path << " byte " << offset << " bit " << bit;
      if (!names(report, path)) ++elsewhere;
      data.world.files->flip_bit(path, offset, bit);
      ++flips;
    }
  }
  EXPECT_EQ(text_of(checked(data)), "");
  EXPECT_GT(flips, test::kSanitized ? 100u : 600u);
  // CURRENT may name a manifest that is not there.
  EXPECT_LE(elsewhere, 20u);
}

// The last bytes of a table have no checksum.
TEST(CheckFlips, OfEveryBitOfFootersAreFound) {
  constexpr std::size_t kStep = test::step(1, 8);
  Damaged data;
  const std::string path = *live_tables(data).begin();
  const std::uint64_t bytes = data.world.files->size(path).value();
  for (std::uint64_t offset = bytes - 53; offset < bytes; ++offset) {
    for (std::size_t bit = offset % kStep; bit < 8; bit += kStep) {
      data.world.files->flip_bit(path, offset, static_cast<unsigned>(bit));
      EXPECT_TRUE(names(checked(data), path)) << "byte " << offset << " bit " << bit;
      data.world.files->flip_bit(path, offset, static_cast<unsigned>(bit));
    }
  }
}

}  // namespace
}  // namespace halite::storage
