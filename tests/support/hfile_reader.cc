#include "tests/support/hfile_reader.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include "common/bytes/crc32c.h"
#include "common/bytes/varint.h"
#include "storage/backends/hbase/hfile/row_bloom.h"
#include "storage/backends/hbase/proto/hfile.pb.h"

namespace halite::test {
namespace {

namespace pb = storage::hbase::pb;

constexpr std::size_t kHeader = 33;
constexpr std::size_t kTrailer = 4096;

std::unexpected<Error> bad(std::string what) { return fail(Errc::kCorruption, std::move(what)); }

Result<Bytes> ungzip(BytesView from, std::size_t size) {
  Bytes to(size + 1, '\0');
  z_stream stream = {};
  if (inflateInit2(&stream, MAX_WBITS + 16) != Z_OK) return bad("zlib");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data()));
  stream.avail_in = static_cast<uInt>(from.size());
  stream.next_out = reinterpret_cast<Bytef*>(to.data());
  stream.avail_out = static_cast<uInt>(to.size());
  const int end = inflate(&stream, Z_FINISH);
  const std::size_t made = to.size() - stream.avail_out;
  const std::size_t left = stream.avail_in;
  inflateEnd(&stream);
  if (end != Z_STREAM_END || left != 0) return bad("not one gzip member");
  to.resize(made);
  return to;
}

Result<Bytes> unzstd(BytesView from) {
  if (from.size() < 4) return bad("no length of a zstd block");
  const auto size = load_be<std::uint32_t>(from.data());
  from.remove_prefix(4);
  Bytes to;
  while (to.size() < size) {
    if (from.size() < 4) return bad("no length of a zstd frame");
    const auto length = load_be<std::uint32_t>(from.data());
    from.remove_prefix(4);
    const std::size_t begin = to.size();
    to.resize(size);
    const std::size_t made = ZSTD_decompress(to.data() + begin, size - begin, from.data(),
                                             std::min<std::size_t>(length, from.size()));
    if (ZSTD_isError(made) != 0) return bad("a bad zstd frame");
    to.resize(begin + made);
    from.remove_prefix(length);
  }
  if (!from.empty()) return bad("bytes after the last zstd frame");
  return to;
}

std::optional<std::uint32_t> take_hadoop_number(BytesView& from) {
  if (from.empty()) return std::nullopt;
  const auto first = static_cast<signed char>(from.front());
  from.remove_prefix(1);
  if (first >= 0) return static_cast<std::uint32_t>(first);
  const auto bytes = static_cast<std::size_t>(-112 - first);
  if (first > -113 || bytes > 4 || from.size() < bytes) return std::nullopt;
  const std::uint64_t value = load_be_width(from.substr(0, bytes));
  from.remove_prefix(bytes);
  return static_cast<std::uint32_t>(value);
}

struct Block {
  Bytes magic;
  Bytes payload;
  std::size_t bytes = 0;
};

struct Entry {
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
  Bytes key;
};

class Reader {
 public:
  explicit Reader(BytesView file) : file_(file) {}

  Result<ReadHFile> read() {
    TRY_VOID(read_trailer());
    TRY_VOID(read_all_blocks());
    TRY_VOID(read_opening());
    if (seen_data_ != out_.data_blocks) return bad("the index does not name all data blocks");
    return std::move(out_);
  }

 private:
  Result<void> read_trailer() {
    if (file_.size() < kTrailer) return bad("too short");
    BytesView bytes = file_.substr(file_.size() - kTrailer);
    if (!bytes.starts_with("TRABLK\"$")) return bad("no trailer");
    if (load_be<std::uint32_t>(bytes.data() + kTrailer - 4) != 0x03000003) return bad("version");
    bytes.remove_prefix(8);
    const auto length = take_varint(bytes);
    if (!length || *length > bytes.size()) return bad("length of the trailer");
    if (!trailer_.ParseFromArray(bytes.data(), static_cast<int>(*length))) return bad("trailer");
    out_.levels = trailer_.num_data_index_levels();
    out_.codec = trailer_.compression_codec();
    return {};
  }

  Result<Block> block_at(std::uint64_t offset) {
    if (offset + kHeader > file_.size()) return bad("a block outside the file");
    const BytesView head = file_.substr(offset);
    const auto u32 = [head](std::size_t at) { return load_be<std::uint32_t>(head.data() + at); };
    const std::size_t disk = u32(8);
    const std::size_t raw = u32(12);
    const std::size_t data = u32(29);
    if (head[24] != 2 || u32(25) != 16384) return bad("kind of checksum");
    const std::size_t chunks = (data + 16383) / 16384;
    if (disk + kHeader != data + 4 * chunks) return bad("sizes of a block");
    if (offset + kHeader + disk > file_.size()) return bad("a block that ends outside the file");
    for (std::size_t i = 0; i < chunks; ++i) {
      const BytesView chunk =
          head.substr(i * 16384, std::min<std::size_t>(16384, data - i * 16384));
      if (crc32c(chunk) != load_be<std::uint32_t>(head.data() + data + 4 * i))
        return bad("checksum");
    }
    const BytesView stored = head.substr(kHeader, data - kHeader);
    Block block{.magic = Bytes(head.substr(0, 8)), .payload = {}, .bytes = kHeader + disk};
    if (out_.codec == 1) {
      TRY(block.payload, ungzip(stored, raw));
    } else if (out_.codec == 6) {
      TRY(block.payload, unzstd(stored));
    } else if (out_.codec == 2) {
      block.payload = stored;
    } else {
      return bad("codec");
    }
    if (block.payload.size() != raw) return bad("size of a payload");
    return block;
  }

