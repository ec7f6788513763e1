#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "common/crc32c.h"
#include "storage/rocks/manifest_tail.h"
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

}  // namespace
}  // namespace halite::storage::rocks
