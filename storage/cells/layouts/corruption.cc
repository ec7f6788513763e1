#include "storage/cells/layouts/corruption.h"

#include <string>

#include <fmt/format.h>

namespace halite::storage {
namespace {

constexpr std::size_t kShownBytesMax = 64;

std::string shown(BytesView bytes) {
  if (bytes.empty()) return "(empty)";
  if (bytes.size() <= kShownBytesMax) return to_hex(bytes);
  return fmt::format("{}... ({} bytes)", to_hex(bytes.substr(0, kShownBytesMax)), bytes.size());
}

}  // namespace

std::unexpected<Error> corrupt_cell(BytesView row_key, const CellRef& cell, std::string_view what) {
  return fail(Errc::kCorruption, fmt::format("row {} qualifier {}: {}: value {}", to_hex(row_key),
                                             shown(cell.qualifier), what, shown(cell.value)));
}

}  // namespace halite::storage
