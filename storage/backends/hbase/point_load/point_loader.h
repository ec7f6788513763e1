// Loads batches of points into the point table as HFiles, without writes by RPC: one file for each
// region. Readers see the points as soon as their region has its file.
//
//   Rows     those of the table's layout. In OpenTSDB's rows, the points of a series and hour are
//   one
//            compacted column, of at most 3600 points, whatever hbase.appends and
//            hbase.compact_batches say: a second append column would hide the first. In the cyclic
//            layout each point is a cell.
//   Order    Cells get the time of the load, later than all that this process wrote: the points win
//            over those that exist. With fill_gaps they get the time 1 ms and lose against all.
//            A later batch of one loader wins over an earlier one, without fill_gaps.
//   Twice    Loading a batch again is harmless. After an error, any of its points may be stored.
//   Splits   If a region was split since its file was written, the rows are written again, from the
//            batch, and cut at the new regions.
//   Errors   kInvalidArgument: fill_gaps in a table with a TTL, under which cells of time 1 would
//   have
//            expired. kUnavailable: HBase or the directory; kOverloaded: its disk is full.
//   Threads  load() runs on the awaiter's executor: use a pool, on which regions run in parallel,
//            and no event loop, because it computes, and waits for disks. One batch at a time.
//   Memory   the batch (sorted_points.h), and 1.5 MB for each of regions_at_once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/threads/task.h"
#include "storage/api/point_sink.h"
#include "storage/api/wide_column.h"
#include "storage/backends/hbase/bulk_load/bulk_load.h"
#include "storage/backends/hbase/bulk_load/load_directory.h"
#include "storage/backends/hbase/client/client.h"
#include "storage/backends/hbase/hfile/hfile_writer.h"
#include "storage/backends/hbase/point_load/sorted_points.h"
#include "storage/catalog/series_table.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {

struct PointLoaderOptions {
  // Nothing: that of the table's family if it is GZ or ZSTD, else none.
  std::optional<hbase::HFileCompression> compression = {};
  bool fill_gaps = false;  // existing points stay
  std::size_t regions_at_once = 8;
  std::uint32_t attempts_max = 10;  // to write a file, and to cut the rows again
  hbase::BulkLoadOptions load = {};
};

struct LoadedPoints {
  std::uint64_t points = 0;  // without repeated and refused ones
  std::uint64_t rows = 0;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;       // of the files
  std::uint64_t rows_again = 0;  // written again, because regions were split
  std::vector<Refusal> refused;  // their times are outside the table's range
};

class PointLoader {
 public:
  // References outlive the loader.
  struct Dependencies {
    hbase::Client& client;
    std::shared_ptr<Table> cells;  // the point table
    std::string table;             // its full name in HBase
    Bytes family;
    bool expires = false;  // Halite hides cells of the table past a TTL
    std::shared_ptr<const RowLayout> layout;
    const SeriesTable& series;
    const Clock& clock;
    std::shared_ptr<hbase::LoadDirectory> directory;
  };
  // Reads the table's description and creates the directory.
  static Task<std::unique_ptr<PointLoader>> open(Dependencies dependencies,
                                                 PointLoaderOptions options);

  // Series, times, values and flags only. Keep the pin of the series until it returns.
  Task<LoadedPoints> load(PointBatch batch);

 private:
  // Rows of a SortedPoints for one file.
  struct Piece {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string path;  // of the file, once it is named
  };

  PointLoader(Dependencies dependencies, PointLoaderOptions options,
              hbase::HFileCompression compression);

  Task<std::vector<Piece>> cut(const SortedPoints& points, std::vector<Piece> pieces);
  Task<hbase::HFileSummary> write(const SortedPoints& points, const Piece& piece,
                                  TimestampMs stamp);
  Task<hbase::HFileSummary> write_once(const SortedPoints& points, const Piece& piece,
                                       TimestampMs stamp);
  Result<void> add_row(const SortedPoints::Row& row, TimestampMs stamp, hbase::HFileWriter& file);
  // Writes and loads them; returns those whose regions were split.
  Task<std::vector<Piece>> load_pieces(const SortedPoints& points, std::vector<Piece>& pieces,
                                       TimestampMs stamp, LoadedPoints& report);
  Task<void> remove_files(const std::vector<Piece>& pieces);
  [[nodiscard]] TimestampMs next_stamp();

  const Dependencies dependencies_;
  const PointLoaderOptions options_;
  const hbase::HFileCompression compression_;
  const bool opentsdb_;
  const std::string name_;  // begins the names of its files
  std::uint64_t files_ = 0;
  TimestampMs last_stamp_ = 0;
};

}  // namespace halite::storage
