#include "storage/cells/layouts/plain_cells.h"

#include <bit>

#include "storage/cells/layouts/values/cell_value.h"
#include "storage/cells/layouts/values/qualifier.h"

namespace halite::storage {
namespace {

// Milliseconds in the hour, or -1 if it is not the qualifier of a single point.
std::int64_t read_offset(BytesView qualifier, std::uint8_t& flags, bool& millis) {
  if (qualifier.size() == 2) {
    const auto bits = load_be<std::uint16_t>(qualifier.data());
    const std::int64_t seconds = bits >> 4;
    flags = bits & 0xF;
    millis = false;
    return seconds < kRowSeconds ? seconds * 1000 : -1;
  }
  if (qualifier.size() != 4 || qualifier_size(qualifier.front()) != 4) return -1;
  const auto bits = load_be<std::uint32_t>(qualifier.data());
  const std::int64_t offset_ms = (bits & 0x0FFFFFFFu) >> 6;
  flags = bits & 0xF;
  millis = true;
  return offset_ms < kRowMs ? offset_ms : -1;
}

bool read_plain_value(std::uint8_t flags, BytesView bytes, PointValue& value) {
  const bool is_float = (flags & kQualifierFloat) != 0;
  if (!is_float && bytes.size() == 1) {
    value = {integer_bits(static_cast<std::int8_t>(bytes.front())), 0};
    return true;
  }
  if (!is_float && bytes.size() == 2) {
    const auto bits = load_be<std::uint16_t>(bytes.data());
    value = {integer_bits(std::bit_cast<std::int16_t>(bits)), 0};
    return true;
  }
  const auto read = read_value(flags, bytes);
  if (read) value = *read;
  return read.has_value();
}

}  // namespace

bool read_plain_cells(TimestampMs base_ms, std::span<const CellRef> cells, TimeRange range,
                      RowPoints& out) {
  const std::size_t before = out.times.size();
  const auto resize = [&out](std::size_t size) {
    out.times.resize(size);
    out.values.resize(size);
    out.flags.resize(size);
  };
  resize(before + cells.size());
  std::size_t at = before;
  std::int64_t last_ms = -1;
  for (const CellRef& cell : cells) {
    std::uint8_t flags = 0;
    bool millis = false;
    PointValue value;
    const std::int64_t offset_ms = read_offset(cell.qualifier, flags, millis);
    if (offset_ms <= last_ms || !read_plain_value(flags, cell.value, value)) {
      resize(before);
      return false;
    }
    last_ms = offset_ms;
    const TimestampMs time = base_ms + offset_ms;
    if (time < range.begin || time >= range.end) continue;
    out.times[at] = time;
    out.values[at] = value.bits;
    out.flags[at] = value.flags | (millis ? kMillis : 0);
    ++at;
  }
  resize(at);
  return true;
}

}  // namespace halite::storage
