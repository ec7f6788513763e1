#include "storage/cells/layouts/values/qualifier.h"

namespace halite::storage {

void append_qualifier(Bytes& to, const PointQualifier& qualifier) {
  if (qualifier.millis) {
    append_be<std::uint32_t>(to, 0xF0000000u | qualifier.offset_ms << 6 | qualifier.flags);
  } else {
    append_be<std::uint16_t>(
        to, static_cast<std::uint16_t>(qualifier.offset_ms / 1000 << 4 | qualifier.flags));
  }
}

std::optional<PointQualifier> read_qualifier(BytesView from) {
  if (from.empty() || from.size() < qualifier_size(from.front())) return std::nullopt;
  PointQualifier qualifier;
  if (qualifier_size(from.front()) == 4) {
    const auto bits = load_be<std::uint32_t>(from.data());
    qualifier.millis = true;
    qualifier.offset_ms = (bits & 0x0FFFFFFFu) >> 6;
    qualifier.flags = static_cast<std::uint8_t>(bits & 0xF);
  } else {
    const auto bits = load_be<std::uint16_t>(from.data());
    qualifier.offset_ms = static_cast<std::uint32_t>(bits >> 4) * 1000;
    qualifier.flags = static_cast<std::uint8_t>(bits & 0xF);
  }
  if (qualifier.offset_ms >= kRowMs) return std::nullopt;
  return qualifier;
}

}  // namespace halite::storage
