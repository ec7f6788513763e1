#include "storage/tools/backup/manifest.h"

#include <string>

#include <gtest/gtest.h>

#include "storage/tools/backup/content_hash.h"

namespace halite::storage::backup {
namespace {

Manifest some() {
  return {.made_ms = 1'700'000'000'123,
          .files = {{.path = "rocksdb/000012.sst", .content = {hash_of("a"), 1}},
                    {.path = "engine/log/newest", .content = {hash_of(""), 0}}}};
}

TEST(BackupManifest, ComesBack) {
  const Result<Manifest> read = Manifest::from_bytes(some().to_bytes());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, some());
  EXPECT_EQ(manifest_name(some().made_ms), "20231114T221320.123Z.manifest");
}

TEST(BackupManifest, EveryFlippedBitIsSeen) {
  const Bytes bytes = some().to_bytes();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      Bytes damaged = bytes;
      damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ (1U << bit));
      EXPECT_FALSE(Manifest::from_bytes(damaged)) << at << " " << bit;
    }
    EXPECT_FALSE(Manifest::from_bytes(BytesView(bytes).substr(0, at)));
  }
}

TEST(BackupManifest, AFormatOfALaterVersionIsRefusedByName) {
  const Bytes body = "{\"format\":2,\"made_ms\":1,\"files\":[]}";
  const Result<Manifest> read = Manifest::from_bytes(body + "\nxxh3 " + hash_of(body) + "\n");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Errc::kUnsupported);
  EXPECT_EQ(read.error().message, "the backup has format 2; this version reads format 1");
}

TEST(BackupManifest, NoFileLeavesItsDirectory) {
  for (const char* const path : {"../x", "/etc/x", "a/../../x", "a//x", "", "a/", ".", "a/./b"}) {
    Manifest manifest = some();
    manifest.files[0].path = path;
    EXPECT_FALSE(Manifest::from_bytes(manifest.to_bytes())) << path;
  }
}

}  // namespace
}  // namespace halite::storage::backup
