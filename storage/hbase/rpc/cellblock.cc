#include "storage/hbase/rpc/cellblock.h"

#include <cstring>

#include <fmt/format.h>

namespace halite::storage::hbase {

namespace {

constexpr std::size_t kLengths = 8;                  // of key and value
constexpr std::size_t kKeyBytesMin = 2 + 1 + 8 + 1;  // row length, family length, time, kind
constexpr std::size_t kCellBytesMin = kLengths + kKeyBytesMin;

std::size_t key_bytes(const CellView& cell) {
  return kKeyBytesMin + cell.row.size() + cell.family.size() + cell.qualifier.size();
}

std::unexpected<Error> damaged(std::size_t at, std::string_view why) {
  return fail(Errc::kCorruption, fmt::format("cellblock at byte {}: {}", at, why));
}

// The key's parts, once its length is known to be at least the minimum.
Result<CellView> read_key(BytesView key, std::size_t at) {
  CellView cell;
  const std::size_t row_bytes = load_be<std::uint16_t>(key.data());
  if (row_bytes > key.size() - kKeyBytesMin) return damaged(at, "row longer than its key");
  cell.row = key.substr(2, row_bytes);
  const std::size_t family_bytes = load_be<std::uint8_t>(key.data() + 2 + row_bytes);
  if (family_bytes > key.size() - kKeyBytesMin - row_bytes) {
    return damaged(at, "family longer than its key");
  }
  cell.family = key.substr(3 + row_bytes, family_bytes);
  const std::size_t qualifier_at = 3 + row_bytes + family_bytes;
  cell.qualifier = key.substr(qualifier_at, key.size() - 9 - qualifier_at);
  cell.time = load_be<std::uint64_t>(key.data() + key.size() - 9);
  cell.kind = static_cast<CellKind>(load_be<std::uint8_t>(key.data() + key.size() - 1));
  return cell;
}

}  // namespace

std::size_t cell_bytes(const CellView& cell) {
  return 4 + kLengths + key_bytes(cell) + cell.value.size();
}

void append_cell(Bytes& block, const CellView& cell) {
  const std::size_t key = key_bytes(cell);
  append_be(block, static_cast<std::uint32_t>(kLengths + key + cell.value.size()));
  append_be(block, static_cast<std::uint32_t>(key));
  append_be(block, static_cast<std::uint32_t>(cell.value.size()));
  append_be(block, static_cast<std::uint16_t>(cell.row.size()));
  block += cell.row;
  append_be(block, static_cast<std::uint8_t>(cell.family.size()));
  block += cell.family;
  block += cell.qualifier;
  append_be(block, cell.time);
  append_be(block, static_cast<std::uint8_t>(cell.kind));
  block += cell.value;
}

Result<CellView> CellReader::next() {
  const std::size_t at = at_;
  const BytesView rest = block_.substr(at);
  if (rest.size() < 4 + kCellBytesMin) return damaged(at, "ends within a cell");
  const std::size_t total = load_be<std::uint32_t>(rest.data());
  if (total < kCellBytesMin || total > rest.size() - 4) {
    return damaged(at, fmt::format("a cell of {} bytes, {} are left", total, rest.size() - 4));
  }
  const std::size_t key = load_be<std::uint32_t>(rest.data() + 4);
  const std::size_t value = load_be<std::uint32_t>(rest.data() + 8);
  if (key < kKeyBytesMin || key > total - kLengths || value != total - kLengths - key) {
    return damaged(at, fmt::format("a key of {} and a value of {} bytes in {}", key, value, total));
  }
  TRY(CellView cell, read_key(rest.substr(4 + kLengths, key), at));
  cell.value = rest.substr(4 + kLengths + key, value);
  at_ = at + 4 + total;
  return cell;
}

// All cells of a row begin with the same bytes, but for three lengths.
bool CellReader::next_in_row(CellView& cell) {
  constexpr std::size_t kAfterQualifier = 8 + 1;  // time, kind
  const std::size_t shared = 2 + cell.row.size() + 1 + cell.family.size();
  const BytesView rest = block_.substr(at_);
  if (rest.size() < 4 + kLengths + shared + kAfterQualifier) return false;
  const std::size_t total = load_be<std::uint32_t>(rest.data());
  const std::size_t key = load_be<std::uint32_t>(rest.data() + 4);
  const std::size_t value = load_be<std::uint32_t>(rest.data() + 8);
  if (total > rest.size() - 4 || total != kLengths + key + value) return false;
  if (key < shared + kAfterQualifier) return false;
  const char* const begin = rest.data() + 4 + kLengths;
  if (std::memcmp(begin, cell.row.data() - 2, shared) != 0) return false;
  const char* const time = begin + key - kAfterQualifier;
  cell.qualifier = BytesView(begin + shared, time);
  cell.time = load_be<std::uint64_t>(time);
  cell.kind = static_cast<CellKind>(load_be<std::uint8_t>(time + 8));
  cell.value = BytesView(begin + key, value);
  at_ += 4 + total;
  return true;
}

}  // namespace halite::storage::hbase
