// Any bytes as a row and cells of a cyclic table.
#include "storage/cells/layouts/cyclic_layout.h"
#include "tests/fuzz/schema_input.h"

namespace halite::storage {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const FuzzedRow row = fuzzed_row(data, size);
  CyclicOptions options;
  options.widths.tag_key = static_cast<std::uint8_t>(1 + row.shape % 8);
  options.ttl_ms = row.shape < 128 ? 5 * kDayMs : 0;
  options.slots = 10;
  const auto layout = CyclicLayout::make(options).value();

  auto id = layout->parse_row(row.key);
  if (!id) {
    const Bytes tsuid(std::size_t{6} + options.widths.tag_key, '\1');
    id = layout->parse_row(layout->row_key(tsuid, 15'706 * kDayMs));
  }
  check_row(*layout, *id, row.cells, {0, TimestampMs{1} << 60});
  check_row(*layout, *id, row.cells, {15'706 * kDayMs, 15'706 * kDayMs + 60'000});
  return 0;
}

}  // namespace halite::storage
