// Encodes the blocks of an HFile: header, payload, which may be compressed, and checksums.
//
//   Threads  one at a time.
//   Format   docs/formats/hfile.md
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/backends/hbase/hfile/hfile_bytes.h"

namespace halite::storage::hbase {

// The numbers are HBase's.
enum class HFileCompression : std::uint8_t { kGz = 1, kNone = 2, kZstd = 6 };

enum class BlockKind : std::uint8_t {
  kData,
  kLeafIndex,
  kBloomChunk,
  kInnerIndex,
  kRootIndex,
  kFileInfo,
  kBloomMeta,
};
inline constexpr std::size_t kBlockKinds = 7;

inline constexpr std::size_t kBlockHeaderBytes = 33;
inline constexpr std::uint32_t kBytesPerChecksum = 16'384;

class BlockCompressor {
 public:
  virtual ~BlockCompressor() = default;
  // Appends the payload in the codec's form. kInternal: the library failed.
  virtual Result<void> compress(BytesView payload, Bytes& to) = 0;
};

class BlockWriter {
 public:
  explicit BlockWriter(HFileCompression compression);

  // Appends a block to output().
  Result<BlockPlace> write(BlockKind kind, BytesView payload);

  // What was written and not yet taken.
  [[nodiscard]] Bytes& output() { return output_; }
  void taken(std::size_t bytes) { taken_ += bytes; }

  // The offset of the next block in the file.
  [[nodiscard]] std::uint64_t offset() const { return taken_ + output_.size(); }
  // The sum of all blocks, with their headers and without checksums.
  [[nodiscard]] std::uint64_t uncompressed_bytes() const { return uncompressed_bytes_; }

 private:
  const std::unique_ptr<BlockCompressor> compressor_;  // null: none
  std::array<std::uint64_t, kBlockKinds> previous_;    // offset of the last block of a kind
  Bytes output_;
  std::uint64_t taken_ = 0;
  std::uint64_t uncompressed_bytes_ = 0;
};

}  // namespace halite::storage::hbase
