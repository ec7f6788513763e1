#include "storage/backends/hbase/hfile/row_bloom.h"

#include <cmath>
#include <cstdlib>

#include "common/bytes/little_endian.h"

namespace halite::storage::hbase {
namespace {

constexpr std::uint32_t kBloomVersion = 3;
constexpr std::uint32_t kMurmur2 = 1;
// For an error of 1 %: -ln(0.01) / ln(2)^2 bits for a row, and ln(2) times that hashes.
constexpr double kBitsPerRow = 9.585;
constexpr std::uint32_t kHashes = 7;
constexpr std::size_t kChunkBytes = 128 << 10;
constexpr auto kChunkRows = static_cast<std::size_t>(kChunkBytes * 8 / kBitsPerRow);

// The bits of a row; a 32-bit sum and its absolute remainder, as in Java.
template <class Bit>
bool for_each_bit(std::uint32_t hash1, std::uint32_t hash2, std::size_t bytes, Bit bit) {
  const auto bits = static_cast<std::int32_t>(bytes * 8);
  std::uint32_t sum = hash1;
  for (std::uint32_t i = 0; i < kHashes; ++i) {
    if (!bit(static_cast<std::size_t>(std::abs(static_cast<std::int32_t>(sum) % bits)))) {
      return false;
    }
    sum += hash2;
  }
  return true;
}

}  // namespace

std::uint32_t bloom_hash(BytesView row, std::uint32_t seed) {
  constexpr std::uint32_t kFactor = 0x5bd1e995;
  constexpr unsigned kShift = 24;
  std::uint32_t hash = seed ^ static_cast<std::uint32_t>(row.size());
  while (row.size() >= 4) {
    std::uint32_t word = load_le<std::uint32_t>(row.data());
    row.remove_prefix(4);
    word *= kFactor;
    word ^= word >> kShift;
    word *= kFactor;
    hash *= kFactor;
    hash ^= word;
  }
  if (!row.empty()) {
    for (std::size_t i = row.size(); i-- > 0;) {
      const auto extended = static_cast<std::int32_t>(static_cast<signed char>(row[i]));
      hash ^= static_cast<std::uint32_t>(extended) << (8 * i);
    }
    hash *= kFactor;
  }
  hash ^= hash >> 13;
  hash *= kFactor;
  hash ^= hash >> 15;
  return hash;
}

bool may_contain(BytesView bits, BytesView row) {
  const std::uint32_t hash1 = bloom_hash(row, 0);
  return for_each_bit(hash1, bloom_hash(row, hash1), bits.size(), [bits](std::size_t bit) {
    return (static_cast<unsigned char>(bits[bit / 8]) >> (bit % 8) & 1) != 0;
  });
}

void RowBloom::add(BytesView row) {
  if (hashes_.empty()) first_row_ = row;
  const std::uint32_t hash1 = bloom_hash(row, 0);
  hashes_.emplace_back(hash1, bloom_hash(row, hash1));
  ++rows_;
  if (hashes_.size() == kChunkRows) end_chunk();
}

void RowBloom::end_chunk() {
  const auto bytes =
      static_cast<std::size_t>(std::ceil(static_cast<double>(hashes_.size()) * kBitsPerRow / 8));
  Chunk& chunk = chunks_.emplace_back();
  chunk.first_row = first_row_;
  chunk.bits.assign(bytes, '\0');
  for (const auto& [hash1, hash2] : hashes_) {
    for_each_bit(hash1, hash2, bytes, [&chunk](std::size_t bit) {
      char& byte = chunk.bits[bit / 8];
      byte = static_cast<char>(static_cast<unsigned char>(byte) | 1U << (bit % 8));
      return true;
    });
  }
  bytes_ += bytes;
  hashes_.clear();
}

Result<void> RowBloom::write_full() {
  for (; written_ < chunks_.size(); ++written_) {
    Chunk& chunk = chunks_[written_];
    TRY(chunk.place, blocks_.write(BlockKind::kBloomChunk, chunk.bits));
    chunk.bits = Bytes();
  }
  return {};
}

Result<void> RowBloom::finish() {
  if (!hashes_.empty()) end_chunk();
  return write_full();
}

Bytes RowBloom::meta() const {
  Bytes meta;
  append_be(meta, kBloomVersion);
  append_be(meta, bytes_);
  append_be(meta, kHashes);
  append_be(meta, kMurmur2);
  append_be(meta, rows_);
  append_be(meta, rows_);  // the number that it has room for
  append_be(meta, static_cast<std::uint32_t>(chunks_.size()));
  meta.push_back('\0');  // no name of a comparator: rows compare bytewise
  for (const Chunk& chunk : chunks_) {
    append_place(meta, chunk.place);
    append_hadoop_number(meta, static_cast<std::uint32_t>(chunk.first_row.size()));
    meta += chunk.first_row;
  }
  return meta;
}

}  // namespace halite::storage::hbase
