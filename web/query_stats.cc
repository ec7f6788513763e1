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

std::string stat_text(Is is, const QueryStats& stats) {
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
                   stat_text(field.is, stats));
    first = false;
  }
}

void append_query_cost(std::string& to, const query::QueryCost& cost) {
  const auto stage = [&cost](query::Stage of) {
    return cost.stage_ms[static_cast<std::size_t>(of)];
  };
  fmt::format_to(std::back_inserter(to),
                 R"({{"series":{},"pointsRead":{},"pointsOut":{},"blocks":{},"chunksDecoded":{},)"
                 R"("chunksSkipped":{},"totals":{},"ms":{:.3f},"stages":{{"select":{:.3f},)"
                 R"("read":{:.3f},"merge":{:.3f},"annotations":{:.3f}}}}})",
                 cost.series, cost.points_read, cost.points_out, cost.blocks_read,
                 cost.work.chunks_decoded, cost.work.chunks_skipped, cost.work.totals, cost.wall_ms,
                 stage(query::Stage::kSelect), stage(query::Stage::kRead),
                 stage(query::Stage::kMerge), stage(query::Stage::kAnnotations));
}

}  // namespace halite::web
