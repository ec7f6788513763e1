#include "storage/backends/hbase/hfile/hfile_writer.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/varint.h"
#include "storage/backends/hbase/proto/hfile.pb.h"

namespace halite::storage::hbase {
namespace {

constexpr std::size_t kRowBytesMax = 32'767;
constexpr std::size_t kFamilyBytesMax = 127;
constexpr std::size_t kQualifierBytesMax = 32'767;
constexpr char kPut = 4;
constexpr std::size_t kTrailerBytes = 4096;
constexpr std::uint32_t kVersion = 0x03000003;  // minor 3 of major 3: with checksums
constexpr const char* kComparator = "org.apache.hadoop.hbase.KeyValue$KVComparator";

// Where the parts of a serialised key begin.
constexpr std::size_t kRowAt = 2;
constexpr std::size_t kTimeAndKind = 9;

void append_key(Bytes& to, const HFileCell& cell) {
  append_be(to, static_cast<std::uint16_t>(cell.row.size()));
  to += cell.row;
  to.push_back(static_cast<char>(cell.family.size()));
  to += cell.family;
  to += cell.qualifier;
  append_be(to, static_cast<std::uint64_t>(cell.time));
  to.push_back(kPut);
}

Bytes be64(std::int64_t value) {
  Bytes bytes;
  append_be(bytes, static_cast<std::uint64_t>(value));
  return bytes;
}

Bytes average(std::uint64_t sum, std::uint64_t count) {
  Bytes bytes;
  append_be(bytes, static_cast<std::uint32_t>(sum / count));
  return bytes;
}

std::string shown(BytesView row) { return to_hex(row.substr(0, 64)); }

}  // namespace

HFileWriter::HFileWriter(const HFileOptions& options)
    : options_(options),
      blocks_(options.compression),
      index_(blocks_, options.index_bytes),
      bloom_(blocks_) {}

Result<void> HFileWriter::check(const HFileCell& cell) const {
  if (cell.row.empty() || cell.row.size() > kRowBytesMax || cell.family.empty() ||
      cell.family.size() > kFamilyBytesMax || cell.qualifier.size() > kQualifierBytesMax) {
    return fail(Errc::kInvalidArgument,
                fmt::format("a cell has a row of {} bytes (1 to {}), a family of {} (1 to {}), a "
                            "qualifier of {} (at most {})",
                            cell.row.size(), kRowBytesMax, cell.family.size(), kFamilyBytesMax,
                            cell.qualifier.size(), kQualifierBytesMax));
  }
  if (cell.time < 0) return fail(Errc::kInvalidArgument, "a cell's time is below 0");
  if (cell.value.size() > options_.value_bytes_max) {
    return fail(Errc::kTooLarge,
                fmt::format("a value of {} bytes in row {}; at most {} are allowed",
                            cell.value.size(), shown(cell.row), options_.value_bytes_max));
  }
  if (summary_.cells == 0) return {};
  const BytesView last(key_);
  const std::size_t family_at = kRowAt + row_bytes_ + 1;
  const std::size_t qualifier_at = family_at + family_bytes_;
  const BytesView row = last.substr(kRowAt, row_bytes_);
  const BytesView family = last.substr(family_at, family_bytes_);
  const BytesView qualifier = last.substr(qualifier_at, last.size() - kTimeAndKind - qualifier_at);
  // The newest time comes first.
  const bool in_order = std::tie(row, family, qualifier, cell.time) <
                        std::tie(cell.row, cell.family, cell.qualifier, last_ms_);
  if (in_order) return {};
  return fail(Errc::kInvalidArgument,
              fmt::format("cells of an HFile are not in order: row {} follows row {}",
                          shown(cell.row), shown(row)));
}

Result<void> HFileWriter::add(const HFileCell& cell) {
  TRY_VOID(check(cell));
  const bool new_row =
      summary_.cells == 0 || BytesView(key_).substr(kRowAt, row_bytes_) != cell.row;
  if (block_.size() >= options_.block_bytes) TRY_VOID(end_block());
  key_.clear();
  append_key(key_, cell);
  row_bytes_ = cell.row.size();
  family_bytes_ = cell.family.size();
  last_ms_ = cell.time;
  if (block_.empty()) block_key_ = key_;
  append_be(block_, static_cast<std::uint32_t>(key_.size()));
  append_be(block_, static_cast<std::uint32_t>(cell.value.size()));
  block_ += key_;
  block_ += cell.value;
  if (summary_.cells == 0) {
    summary_.first_row = cell.row;
    oldest_ms_ = newest_ms_ = cell.time;
  }
  oldest_ms_ = std::min(oldest_ms_, cell.time);
  newest_ms_ = std::max(newest_ms_, cell.time);
  ++summary_.cells;
  key_bytes_ += key_.size();
  value_bytes_ += cell.value.size();
  if (new_row) {
    ++summary_.rows;
    if (options_.bloom) bloom_.add(cell.row);
  }
  return {};
}

Result<void> HFileWriter::end_block() {
  TRY(const BlockPlace place, blocks_.write(BlockKind::kData, block_));
  last_block_at_ = place.offset;
  block_.clear();
  TRY_VOID(index_.add(block_key_, place));
  return bloom_.write_full();
}

// The keys are in order.
Bytes HFileWriter::file_info() const {
  pb::FileInfoProto info;
  const auto add = [&info](std::string key, Bytes value) {
    pb::BytesBytesPair& pair = *info.add_map_entry();
    pair.set_first(std::move(key));
    pair.set_second(std::move(value));
  };
  if (options_.bloom) add("BLOOM_FILTER_TYPE", "ROW");
  add("BULKLOAD_TIMESTAMP", be64(options_.created_ms));
  add("EARLIEST_PUT_TS", be64(oldest_ms_));
  if (options_.bloom) add("LAST_BLOOM_KEY", summary_.last_row);
  add("TIMERANGE", be64(oldest_ms_) + be64(newest_ms_));
  add("hfile.AVG_KEY_LEN", average(key_bytes_, summary_.cells));
  add("hfile.AVG_VALUE_LEN", average(value_bytes_, summary_.cells));
  add("hfile.CREATE_TIME_TS", be64(options_.created_ms));
  add("hfile.LASTKEY", key_);
  Bytes payload = "PBUF";
  const Bytes message = info.SerializeAsString();
  append_varint(payload, message.size());
  payload += message;
  return payload;
}

void HFileWriter::write_trailer(std::uint64_t info_at, std::uint64_t opens_at) {
  pb::FileTrailerProto trailer;
  trailer.set_file_info_offset(info_at);
  trailer.set_load_on_open_data_offset(opens_at);
  trailer.set_uncompressed_data_index_size(index_.uncompressed_bytes());
  trailer.set_total_uncompressed_bytes(blocks_.uncompressed_bytes() + kTrailerBytes);
  trailer.set_data_index_count(index_.root_entries());
  trailer.set_meta_index_count(0);
  trailer.set_entry_count(summary_.cells);
  trailer.set_num_data_index_levels(index_.levels());
  trailer.set_first_data_block_offset(0);
  trailer.set_last_data_block_offset(last_block_at_);
  trailer.set_comparator_class_name(kComparator);
  trailer.set_compression_codec(static_cast<std::uint32_t>(options_.compression));
  Bytes bytes = "TRABLK\"$";
  const Bytes message = trailer.SerializeAsString();
  append_varint(bytes, message.size());
  bytes += message;
  bytes.resize(kTrailerBytes - sizeof kVersion);
  append_be(bytes, kVersion);
  blocks_.output() += bytes;
}

Result<HFileSummary> HFileWriter::finish() {
  if (summary_.cells == 0) return fail(Errc::kInvalidArgument, "an HFile needs at least one cell");
  TRY_VOID(end_block());
  if (options_.bloom) TRY_VOID(bloom_.finish());
  TRY_VOID(index_.finish());
  summary_.last_row = key_.substr(kRowAt, row_bytes_);
  const std::uint64_t opens_at = blocks_.offset();
  TRY_VOID(blocks_.write(BlockKind::kRootIndex, index_.root()));
  TRY_VOID(blocks_.write(BlockKind::kRootIndex, {}));  // of meta blocks, of which there are none
  const std::uint64_t info_at = blocks_.offset();
  TRY_VOID(blocks_.write(BlockKind::kFileInfo, file_info()));
  if (options_.bloom) TRY_VOID(blocks_.write(BlockKind::kBloomMeta, bloom_.meta()));
  write_trailer(info_at, opens_at);
  summary_.bytes = blocks_.offset();
  return summary_;
}

Bytes HFileWriter::take() {
  Bytes bytes = std::exchange(blocks_.output(), Bytes());
  blocks_.taken(bytes.size());
  return bytes;
}

}  // namespace halite::storage::hbase
