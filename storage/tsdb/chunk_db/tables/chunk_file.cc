#include "storage/tsdb/chunk_db/tables/chunk_file.h"

#include <optional>
#include <tuple>

#include "storage/backends/rocks/files/status.h"
#include "storage/tsdb/chunk_db/tables/chunk_state.h"

namespace halite::storage::engine {

using rocks::checked;

// A file that cannot be removed now is removed by the next start.
SstFile::~SstFile() {
  if (!taken_) std::ignore = env_.DeleteFile(path_);
}

Result<void> SstFile::open() { return checked(writer_.Open(path_), "cannot make " + path_); }

Result<void> SstFile::put(BytesView key, BytesView value) {
  if (const auto partition = is_late_ ? partition_of(key) : std::nullopt) {
    if (is_late_(*partition)) {
      late_.push_back({.key = Bytes(key), .value = Bytes(value)});
      return {};
    }
    not_late_.insert(*partition);
  }
  if (entries_++ == 0) first_key_ = key;
  return checked(writer_.Put(key, value), "cannot write " + path_);
}

Result<void> SstFile::remove(BytesView key) {
  if (entries_++ == 0) first_key_ = key;
  return checked(writer_.Delete(key), "cannot write " + path_);
}

std::uint64_t SstFile::bytes() const {
  return const_cast<rocksdb::SstFileWriter&>(writer_).FileSize();
}

Result<void> SstFile::finish() { return checked(writer_.Finish(), "cannot write " + path_); }

}  // namespace halite::storage::engine
