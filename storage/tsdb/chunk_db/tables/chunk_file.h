// Sorted files of chunks and summaries before they are ingested. The destructor removes a file that
// was not ingested.
//
//   Threads  a file is not thread-safe. All calls block.
//   Errors   kUnavailable with RocksDB's text.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <rocksdb/sst_file_writer.h>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/tsdb/chunk_db/tables/chunk_key.h"

namespace halite::storage::engine {

// The purpose of a file.
enum class FilePurpose : std::uint8_t {
  kFlushed,    // new chunks and tombstones; late ones are separated
  kSealed,     // sealed chunks, and removals of the cells they replace
  kLate,       // removals of late cells
  kSummaries,  // of sealed chunks
  kState,      // state of the database
};

// Writes one sorted file.
class ChunkFile {
 public:
  virtual ~ChunkFile() = default;
  // Keys must be strictly ascending.
  virtual Result<void> put(BytesView key, BytesView value) = 0;
  virtual Result<void> remove(BytesView key) = 0;
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  [[nodiscard]] virtual std::uint64_t entries() const = 0;
};

// A file for RocksDB's ingestion.
class SstFile final : public ChunkFile {
 public:
  using IsLate = std::function<bool(const Partition&)>;
  struct LateCell {
    Bytes key;
    Bytes value;
  };

  // Cells of partitions that are late are only collected. The late cells of all files of a flush
  // form one file.
  SstFile(const rocksdb::Options& options, std::string path, FilePurpose purpose, IsLate is_late)
      : writer_(rocksdb::EnvOptions(), options),
        path_(std::move(path)),
        purpose_(purpose),
        is_late_(std::move(is_late)),
        env_(*options.env) {}
  ~SstFile() override;
  SstFile(const SstFile&) = delete;

  [[nodiscard]] FilePurpose purpose() const { return purpose_; }
  [[nodiscard]] std::vector<LateCell>& late() { return late_; }
  // The partitions that were not late and have cells in the file.
  [[nodiscard]] const std::set<Partition>& not_late() const { return not_late_; }

  Result<void> open();
  Result<void> put(BytesView key, BytesView value) override;
  Result<void> remove(BytesView key) override;
  [[nodiscard]] std::uint64_t bytes() const override;
  [[nodiscard]] std::uint64_t entries() const override { return entries_; }

  // Writes the remaining data and syncs.
  Result<void> finish();
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const Bytes& first_key() const { return first_key_; }  // in the file
  void taken() { taken_ = true; }  // the database owns the file now

 private:
  rocksdb::SstFileWriter writer_;
  const std::string path_;
  const FilePurpose purpose_;
  const IsLate is_late_;  // empty: no cell is late
  std::vector<LateCell> late_;
  std::set<Partition> not_late_;
  rocksdb::Env& env_;
  Bytes first_key_;
  std::uint64_t entries_ = 0;  // in the file
  bool taken_ = false;
};

}  // namespace halite::storage::engine
