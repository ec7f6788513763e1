// Decodes the cells of chunks' tables wholly, and tells whose points lie where others cannot be
// read.
//
//   Threads  for one at a time.
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

// Series of a damage that are named one by one.
inline constexpr std::size_t kSeriesNamed = 100;

class ChunkChecker {
 public:
  // Adds to the report; both outlive it.
  ChunkChecker(NameCatalog& catalog, Report& report) : catalog_(catalog), report_(report) {}

  // A cell of a file that can be read. Where the catalogue knows no layout it is decoded all the
  // same, and counted.
  void cell(const rocks::LiveFile& file, BytesView key, BytesView value);

  // The finding is of keys of the file that cannot be read: impact() will tell whose.
  void unreadable(std::size_t finding, const rocks::LiveFile& file,
                  const rocks::TableDamage::Keys& keys);

  // The findings from this one on are none.
  void forget_from(std::size_t finding);

  // Fills in what is hurt by all of those. Reads every series' row.
  Result<void> report_impact();

  // Series with cells that the names do not know, by what the keys of those cells begin with: to be
  // looked for in the database, where they may have been removed. The first so many.
  struct Unknown {
    Bytes tsuid;
    std::string file;
  };
  [[nodiscard]] const std::map<Bytes, Unknown>& unknown() const { return unknown_; }

  // What chunks hold of series that no name can be known of, for nothing says how keys are made.
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
    Bytes end;  // included
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
  std::string file_;  // that cells come of
  Bytes series_;      // of the last cell, and its place
  chunk::Decoder decoder_;
  chunk::SummaryDecoder summaries_;
  chunk::Points points_;
  std::vector<Range> ranges_;
  std::map<Bytes, Unknown> unknown_;
  std::uint64_t nameless_points_ = 0;
  boost::unordered_flat_set<std::uint64_t> nameless_;  // hashes of series
};

}  // namespace halite::storage::check
