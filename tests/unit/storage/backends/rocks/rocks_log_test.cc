// What a damaged or torn RocksDB log looks like to wal_check.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/bytes/bytes.h"
#include "common/bytes/crc32c.h"
#include "storage/backends/rocks/inspect/wal_check.h"
#include "storage/files/posix_files.h"
#include "tests/support/temp_dir.h"

namespace halite::storage::rocks {
namespace {

using testing::HasSubstr;

constexpr std::size_t kBlockBytes = 32768;

// Writes logs in RocksDB's format.
class LogText {
 public:
  // Returns where the record begins.
  std::size_t add(std::size_t payload_bytes) {
    const std::size_t begin = text_.size();
    std::size_t left = payload_bytes;
    bool first = true;
    do {
      std::size_t room = kBlockBytes - text_.size() % kBlockBytes;
      if (room < 7) {
        text_.append(room, '\0');
        room = kBlockBytes;
      }
      const std::size_t take = std::min(left, room - 7);
      left -= take;
      add_fragment(static_cast<char>(left == 0 ? (first ? 1 : 4) : (first ? 2 : 3)), take);
      first = false;
    } while (left > 0);
    return begin;
  }

  // A whole record of a type that another version may write, `extra` bytes of header behind it.
  void add_other(std::uint8_t type, std::size_t bytes, std::size_t extra = 0) {
    add_fragment(static_cast<char>(type), bytes, extra);
  }

  Bytes& text() { return text_; }

 private:
  void add_fragment(char type, std::size_t bytes, std::size_t extra = 0) {
    Bytes body(1, type);
    for (std::size_t i = 0; i < bytes + extra; ++i) body.push_back(static_cast<char>(random_()));
    const std::uint32_t crc = crc32c(body);
    const std::uint32_t masked = (crc >> 15 | crc << 17) + 0xA282EAD8u;
    for (int i = 0; i < 4; ++i) text_.push_back(static_cast<char>(masked >> 8 * i));
    text_.push_back(static_cast<char>(bytes));
    text_.push_back(static_cast<char>(bytes >> 8));
    text_.append(body);
  }

  Bytes text_;
  std::mt19937 random_{7};
};

class RocksLog : public testing::Test {
 protected:
  std::string write(std::uint64_t number, const Bytes& text) {
    char name[32];
    std::snprintf(name, sizeof name, "/%06llu.log", static_cast<unsigned long long>(number));
    std::ofstream(dir_.path() + name, std::ios::binary) << text;
    return dir_.path() + name;
  }
  LogScan scan(const Bytes& text) { return scan_log(*posix_files(), write(1, text)).value(); }
  Result<void> check(std::uint64_t floor = 0) {
    return check_logs(*posix_files(), dir_.path(),
                      [floor]() -> Result<std::uint64_t> { return floor; });
  }

