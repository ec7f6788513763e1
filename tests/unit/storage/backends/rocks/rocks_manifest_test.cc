#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/bytes/crc32c.h"
#include "storage/backends/rocks/inspect/manifest_tail.h"
#include "tests/support/faulty_files.h"

namespace halite::storage::rocks {
namespace {

const Bytes kPlain = "an edit";
const Bytes kFirstOfTwo("the first of two\xAC\x02\x01", 19);
const Bytes kSecondOfTwo("the second of two\xAC\x02\x00", 20);

// As RocksDB writes one.
Bytes record(const Bytes& payload) {
  const Bytes typed = "\x01" + payload;
  const std::uint32_t crc = crc32c(typed);
  const std::uint32_t masked = (crc >> 15 | crc << 17) + 0xA282EAD8u;
  Bytes bytes;
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<char>(masked >> 8 * i));
  bytes.push_back(static_cast<char>(payload.size()));
  bytes.push_back('\0');
  return bytes + typed;
}

// Of full length, but not what was to be there.
Bytes bad(Bytes bytes) {
  bytes[bytes.size() / 2] ^= 1;
  return bytes;
}

class RocksManifest : public testing::Test {
 protected:
  void SetUp() override {
    EXPECT_TRUE(make_dirs(files_, "/db"));
    EXPECT_TRUE(write_whole(files_, "/db/CURRENT", "MANIFEST-000007\n"));
  }

  Bytes after_cutting(const Bytes& manifest) {
    EXPECT_TRUE(write_whole(files_, "/db/MANIFEST-000007", manifest));
    EXPECT_TRUE(cut_torn_manifest(files_, "/db"));
    return read_whole(files_, "/db/MANIFEST-000007", 1 << 20).value();
  }

  test::FaultyFiles files_{1};
};

TEST_F(RocksManifest, NoneIsNoError) {
  EXPECT_TRUE(cut_torn_manifest(files_, "/db"));
  EXPECT_TRUE(cut_torn_manifest(files_, "/elsewhere"));
}

TEST_F(RocksManifest, AWholeOneStays) {
  const Bytes whole = record(kPlain) + record(kFirstOfTwo) + record(kSecondOfTwo);
  EXPECT_EQ(after_cutting(whole), whole);
  EXPECT_EQ(after_cutting(""), "");
}

TEST_F(RocksManifest, AnUnfinishedEndIsCutOff) {
  const Bytes kept = record(kPlain) + record(kPlain);
  const Bytes last = record(kPlain);
  for (std::size_t bytes = 0; bytes < last.size(); ++bytes) {
    EXPECT_EQ(after_cutting(kept + last.substr(0, bytes)), kept);
    EXPECT_EQ(after_cutting(kept + last.substr(0, bytes) + Bytes(last.size() - bytes, '\0')), kept);
  }
  EXPECT_EQ(after_cutting(kept + bad(last)), kept);
}

TEST_F(RocksManifest, HalfOfAPairIsUnfinishedWhicheverHalf) {
  const Bytes kept = record(kPlain) + record(kFirstOfTwo) + record(kSecondOfTwo);
  EXPECT_EQ(after_cutting(kept + record(kFirstOfTwo) + bad(record(kSecondOfTwo))),
            kept + record(kFirstOfTwo))
      << "RocksDB passes over a group without its end";
  EXPECT_EQ(after_cutting(kept + bad(record(kFirstOfTwo)) + record(kSecondOfTwo)), kept);
}

TEST_F(RocksManifest, DamageStays) {
  for (const Bytes& damaged :
       {bad(record(kPlain)) + record(kPlain), bad(record(kPlain)) + record(kPlain) + "torn",
        bad(record(kPlain)) + record(kFirstOfTwo) + record(kSecondOfTwo),
        bad(record(kFirstOfTwo)) + record(kSecondOfTwo) + record(kPlain)}) {
    EXPECT_EQ(after_cutting(record(kPlain) + damaged), record(kPlain) + damaged);
  }
}

// Whether something relied on it is not known yet.
TEST_F(RocksManifest, WhatIsCutOffStaysAsideWithAllTables) {
  const Bytes torn = record(kPlain) + bad(record(kPlain));
  EXPECT_TRUE(write_whole(files_, "/db/MANIFEST-000007", torn));
  EXPECT_TRUE(write_whole(files_, "/db/000003.sst", "three"));
  EXPECT_TRUE(write_whole(files_, "/db/000008.sst", "eight"));
  const ManifestCut cut = cut_torn_manifest(files_, "/db").value();
  ASSERT_TRUE(cut.made());
  EXPECT_EQ(read_whole(files_, "/db/MANIFEST-000007", 1 << 20).value(), record(kPlain));
  EXPECT_EQ(list_aside(files_, "/db").value(), std::vector<std::string>{cut.aside});
  ASSERT_TRUE(files_.remove("/db/000008.sst"));  // as RocksDB does with what nothing names
  EXPECT_EQ(keep_orphans(files_, cut.aside, {"000003.sst"}).value(), 1u);
  EXPECT_EQ(files_.list(cut.aside).value(),
            (std::vector<std::string>{"000008.sst", "MANIFEST-000007"}));
  EXPECT_EQ(read_whole(files_, cut.aside + "/000008.sst", 1 << 20).value(), "eight");
  EXPECT_EQ(read_whole(files_, cut.aside + "/MANIFEST-000007", 1 << 20).value(), torn);
  EXPECT_TRUE(remove_aside(files_, cut.aside));
  EXPECT_TRUE(list_aside(files_, "/db").value().empty());
}

TEST_F(RocksManifest, ItIsPutBackWhereTheRestCannotBeOpened) {
  const Bytes torn = record(kPlain) + bad(record(kPlain));
  EXPECT_TRUE(write_whole(files_, "/db/MANIFEST-000007", torn));
  const ManifestCut cut = cut_torn_manifest(files_, "/db").value();
  EXPECT_TRUE(undo_cut(files_, cut));
  EXPECT_EQ(read_whole(files_, "/db/MANIFEST-000007", 1 << 20).value(), torn);
}

}  // namespace
}  // namespace halite::storage::rocks
