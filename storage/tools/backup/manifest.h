// What one backup has: each file of the data directory, and where its content is.
// docs/formats/backup.md has the bytes.
//
//   Threads  pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "common/clock.h"
#include "common/result.h"

namespace halite::storage::backup {

// Content by what it is: 32 hexadecimal digits of its XXH3-128, and its length.
struct ContentId {
  std::string hash;
  std::uint64_t bytes = 0;
  bool operator==(const ContentId&) const = default;

  // Its file's name in the backup.
  [[nodiscard]] std::string name() const;
};

struct StoredFile {
  std::string path;  // in the data directory, "rocksdb/000012.sst"
  ContentId content;
  std::vector<std::string> damaged = {};  // what was wrong with it already when it was kept
  bool operator==(const StoredFile&) const = default;
};

struct Manifest {
  TimestampMs made_ms = 0;  // everything acknowledged before that is in it
  std::vector<StoredFile> files;
  bool operator==(const Manifest&) const = default;

  [[nodiscard]] std::uint64_t bytes() const;  // of all files
  [[nodiscard]] Bytes to_bytes() const;
  // kCorruption: not what to_bytes() writes, or not wholly. kUnsupported: of a later version.
  static Result<Manifest> from_bytes(BytesView bytes);
};

// "20261123T001500.000Z.manifest": names sort by time.
[[nodiscard]] std::string manifest_name(TimestampMs made_ms);
inline constexpr BytesView kManifestEnd = ".manifest";

}  // namespace halite::storage::backup
