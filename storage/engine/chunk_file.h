// Sorted files of chunks and of their summaries, on their way into the database.
//
//   Threads  a file is for one thread at a time. All block.
//   Errors   kUnavailable with RocksDB's text.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <rocksdb/sst_file_writer.h>

#include "common/bytes.h"
#include "common/result.h"

namespace halite::storage::engine {

// Which of the two a file is for.
enum class FileFor : std::uint8_t { kChunks, kSummaries };

// Writes one sorted file.
class ChunkFile {
 public:
  virtual ~ChunkFile() = default;
  // Keys strictly ascending.
  virtual Result<void> put(BytesView key, BytesView value) = 0;
  virtual Result<void> remove(BytesView key) = 0;
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  [[nodiscard]] virtual std::uint64_t entries() const = 0;
};

// As RocksDB takes them in.
class SstFile final : public ChunkFile {
 public:
  SstFile(const rocksdb::Options& options, std::string path, FileFor family)
      : writer_(rocksdb::EnvOptions(), options), path_(std::move(path)), family_(family) {}

  [[nodiscard]] FileFor family() const { return family_; }

  Result<void> open();
  Result<void> put(BytesView key, BytesView value) override;
  Result<void> remove(BytesView key) override;
  [[nodiscard]] std::uint64_t bytes() const override;
  [[nodiscard]] std::uint64_t entries() const override { return entries_; }

  // Writes the rest and syncs.
  Result<void> finish();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  rocksdb::SstFileWriter writer_;
  const std::string path_;
  const FileFor family_;
  std::uint64_t entries_ = 0;
};

}  // namespace halite::storage::engine
