#include "storage/tsdb/wal/segment_read.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>

#include <fmt/format.h>

#include "storage/tsdb/wal/format.h"

namespace halite::storage::log_format {
namespace {

// Files up to this size, the default of a segment, are read as they are.
constexpr std::uint64_t kFastBytes = 64 << 20;
constexpr std::uint64_t kPieceBytes = 1 << 20;
// The last record may end with zeros. No log accepts one of this size.
constexpr std::uint64_t kTailBytes = 32 << 20;

bool is_zero(std::span<const char> bytes) {
  return bytes.empty() || (bytes.front() == '\0' &&
                           std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

// The end of the last piece of the first `bytes` that is not all zeros.
Result<std::uint64_t> end_of_data(File& file, std::uint64_t bytes) {
  Bytes piece(kPieceBytes, '\0');
  for (std::uint64_t end = bytes; end > 0;) {
    const std::uint64_t begin = (end - 1) / kPieceBytes * kPieceBytes;
    TRY(const std::size_t got, file.pread(begin, std::span(piece).first(end - begin)));
    if (!is_zero(std::span(piece).first(got))) return end;
    end = begin;
  }
  return std::uint64_t{0};
}

}  // namespace

Result<void> read_segment(FileSystem& files, const std::string& path, Bytes& bytes) {
  TRY(const std::unique_ptr<File> file, files.open(path, OpenFile::kRead));
  TRY(const std::uint64_t size, file->size());
  std::uint64_t wanted = std::min(size, kSegmentBytesMax);
  if (wanted > kFastBytes) {
    TRY(const std::uint64_t end, end_of_data(*file, wanted));
    wanted = std::min(wanted, std::max(kFastBytes, end + kTailBytes));
  }
  // The bytes are not zeroed first. GCC 12's string passes more than was requested.
  bytes.resize_and_overwrite(wanted, [wanted](char*, std::size_t) { return wanted; });
  TRY(const std::size_t got, file->pread(0, bytes));
  bytes.resize(got);
  return {};
}

std::string oversize_text(std::uint64_t bytes) {
  if (bytes <= kSegmentBytesMax) return {};
  return fmt::format("has {} bytes, but a segment has at most {}: the rest is not read", bytes,
                     kSegmentBytesMax);
}

}  // namespace halite::storage::log_format
