// Reads one of RocksDB's table files to its last byte: every block against its checksum, and the
// footer, which has none, against what we write.
//
// Bytes that say nothing are the only ones that are not looked at: there are none in these files.
//
//   Threads  any; blocks.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <rocksdb/options.h>

#include "common/bytes.h"
#include "common/result.h"
#include "storage/files/files.h"

namespace halite::storage::rocks {

struct TableDamage {
  std::string what;
  std::optional<std::uint64_t> offset;  // in the file, where that is known
  // The keys that cannot be read lie between these two, which are not among them. Nothing = from
  // the file's first key on, or up to its last.
  struct Keys {
    std::optional<Bytes> after;
    std::optional<Bytes> before;
  };
  std::optional<Keys> keys;  // nothing = every key can be read
  // It could not be read just now, which says nothing of the file: no memory, no descriptor, a disk
  // that does not answer.
  bool may_pass = false;
};

// Called with what can be read, in order; views end with the call. False: no more is to be read.
using EachCell = std::function<bool(BytesView key, BytesView value)>;

// What is wrong with the file, as far as it was read: reads that are Aborted (told_reads.h) end it.
// Most of the file is read twice, its blocks of cells and then all of it. It may be open in a
// database; `options` are that one's, with the environment that the file is read through.
[[nodiscard]] std::vector<TableDamage> check_table(FileSystem& files,
                                                   const rocksdb::Options& options,
                                                   const std::string& path, const EachCell& each);

// Why nothing of the file can be read; empty where its blocks can be looked for. An error where it
// could not be looked at, which says nothing of the file: no memory, no descriptor, a disk that
// does not answer.
[[nodiscard]] Result<std::string> why_unopenable(FileSystem& files, const rocksdb::Options& options,
                                                 const std::string& path);

}  // namespace halite::storage::rocks
