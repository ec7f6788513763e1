// Decodes all cells of chunk tables, and finds the series whose points are in unreadable key
// ranges.
//
//   Threads  not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "storage/backends/rocks/files/live_files.h"
#include "storage/backends/rocks/inspect/table_check.h"
#include "storage/tools/check/name_catalog.h"
#include "storage/tools/check/report.h"
#include "storage/tsdb/chunk/chunk.h"
#include "storage/tsdb/chunk/summary.h"

namespace halite::storage::check {

// Maximum number of series that one finding lists.
inline constexpr std::size_t kSeriesNamed = 100;

class ChunkChecker {
 public:
  // Adds to the report. Both arguments must outlive the checker.
  ChunkChecker(NameCatalog& catalog, Report& report) : catalog_(catalog), report_(report) {}

  // Checks a readable cell. Without a known layout it still decodes and counts the points.
  void cell(const rocks::LiveFile& file, BytesView key, BytesView value);

  // Notes an unreadable key range of the file; report_impact() finds the affected series.
  void unreadable(std::size_t finding, const rocks::LiveFile& file,
                  const rocks::TableDamage::Keys& keys);

  // Discards the findings from this one on.
  void forget_from(std::size_t finding);

  // Fills in the impact of all unreadable ranges. Reads the row of every series.
  Result<void> report_impact();

  // Series that have cells but no name, by their key prefix; at most 10 000. The caller must check
  // whether they were removed meanwhile.
  struct Unknown {
    Bytes tsuid;
    std::string file;
  };
  [[nodiscard]] const std::map<Bytes, Unknown>& unknown() const { return unknown_; }

  // Counts of points whose series cannot be identified because the key layout is unknown.
  struct UnnamedPoints {
    std::uint64_t points = 0;
    std::uint64_t series = 0;
  };
  [[nodiscard]] UnnamedPoints nameless() const {
    return {.points = nameless_points_, .series = nameless_.size()};
  }

 private:
  struct Range {
    std::size_t finding = 0;
    Bytes begin;
    Bytes end;  // inclusive
  };
  Result<void> check_cell(std::string_view family, BytesView key, BytesView value);
  Result<void> check_nameless(std::string_view family, BytesView key, BytesView value);
  Result<void> check_chunk(const engine::ParsedKey& key, BytesView value);
  Result<void> check_summary(BytesView key, BytesView value);
  Result<void> check_series(BytesView series, BytesView prefix);
  Result<void> check_id(NameKind kind, std::uint64_t uid);
  void add_to(const Range& range, BytesView tsuid, std::uint32_t shard);

  NameCatalog& catalog_;
  Report& report_;
  std::string file_;  // that the current cell is in
  Bytes series_;      // key prefix of the last cell: shard, slot and series
  chunk::Decoder decoder_;
  chunk::SummaryDecoder summaries_;
  chunk::Points points_;
  std::vector<Range> ranges_;
  std::map<Bytes, Unknown> unknown_;
  std::uint64_t nameless_points_ = 0;
  boost::unordered_flat_set<std::uint64_t> nameless_;  // hashes of series
};

}  // namespace halite::storage::check
