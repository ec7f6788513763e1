// Any bytes as a cellblock, and its cells as a row of hbase:meta.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "storage/backends/hbase/messages/region.h"
#include "storage/backends/hbase/rpc/cellblock.h"

namespace halite::storage::hbase {

// Cells that were read and written again are the bytes that they were read from.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const BytesView block(reinterpret_cast<const char*>(data), size);
  CellReader reader(block);
  std::vector<CellView> cells;
  Bytes again;
  while (!reader.at_end()) {
    const Result<CellView> cell = reader.next();
    if (!cell) {
      if (cell.error().message.empty()) std::abort();
      break;
    }
    append_cell(again, *cell);
    cells.push_back(*cell);
  }
  if (!block.starts_with(again)) std::abort();
  if (cells.empty()) return 0;
  const MetaRow row = read_meta_row(cells.front().row, cells);
  if (row.region != nullptr && row.region->table.empty()) std::abort();
  return 0;
}

}  // namespace halite::storage::hbase
