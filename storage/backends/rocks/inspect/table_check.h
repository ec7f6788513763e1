// Reads a whole table file of RocksDB. Compares every block with its checksum, and the footer,
// which has none, with what Halite writes.
//
// These files have no unused bytes, so every byte is checked.
//
//   Threads  Call from any thread. Blocks.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <rocksdb/options.h>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/files/files.h"

namespace halite::storage::rocks {

struct TableDamage {
  std::string what;
  std::optional<std::uint64_t> offset;  // in the file, if known
  // The unreadable keys lie between these two, exclusive. Nothing = from the first key of the file,
  // or up to the last.
  struct Keys {
    std::optional<Bytes> after;
    std::optional<Bytes> before;
  };
  std::optional<Keys> keys;  // nothing = every key can be read
  // The read failed for a reason that may pass and says nothing about the file: no memory, no
  // descriptor, a disk that does not answer.
  bool may_pass = false;
};

// Called with all readable cells, in order. The views are valid during the call. Return false to
// stop.
using EachCell = std::function<bool(BytesView key, BytesView value)>;

// The damage of the file, as far as it was read. A read that is Aborted (files/read_hook.h) ends
// the check. Reads most of the file twice: its data blocks, then all of it. The file may be open in
// a database; `options` are those of the database, with the environment to read through.
[[nodiscard]] std::vector<TableDamage> check_table(FileSystem& files,
                                                   const rocksdb::Options& options,
                                                   const std::string& path, const EachCell& each);

// Why nothing of the file can be read; empty if its blocks can be found. An error if the check
// itself failed, which says nothing about the file: no memory, no descriptor, a disk that does not
// answer.
[[nodiscard]] Result<std::string> why_unopenable(FileSystem& files, const rocksdb::Options& options,
                                                 const std::string& path);

}  // namespace halite::storage::rocks
