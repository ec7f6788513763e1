#include "storage/backends/hbase/rpc/cellblock.h"

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

std::unexpected<Error> damaged_cellblock(std::size_t at, std::string_view why) {
  return fail(Errc::kCorruption, fmt::format("cellblock at byte {}: {}", at, why));
}

// Parses the parts of a key that has at least the minimum length.
Result<CellView> read_key(BytesView key, std::size_t at) {
  CellView cell;
  const std::size_t row_bytes = load_be<std::uint16_t>(key.data());
  if (row_bytes > key.size() - kKeyBytesMin) {
    return damaged_cellblock(at, "row longer than its key");
  }
  cell.row = key.substr(2, row_bytes);
  const std::size_t family_bytes = load_be<std::uint8_t>(key.data() + 2 + row_bytes);
  if (family_bytes > key.size() - kKeyBytesMin - row_bytes) {
    return damaged_cellblock(at, "family longer than its key");
  }
  cell.family = key.substr(3 + row_bytes, family_bytes);
  const std::size_t qualifier_at = 3 + row_bytes + family_bytes;
  cell.qualifier = key.substr(qualifier_at, key.size() - 9 - qualifier_at);
  cell.time = load_be<std::uint64_t>(key.data() + key.size() - 9);
  cell.kind = static_cast<CellKind>(load_be<std::uint8_t>(key.data() + key.size() - 1));
  return cell;
}

// memcmp() for about twenty bytes, without the call.
bool same_bytes(const char* a, BytesView b) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  const auto word = [](const char* from) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, from, kWord);
    return bytes;
  };
  if (b.size() < kWord) return std::memcmp(a, b.data(), b.size()) == 0;
  std::uint64_t differs = 0;
  const std::size_t last = b.size() - kWord;
  for (std::size_t i = 0; i < last; i += kWord) differs |= word(a + i) ^ word(b.data() + i);
  return (differs | (word(a + last) ^ word(b.data() + last))) == 0;
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
  if (rest.size() < 4 + kCellBytesMin) return damaged_cellblock(at, "ends within a cell");
  const std::size_t total = load_be<std::uint32_t>(rest.data());
  if (total < kCellBytesMin || total > rest.size() - 4) {
    return damaged_cellblock(
        at, fmt::format("a cell of {} bytes, {} are left", total, rest.size() - 4));
  }
  const std::size_t key = load_be<std::uint32_t>(rest.data() + 4);
  const std::size_t value = load_be<std::uint32_t>(rest.data() + 8);
  if (key < kKeyBytesMin || key > total - kLengths || value != total - kLengths - key) {
    return damaged_cellblock(
        at, fmt::format("a key of {} and a value of {} bytes in {}", key, value, total));
  }
  TRY(CellView cell, read_key(rest.substr(4 + kLengths, key), at));
  cell.value = rest.substr(4 + kLengths + key, value);
  at_ = at + 4 + total;
  return cell;
}

// All cells of a row begin with equal bytes, except for three lengths. Only the position of the
// next cell is stored between two cells: there may be millions.
void CellReader::next_of_row(const CellView& last, std::size_t most, std::vector<CellRef>& cells) {
  constexpr std::size_t kAfterQualifier = 8 + 1;  // time, kind
  const std::size_t shared_bytes = 2 + last.row.size() + 1 + last.family.size();
  const BytesView shared(last.row.data() - 2, shared_bytes);
  const char* next = block_.data() + at_;
  std::size_t left = block_.size() - at_;
  for (; most > 0; --most) {
    if (left < 4 + kLengths + shared_bytes + kAfterQualifier) break;
    const std::size_t total = load_be<std::uint32_t>(next);
    const std::size_t key = load_be<std::uint32_t>(next + 4);
    const std::size_t value = load_be<std::uint32_t>(next + 8);
    if (total > left - 4 || total != kLengths + key + value) break;
    if (key < shared_bytes + kAfterQualifier) break;
    const char* const begin = next + 4 + kLengths;
    if (!same_bytes(begin, shared)) break;
    const char* const time = begin + key - kAfterQualifier;
    cells.push_back({BytesView(begin + shared_bytes, time), BytesView(begin + key, value),
                     static_cast<TimestampMs>(load_be<std::uint64_t>(time))});
    next += 4 + total;
    left -= 4 + total;
  }
  at_ = block_.size() - left;
}

}  // namespace halite::storage::hbase
