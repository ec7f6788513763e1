#include "storage/cells/layouts/values/histogram_cell.h"

#include "storage/cells/layouts/values/qualifier.h"

namespace halite::storage {
namespace {

constexpr char kPrefix = kHistogramPrefix;

}  // namespace

Bytes histogram_qualifier(TimestampMs time, bool millis) {
  Bytes qualifier(1, kPrefix);
  const auto offset = static_cast<std::uint32_t>(time % kRowMs);
  if (millis || offset % 1000 != 0) {
    append_be<std::uint32_t>(qualifier, offset);
  } else {
    append_be<std::uint16_t>(qualifier, static_cast<std::uint16_t>(offset / 1000));
  }
  return qualifier;
}

bool is_histogram(BytesView qualifier) {
  return (qualifier.size() == 3 || qualifier.size() == 5) && qualifier.front() == kPrefix;
}

std::optional<HistogramCell> read_histogram(BytesView qualifier, BytesView value) {
  if (!is_histogram(qualifier) || value.empty()) return std::nullopt;
  HistogramCell cell;
  cell.millis = qualifier.size() == 5;
  cell.offset_ms = cell.millis ? load_be<std::uint32_t>(qualifier.data() + 1)
                               : std::uint32_t{load_be<std::uint16_t>(qualifier.data() + 1)} * 1000;
  if (cell.offset_ms >= kRowMs) return std::nullopt;
  cell.codec = static_cast<std::uint8_t>(value.front());
  cell.payload = value.substr(1);
  return cell;
}

}  // namespace halite::storage
