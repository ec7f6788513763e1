// Telnet lines and body elements of rollups: what is taken keeps the rules of its table.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "common/check.h"
#include "ingest/json/rollup_json.h"
#include "ingest/telnet/rollup_line.h"

namespace halite::ingest {
namespace {

const storage::RollupConfig& config() {
  static const storage::RollupConfig kConfig = [] {
    storage::RollupConfig made;
    made.ids = {{"sum", 0}, {"count", 1}};
    made.tables = {
        {.interval = "1h", .cells = {}, .table = "t", .pre_aggregate = "p", .is_default = true}};
    return made;
  }();
  return kConfig;
}

void check_named(const std::expected<NamedRollup, Refused>& named) {
  if (!named) {
    HALITE_CHECK(!named.error().text.empty(), "a refusal says why");
    return;
  }
  HALITE_CHECK(named->time_s > 0 && named->time_s < std::int64_t{1} << 32, "whole seconds");
  HALITE_CHECK(!named->series.tags.empty() && named->series.tags.size() <= 4, "legal tags");
  HALITE_CHECK(named->table != nullptr || named->pre_aggregated, "it has a table");
  HALITE_CHECK(named->aggregator <= 1, "its aggregator has an id");
}

}  // namespace

void check_rollup_lines(std::string_view text) {
  static const PointRules kPoints({.tags_max = 4, .name_bytes_max = 64}, "");
  static const RollupRules kRules(kPoints, &config(), {.aggregators = {"sum", "count", "max"}});
  check_named(parse_rollup_line(text, kRules));
  auto sent = read_sent_rollup(text, 8);
  if (!sent) return;
  const std::string shown = echo_sent_rollup(*sent);
  const auto again = read_sent_rollup(shown, 8);
  HALITE_CHECK(again && echo_sent_rollup(*again) == shown, "what is shown can be read again");
  check_named(validate_sent_rollup(*sent, kRules));
}

}  // namespace halite::ingest

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  halite::ingest::check_rollup_lines({reinterpret_cast<const char*>(data), size});
  return 0;
}
