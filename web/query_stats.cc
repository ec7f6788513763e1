#include "web/query_stats.h"

#include <array>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

namespace halite::web {

namespace {

enum class Is : std::uint8_t {
  kWallMs,
  kNoTime,
  kPointsRead,
  kBlocksRead,
  kEmitted,
  kNans,
  kOne,
  kNone
};

struct Field {
  std::string_view name;
  Is is;
};

constexpr std::array kFields = {
    Field{"aggregationTime", Is::kWallMs},
    Field{"avgAggregationTime", Is::kWallMs},
    Field{"avgHBaseTime", Is::kNoTime},
    Field{"avgQueryScanTime", Is::kWallMs},
    Field{"avgScannerTime", Is::kWallMs},
    Field{"avgScannerUidToStringTime", Is::kNoTime},
    Field{"avgSerializationTime", Is::kNoTime},
    Field{"bytesFromStorage", Is::kNone},
    Field{"columnsFromStorage", Is::kPointsRead},
    Field{"compactionTime", Is::kNoTime},
    Field{"dpsPostFilter", Is::kPointsRead},
    Field{"dpsPreFilter", Is::kPointsRead},
    Field{"emittedDPs", Is::kEmitted},
    Field{"groupByTime", Is::kNoTime},
    Field{"hbaseTime", Is::kNoTime},
    Field{"maxAggregationTime", Is::kWallMs},
    Field{"maxHBaseTime", Is::kNoTime},
    Field{"maxQueryScanTime", Is::kWallMs},
    Field{"maxScannerUidToStringTime", Is::kNoTime},
    Field{"maxSerializationTime", Is::kNoTime},
    Field{"maxUidToStringTime", Is::kNoTime},
    Field{"nanDPs", Is::kNans},
    Field{"processingPreWriteTime", Is::kWallMs},
    Field{"queryScanTime", Is::kWallMs},
    Field{"rowsPostFilter", Is::kBlocksRead},
    Field{"rowsPreFilter", Is::kBlocksRead},
    Field{"saltScannerMergeTime", Is::kNoTime},
    Field{"scannerTime", Is::kWallMs},
    Field{"scannerUidToStringTime", Is::kNoTime},
    Field{"serializationTime", Is::kNoTime},
    Field{"successfulScan", Is::kOne},
    Field{"totalTime", Is::kWallMs},
    Field{"uidPairsResolved", Is::kNone},
    Field{"uidToStringTime", Is::kNoTime},
};

std::string text_of(Is is, const QueryStats& stats) {
  switch (is) {
    case Is::kWallMs:
      return fmt::format("{:.1f}", stats.cost.wall_ms);
    case Is::kNoTime:
      return "0.0";
    case Is::kPointsRead:
      return std::to_string(stats.cost.points_read);
    case Is::kBlocksRead:
      return std::to_string(stats.cost.blocks_read);
    case Is::kEmitted:
      return std::to_string(stats.emitted);
    case Is::kNans:
      return std::to_string(stats.nans);
    case Is::kOne:
      return "1";
    case Is::kNone:
      break;
  }
  return "0";
}

}  // namespace

void append_query_stats(std::string& to, const QueryStats& stats) {
  bool first = true;
  for (const Field& field : kFields) {
    fmt::format_to(std::back_inserter(to), "{}\"{}\":{}", first ? "" : ",", field.name,
                   text_of(field.is, stats));
    first = false;
  }
}

}  // namespace halite::web
