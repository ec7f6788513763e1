#include "storage/backends/hbase/hfile/block_writer.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include "common/bytes/crc32c.h"
#include "common/check.h"

namespace halite::storage::hbase {
namespace {

constexpr std::uint64_t kNoPrevious = std::numeric_limits<std::uint64_t>::max();  // -1 to HBase
constexpr char kCrc32c = 2;
constexpr int kGzLevel = 6;  // zlib's default, and HBase's
constexpr int kZstdLevel = 3;
// Hadoop's decompressors have buffers of 256 KiB.
constexpr std::size_t kZstdPieceBytes = 128 << 10;

// By BlockKind.
constexpr std::array<BytesView, kBlockKinds> kMagics = {
    "DATABLK*", "IDXLEAF2", "BLMFBLK2", "IDXINTE2", "IDXROOT2", "FILEINF2", "BLMFMET2"};

// One gzip member for each block.
class GzCompressor final : public BlockCompressor {
 public:
  GzCompressor() {
    constexpr int kGzipHeader = 16;
    constexpr int kMemoryLevel = 8;
    ready_ = deflateInit2(&stream_, kGzLevel, Z_DEFLATED, MAX_WBITS + kGzipHeader, kMemoryLevel,
                          Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~GzCompressor() override {
    if (ready_) deflateEnd(&stream_);
  }
  GzCompressor(const GzCompressor&) = delete;

  Result<void> compress(BytesView payload, Bytes& to) override {
    if (!ready_ || deflateReset(&stream_) != Z_OK) return failed("cannot begin");
    const std::size_t begin = to.size();
    to.resize(begin + deflateBound(&stream_, payload.size()));
    // zlib does not write to its input.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(payload.data()));
    stream_.avail_in = static_cast<uInt>(payload.size());
    stream_.next_out = reinterpret_cast<Bytef*>(to.data() + begin);
    stream_.avail_out = static_cast<uInt>(to.size() - begin);
    if (deflate(&stream_, Z_FINISH) != Z_STREAM_END) return failed("cannot finish");
    to.resize(to.size() - stream_.avail_out);
    return {};
  }

 private:
  static Result<void> failed(const char* what) {
    return fail(Errc::kInternal, fmt::format("zlib {} a block of an HFile", what));
  }

  z_stream stream_ = {};
  bool ready_ = false;
};

// The length of the payload, then for each piece the length of its frame and the frame.
class ZstdCompressor final : public BlockCompressor {
 public:
  Result<void> compress(BytesView payload, Bytes& to) override {
    append_be(to, static_cast<std::uint32_t>(payload.size()));
    while (!payload.empty()) {
      const BytesView piece = payload.substr(0, kZstdPieceBytes);
      payload.remove_prefix(piece.size());
      const std::size_t length_at = to.size();
      append_be(to, std::uint32_t{0});
      const std::size_t begin = to.size();
      to.resize(begin + ZSTD_compressBound(piece.size()));
      const std::size_t bytes =
          ZSTD_compressCCtx(context_.get(), to.data() + begin, to.size() - begin, piece.data(),
                            piece.size(), kZstdLevel);
      if (ZSTD_isError(bytes) != 0) {
        return fail(Errc::kInternal, fmt::format("zstd cannot compress a block of an HFile: {}",
                                                 ZSTD_getErrorName(bytes)));
      }
      to.resize(begin + bytes);
      Bytes length;
      append_be(length, static_cast<std::uint32_t>(bytes));
      to.replace(length_at, length.size(), length);
    }
    return {};
  }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  const std::unique_ptr<ZSTD_CCtx, Free> context_{ZSTD_createCCtx()};
};

std::unique_ptr<BlockCompressor> make_compressor(HFileCompression compression) {
  switch (compression) {
    case HFileCompression::kGz:
      return std::make_unique<GzCompressor>();
    case HFileCompression::kZstd:
      return std::make_unique<ZstdCompressor>();
    case HFileCompression::kNone:
      return nullptr;
  }
  return nullptr;
}

}  // namespace

BlockWriter::BlockWriter(HFileCompression compression) : compressor_(make_compressor(compression)) {
  previous_.fill(kNoPrevious);
}

Result<BlockPlace> BlockWriter::write(BlockKind kind, BytesView payload) {
  HALITE_CHECK(payload.size() <= std::numeric_limits<std::int32_t>::max() / 2,
               "the limits on cells keep blocks small");
  Bytes compressed;
  BytesView stored = payload;
  if (compressor_) {
    TRY_VOID(compressor_->compress(payload, compressed));
    stored = compressed;
  }
  const std::uint64_t offset = this->offset();
  const std::size_t begin = output_.size();
  const std::size_t data_bytes = kBlockHeaderBytes + stored.size();
  const std::size_t checksums = (data_bytes + kBytesPerChecksum - 1) / kBytesPerChecksum;
  const std::size_t checksum_bytes = checksums * kCrc32cBytes;
  std::uint64_t& previous = previous_[static_cast<std::size_t>(kind)];
  output_ += kMagics[static_cast<std::size_t>(kind)];
  append_be(output_, static_cast<std::uint32_t>(stored.size() + checksum_bytes));
  append_be(output_, static_cast<std::uint32_t>(payload.size()));
  append_be(output_, previous);
  output_.push_back(kCrc32c);
  append_be(output_, kBytesPerChecksum);
  append_be(output_, static_cast<std::uint32_t>(data_bytes));
  output_ += stored;
  for (std::size_t i = 0; i < checksums; ++i) {
    const std::size_t at = i * kBytesPerChecksum;
    const std::size_t size = std::min<std::size_t>(kBytesPerChecksum, data_bytes - at);
    append_be(output_, crc32c(BytesView(output_).substr(begin + at, size)));
  }
  previous = offset;
  uncompressed_bytes_ += kBlockHeaderBytes + payload.size();
  return BlockPlace{offset, static_cast<std::uint32_t>(data_bytes + checksum_bytes)};
}

}  // namespace halite::storage::hbase
