// The manifest of a backup: the files of the data directory and the content of each. Format:
// docs/formats/backup.md.
//
//   Threads  pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "common/result.h"

namespace halite::storage::backup {

// Identifies a content by its XXH3-128 (32 hexadecimal digits) and its length.
struct ContentId {
  std::string hash;
  std::uint64_t bytes = 0;
  bool operator==(const ContentId&) const = default;

  // The name of its file in the repository.
  [[nodiscard]] std::string name() const;
  // Whether the text is such a name.
  [[nodiscard]] static bool is_name(std::string_view text);
};

struct StoredFile {
  std::string path;  // relative to the data directory: "rocksdb/000012.sst"
  ContentId content;
  std::vector<std::string> damaged = {};  // damage found when it was backed up
  bool operator==(const StoredFile&) const = default;
};

struct Manifest {
  TimestampMs made_ms = 0;  // the backup contains everything acknowledged before this time
  std::vector<StoredFile> files;
  bool operator==(const Manifest&) const = default;

  [[nodiscard]] std::uint64_t bytes() const;  // of all files
  [[nodiscard]] Bytes to_bytes() const;
  // kCorruption: incomplete, or not written by to_bytes(). kUnsupported: a later version.
  static Result<Manifest> from_bytes(BytesView bytes);
};

// "20261123T001500.000Z.manifest". Names sort by time.
[[nodiscard]] std::string manifest_name(TimestampMs made_ms);
inline constexpr BytesView kManifestEnd = ".manifest";

}  // namespace halite::storage::backup