  // One after the other, up to the trailer.
  Result<void> read_all_blocks() {
    std::map<Bytes, std::uint64_t> previous;
    std::uint64_t raw = kTrailer;
    std::uint64_t offset = 0;
    while (offset < file_.size() - kTrailer) {
      TRY(const Block block, block_at(offset));
      const auto told = load_be<std::uint64_t>(file_.data() + offset + 16);
      const auto known = previous.find(block.magic);
      if (told != (known == previous.end() ? ~std::uint64_t{0} : known->second)) {
        return bad(fmt::format("previous {} at {}", block.magic, offset));
      }
      previous[block.magic] = offset;
      raw += kHeader + block.payload.size();
      if (block.magic == "DATABLK*") {
        ++out_.data_blocks;
        if (trailer_.last_data_block_offset() < offset) return bad("last data block");
      }
      if (block.magic == "BLMFBLK2") ++out_.bloom_chunks;
      offset += block.bytes;
    }
    if (raw != trailer_.total_uncompressed_bytes()) return bad("uncompressed bytes");
    return {};
  }

  Result<Entry> entry_of(BytesView bytes, std::optional<std::size_t> key_bytes) {
    if (bytes.size() < 12) return bad("an entry of the index");
    return Entry{load_be<std::uint64_t>(bytes.data()), load_be<std::uint32_t>(bytes.data() + 8),
                 Bytes(bytes.substr(12, key_bytes.value_or(bytes.size() - 12)))};
  }

