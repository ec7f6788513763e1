#include "storage/backends/rocks/files/status.h"

#include <cstddef>
#include <string>

#include <fmt/format.h>

namespace halite::storage::rocks {

namespace {

Errc code_of(const rocksdb::Status& status) {
  switch (status.code()) {
    case rocksdb::Status::kCorruption:
      return Errc::kCorruption;
    case rocksdb::Status::kIOError:  // including NoSpace
      // A file that the database must have.
      if (status.IsPathNotFound()) return Errc::kCorruption;
      return Errc::kUnavailable;
    case rocksdb::Status::kBusy:
    case rocksdb::Status::kTryAgain:
    case rocksdb::Status::kTimedOut:
    case rocksdb::Status::kAborted:
    case rocksdb::Status::kIncomplete:
    case rocksdb::Status::kShutdownInProgress:
      return Errc::kUnavailable;
    case rocksdb::Status::kNotFound:
      return Errc::kNotFound;
    default:
      return Errc::kInternal;
  }
}

// If a table is missing, RocksDB looks for LevelDB's extension and names that file.
std::string text_of(const rocksdb::Status& status) {
  constexpr std::string_view kOther = ".ldb";
  std::string text = status.ToString();
  const std::size_t at = status.IsPathNotFound() ? text.rfind(kOther) : std::string::npos;
  if (at != std::string::npos) text.replace(at, kOther.size(), ".sst");
  return text;
}

}  // namespace

Error error_of(const rocksdb::Status& status, std::string_view doing) {
  return {code_of(status), fmt::format("{}: {}", doing, text_of(status)), {}};
}

Result<void> checked(const rocksdb::Status& status, std::string_view doing) {
  if (status.ok()) return {};
  return std::unexpected(error_of(status, doing));
}

}  // namespace halite::storage::rocks
