// The configurations of rollups and histograms.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/check.h"
#include "storage/cells/rollups/rollup_config.h"

namespace halite::storage {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<std::string> kAggregators = {"sum", "count", "min", "max"};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(parse_histogram_config(text));
  const auto config = parse_rollup_config(text, kAggregators);
  if (!config) return 0;
  HALITE_CHECK(config->default_table().is_default, "one is the default");
  for (const RollupTableConfig& table : config->tables) {
    HALITE_CHECK(config->find(table.interval) == &table, "each interval once");
    HALITE_CHECK(check_rollup(table.cells), "rows that OpenTSDB takes");
    const std::int64_t base = rollup_base(table.cells, 1'356'998'400);
    HALITE_CHECK(rollup_next_base(table.cells, base) > base, "rows follow each other");
    HALITE_CHECK(rollup_base(table.cells, rollup_next_base(table.cells, base) - 1) == base,
                 "without a gap");
  }
  return 0;
}

}  // namespace halite::storage