  Result<void> read_index(const Entry& entry, std::uint32_t level) {
    TRY(const Block block, block_at(entry.offset));
    if (block.bytes != entry.bytes) return bad("size of a block in the index");
    if (level == out_.levels) return read_data(entry, block);
    if (block.magic != (level + 1 == out_.levels ? "IDXLEAF2" : "IDXINTE2")) return bad("level");
    index_bytes_ += block.payload.size();
    const BytesView bytes(block.payload);
    const auto count = load_be<std::uint32_t>(bytes.data());
    const BytesView entries = bytes.substr(4 + 4 * (std::size_t{count} + 1));
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto begin = load_be<std::uint32_t>(bytes.data() + 4 + 4 * std::size_t{i});
      const auto end = load_be<std::uint32_t>(bytes.data() + 8 + 4 * std::size_t{i});
      TRY(const Entry below, entry_of(entries.substr(begin, end - begin), std::nullopt));
      if (i == 0 && below.key != entry.key) return bad("first key of a block of the index");
      if (entry.offset == middle_.offset && i == middle_entry_) out_.middle_key = below.key;
      TRY_VOID(read_index(below, level + 1));
    }
    return {};
  }

  Result<void> read_data(const Entry& entry, const Block& block) {
    if (block.magic != "DATABLK*") return bad("no data block where the index names one");
    ++seen_data_;
    BytesView rest(block.payload);
    bool first = true;
    while (!rest.empty()) {
      const auto key_bytes = load_be<std::uint32_t>(rest.data());
      const auto value_bytes = load_be<std::uint32_t>(rest.data() + 4);
      const BytesView key = rest.substr(8, key_bytes);
      if (first && key != entry.key) return bad("first key of a data block");
      first = false;
      const auto row_bytes = load_be<std::uint16_t>(key.data());
      const auto family_bytes = static_cast<std::size_t>(key[2 + std::size_t{row_bytes}]);
      const BytesView tail = key.substr(3 + row_bytes + family_bytes);
      if (key.back() != 4) return bad("not a put");
      out_.cells.push_back(
          {.row = Bytes(key.substr(2, row_bytes)),
           .family = Bytes(key.substr(3 + row_bytes, family_bytes)),
           .qualifier = Bytes(tail.substr(0, tail.size() - 9)),
           .time = static_cast<TimestampMs>(load_be<std::uint64_t>(tail.data() + tail.size() - 9)),
           .value = Bytes(rest.substr(8 + std::size_t{key_bytes}, value_bytes))});
      last_key_ = key;
      rest.remove_prefix(8 + std::size_t{key_bytes} + value_bytes);
    }
    return {};
  }

  Result<void> read_opening() {
    std::uint64_t at = trailer_.load_on_open_data_offset();
    TRY(const Block root, block_at(at));
    if (root.magic != "IDXROOT2") return bad("no root");
    TRY(const Block meta, block_at(at += root.bytes));
    if (meta.magic != "IDXROOT2" || !meta.payload.empty()) return bad("index of meta blocks");
    TRY(const Block info, block_at(at += meta.bytes));
    if (at != trailer_.file_info_offset() || info.magic != "FILEINF2") return bad("file info");
    TRY_VOID(read_info(info.payload));
    at += info.bytes;
    if (at != file_.size() - kTrailer) {
      TRY(const Block bloom, block_at(at));
      TRY_VOID(read_bloom(bloom));
      at += bloom.bytes;
    }
    if (at != file_.size() - kTrailer) return bad("blocks between the last one and the trailer");
    TRY_VOID(read_root(root));
    if (index_bytes_ != trailer_.uncompressed_data_index_size()) return bad("bytes of the index");
    if (out_.cells.size() != trailer_.entry_count()) return bad("number of cells");
    if (out_.info["hfile.LASTKEY"] != last_key_) return bad("last key");
    return {};
  }

  Result<void> read_root(const Block& root) {
    index_bytes_ += root.payload.size();
    BytesView rest(root.payload);
    std::vector<Entry> entries;
    for (std::uint32_t i = 0; i < trailer_.data_index_count(); ++i) {
      BytesView tail = rest.substr(12);
      const auto key_bytes = take_hadoop_number(tail);
      if (!key_bytes || *key_bytes > tail.size()) return bad("an entry of the root");
      Entry entry{load_be<std::uint64_t>(rest.data()), load_be<std::uint32_t>(rest.data() + 8),
                  Bytes(tail.substr(0, *key_bytes))};
      entries.push_back(std::move(entry));
      rest = tail.substr(*key_bytes);
    }
    if (rest.size() != (out_.levels > 1 ? 16 : 0)) return bad("bytes after the root");
    if (out_.levels > 1) {
      TRY(middle_, entry_of(rest, 0));
      middle_entry_ = load_be<std::uint32_t>(rest.data() + 12);
    }
    for (const Entry& entry : entries) TRY_VOID(read_index(entry, 1));
    if (out_.levels > 1 && out_.middle_key.empty()) return bad("no leaf at the middle");
    return {};
  }

  Result<void> read_info(BytesView bytes) {
    if (!bytes.starts_with("PBUF")) return bad("file info without PBUF");
    bytes.remove_prefix(4);
    const auto length = take_varint(bytes);
    pb::FileInfoProto info;
    if (!length || *length != bytes.size() ||
        !info.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      return bad("file info");
    }
    std::string last;
    for (const pb::BytesBytesPair& pair : info.map_entry()) {
      if (pair.first() <= last) return bad("order of the file info");
      last = pair.first();
      out_.info[pair.first()] = pair.second();
    }
    return {};
  }

  Result<void> read_bloom(const Block& block) {
    if (block.magic != "BLMFMET2") return bad("no bloom filter");
    BytesView rest(block.payload);
    const auto u32 = [&rest](std::size_t at) { return load_be<std::uint32_t>(rest.data() + at); };
    if (u32(0) != 3 || u32(12) != 7 || u32(16) != 1) return bad("kind of bloom filter");
    const auto all_bytes = load_be<std::uint64_t>(rest.data() + 4);
    const std::uint32_t chunks = u32(36);
    if (rest[40] != 0) return bad("comparator of the bloom filter");
    rest.remove_prefix(41);
    std::uint64_t bytes = 0;
    for (std::uint32_t i = 0; i < chunks; ++i) {
      BytesView tail = rest.substr(12);
      const auto row_bytes = take_hadoop_number(tail);
      if (!row_bytes) return bad("first row of a bloom chunk");
      TRY(Block chunk, block_at(load_be<std::uint64_t>(rest.data())));
      if (chunk.bytes != load_be<std::uint32_t>(rest.data() + 8)) return bad("bloom chunk");
      bytes += chunk.payload.size();
      out_.bloom.push_back(std::move(chunk.payload));
      out_.bloom_first.emplace_back(tail.substr(0, *row_bytes));
      rest = tail.substr(*row_bytes);
    }
    if (!rest.empty() || bytes != all_bytes || chunks != out_.bloom_chunks)
      return bad("bloom meta");
    return {};
  }

  const BytesView file_;
  pb::FileTrailerProto trailer_;
  ReadHFile out_;
  std::size_t seen_data_ = 0;
  std::uint64_t index_bytes_ = 0;
  Bytes last_key_;
  Entry middle_;
  std::uint32_t middle_entry_ = 0;
};

}  // namespace

bool ReadHFile::may_contain(BytesView row) const {
  const auto after = std::ranges::upper_bound(bloom_first, row, {},
                                              [](const Bytes& first) { return BytesView(first); });
  if (after == bloom_first.begin()) return false;
  return storage::hbase::may_contain(
      bloom[static_cast<std::size_t>(after - bloom_first.begin()) - 1], row);
}

Result<ReadHFile> read_hfile(BytesView file) { return Reader(file).read(); }

}  // namespace halite::test