  test::TempDir dir_;
};

TEST_F(RocksLog, WholeLogs) {
  EXPECT_FALSE(scan("").has_records);
  EXPECT_FALSE(scan("").bad_offset);
  LogText log;
  for (const std::size_t bytes :
       {1u, 0u, 100u, 32747u, 5u, 32768u, 100'000u, 32755u, 3u, 40'000u}) {
    log.add(bytes);
    const LogScan found = scan(log.text());
    EXPECT_TRUE(found.has_records);
    EXPECT_FALSE(found.bad_offset) << bytes;
    EXPECT_FALSE(found.records_follow);
  }
}

// What the library may know is the library's to judge; what it cannot know, it would take for the
// end of the log, and delete all behind it.
TEST_F(RocksLog, RecordsOfOtherTypesAreNoDamage) {
  for (const auto& [type, extra] : {std::pair{9, 0}, {5, 4}, {10, 0}, {12, 0}, {13, 4}, {130, 0}}) {
    LogText log;
    log.add(50);
    log.add_other(static_cast<std::uint8_t>(type), 24, static_cast<std::size_t>(extra));
    log.add(50);
    const LogScan found = scan(log.text());
    ASSERT_TRUE(found.other_type) << type;
    EXPECT_EQ(*found.other_type, type);
    EXPECT_FALSE(found.bad_offset) << type;
    const Result<void> checked = check();
    EXPECT_EQ(checked.has_value(),
              library_reads(static_cast<std::uint8_t>(type), library_version()))
        << type;
    if (checked) continue;
    EXPECT_EQ(checked.error().code, Errc::kUnsupported);
    EXPECT_THAT(checked.error().message, HasSubstr("000001.log has a record of type "));
    EXPECT_THAT(checked.error().message, HasSubstr("which a newer RocksDB wrote"));
  }
}

TEST_F(RocksLog, EachLibraryReadsWhatItKnows) {
  EXPECT_TRUE(library_reads(9, 708));
  EXPECT_FALSE(library_reads(10, 708));
  EXPECT_FALSE(library_reads(130, 708));
  EXPECT_TRUE(library_reads(12, 1000));
  EXPECT_GE(library_version(), 708U);
}

// A type that the checksum does not cover is a damage as ever.
TEST_F(RocksLog, AChangedTypeIsDamage) {
  LogText log;
  log.add(50);
  const std::size_t second = log.add(50);
  log.add(50);
  log.text()[second + 6] = 12;
  const LogScan found = scan(log.text());
  EXPECT_FALSE(found.other_type);
  EXPECT_EQ(found.bad_offset, second);
  EXPECT_TRUE(found.records_follow);
}

TEST_F(RocksLog, ALogMayEndAnywhere) {
  LogText log;
  log.add(50);
  const std::size_t last = log.add(70'000);
  for (std::size_t size = last + 1; size < log.text().size(); size += 997) {
    const LogScan found = scan(log.text().substr(0, size));
    EXPECT_TRUE(found.has_records);
    ASSERT_TRUE(found.bad_offset) << size;
    EXPECT_EQ(*found.bad_offset, last);
    EXPECT_FALSE(found.records_follow) << size;
  }
  EXPECT_TRUE(check());
}

TEST_F(RocksLog, PagesOfTheLastRecordMayBeMissing) {
  LogText log;
  log.add(50);
  const std::size_t last = log.add(70'000);
  for (std::size_t page = last; page + 4096 < log.text().size(); page += 4096) {
    Bytes text = log.text();
    text.replace(page, 4096, 4096, '\0');
    const LogScan found = scan(text);
    ASSERT_TRUE(found.bad_offset);
    EXPECT_EQ(*found.bad_offset, last);
    EXPECT_FALSE(found.records_follow) << page;
  }
  log.text().append(100'000, '\0');  // space that was reserved and not used
  EXPECT_FALSE(scan(log.text()).records_follow);
}

TEST_F(RocksLog, AnyFlippedByteBeforeTheLastRecordIsDamage) {
  LogText log;
  log.add(200);
  log.add(40'000);
  log.add(3);
  const std::size_t last = log.add(300);
  std::mt19937 random(3);
  for (std::size_t at = 0; at < last; at += at < 300 ? 1 : 211) {
    Bytes text = log.text();
    text[at] = static_cast<char>(text[at] ^ (1 + random() % 255));
    const LogScan found = scan(text);
    ASSERT_TRUE(found.bad_offset) << at;
    EXPECT_LE(*found.bad_offset, at);
    EXPECT_TRUE(found.records_follow) << at;
  }
  const Result<void> refused = check();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kCorruption);
  EXPECT_THAT(refused.error().message, HasSubstr("000001.log is damaged at byte "));
}

TEST_F(RocksLog, ALostPieceIsDamage) {
  LogText log;
  log.add(100);
  const std::size_t gone = log.add(100);
  const std::size_t after = log.add(100);
  log.add(100);
  Bytes text = log.text();
  text.erase(gone, 50);
  EXPECT_TRUE(scan(text).records_follow);
  text = log.text();
  text.replace(gone, after - gone, after - gone, '\0');
  EXPECT_TRUE(scan(text).records_follow);
}

TEST_F(RocksLog, ATornLogIsDamageWhenALaterOneHasRecords) {
  LogText torn;
  torn.add(100);
  torn.add(100);
  torn.text().resize(torn.text().size() - 10);
  LogText later;
  later.add(5);
  write(3, torn.text());
  EXPECT_TRUE(check());
  write(5, "");
  EXPECT_TRUE(check());
  write(10, later.text());
  const Result<void> refused = check();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("000003.log is damaged at byte 107"));
  EXPECT_FALSE(check(3));
  EXPECT_TRUE(check(4)) << "RocksDB no longer needs log 3";
}

TEST_F(RocksLog, OtherFilesAreNotLogs) {
  std::ofstream(dir_.path() + "/LOG") << "hello";
  std::ofstream(dir_.path() + "/notes.log") << "hello";
  std::ofstream(dir_.path() + "/000007.sst") << "hello";
  EXPECT_TRUE(check());
  EXPECT_FALSE(check_logs(*posix_files(), dir_.path() + "/nowhere", nullptr));
  EXPECT_FALSE(scan_log(*posix_files(), dir_.path() + "/nowhere.log"));
}

// Garbage is never taken for records, and never read over its end.
TEST_F(RocksLog, Garbage) {
  std::mt19937 random(11);
  for (int i = 0; i < 50; ++i) {
    Bytes text(random() % 80'000, ' ');
    for (char& byte : text) byte = static_cast<char>(random() % (i % 2 == 0 ? 5 : 256));
    const LogScan found = scan(text);
    EXPECT_FALSE(found.has_records);
    EXPECT_FALSE(found.records_follow);
  }
}

}  // namespace
}  // namespace halite::storage::rocks
