// Sorted files of chunks and of their summaries, on their way into the database. A file that does
// not get there goes with its object.
//
//   Threads  a file is for one thread at a time. All block.
//   Errors   kUnavailable with RocksDB's text.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <rocksdb/sst_file_writer.h>

#include "common/bytes.h"
#include "common/result.h"
#include "storage/tsdb/chunk_db/tables/chunk_key.h"

namespace halite::storage::engine {

// What a file is for.
enum class FilePurpose : std::uint8_t {
  kFlushed,    // chunks and tombstones as they come: late ones are kept apart
  kSealed,     // what sealing makes of them, and removals of what it was made of
  kLate,       // removals of late ones
  kSummaries,  // of sealed chunks
  kState,      // what the database says of itself
};

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
  using IsLate = std::function<bool(const Partition&)>;
  struct LateCell {
    Bytes key;
    Bytes value;
  };

  // Cells of laps that is_late says so of are only collected: those of all files of a flush make
  // one.
  SstFile(const rocksdb::Options& options, std::string path, FilePurpose purpose, IsLate is_late)
      : writer_(rocksdb::EnvOptions(), options),
        path_(std::move(path)),
        purpose_(purpose),
        is_late_(std::move(is_late)),
        env_(*options.env) {}
  ~SstFile() override;
  SstFile(const SstFile&) = delete;
  SstFile& operator=(const SstFile&) = delete;

  [[nodiscard]] FilePurpose purpose() const { return purpose_; }
  [[nodiscard]] std::vector<LateCell>& late() { return late_; }
  // Whose cells were asked about and are in the file.
  [[nodiscard]] const std::set<Partition>& not_late() const { return not_late_; }

  Result<void> open();
  Result<void> put(BytesView key, BytesView value) override;
  Result<void> remove(BytesView key) override;
  [[nodiscard]] std::uint64_t bytes() const override;
  [[nodiscard]] std::uint64_t entries() const override { return entries_; }

  // Writes the rest and syncs.
  Result<void> finish();
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const Bytes& first_key() const { return first_key_; }  // of the file
  void taken() { taken_ = true; }                                      // it is the database's now

 private:
  rocksdb::SstFileWriter writer_;
  const std::string path_;
  const FilePurpose purpose_;
  const IsLate is_late_;  // empty: nothing is
  std::vector<LateCell> late_;
  std::set<Partition> not_late_;
  rocksdb::Env& env_;
  Bytes first_key_;
  std::uint64_t entries_ = 0;  // in the file
  bool taken_ = false;
};

}  // namespace halite::storage::engine
