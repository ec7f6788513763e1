// Any bytes as a row and cells of an OpenTSDB table.
#include "storage/cells/layouts/annotation_cell.h"
#include "storage/cells/layouts/opentsdb_layout.h"
#include "storage/cells/layouts/rollup_cell.h"
#include "storage/cells/layouts/values/histogram_cell.h"
#include "tests/fuzz/schema_input.h"

namespace halite::storage {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const FuzzedRow row = fuzzed_row(data, size);
  OpentsdbOptions options;
  options.salt_width = row.shape % 9;
  options.widths.tag_value = static_cast<std::uint8_t>(1 + row.shape / 9 % 8);
  const auto layout = OpentsdbLayout::make(options).value();

  auto id = layout->parse_row(row.key);
  if (id) {
    if (layout->key_of(*id) != row.key) std::abort();
  } else {
    const Bytes tsuid(std::size_t{6} + options.widths.tag_value, '\1');
    id = layout->parse_row(layout->row_key(tsuid, 1'356'998'400'000));
  }
  const TimestampMs base = id->bucket * 1000;
  check_row(*layout, *id, row.cells, {0, TimestampMs{1} << 60});
  check_row(*layout, *id, row.cells, {base + 1000, base + 2000});

  for (const Cell& cell : row.cells) {
    if (is_annotation(cell.qualifier) && is_histogram(cell.qualifier)) std::abort();
    const auto histogram = read_histogram(cell.qualifier, cell.value);
    if (histogram && histogram->payload.size() + 1 != cell.value.size()) std::abort();
    (void)read_rollup({}, id->bucket, cell.qualifier, cell.value);
  }
  return 0;
}

}  // namespace halite::storage
