// Blocks of points as JSON lines of VictoriaMetrics.
//
// What the lines cannot say is left out and named: a line has a member "omitted" then, which
// importers ignore. If no point of a series is left, its line has one null, which is no point. A
// series whose names have no form gets the line {"omitted":"..."}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "ingest/formats/point_format.h"
#include "storage/api/point_store.h"

namespace halite::web {

class ExportLines {
 public:
  explicit ExportLines(std::size_t points_in_line_max);

  void add(const storage::Series& series, const storage::Block& block);
  // The lines since the last call, all complete.
  [[nodiscard]] std::string take();

 private:
  void begin_series(const storage::Series& series);
  void end_series();
  void omit(TimestampMs time, std::string why);

  const std::unique_ptr<ingest::PointWriter> writer_;
  std::string text_;
  // Of the current series.
  bool begun_ = false;
  storage::SeriesId id_ = 0;
  bool writable_ = false;
  std::size_t text_before_ = 0;  // its first line begins here
  std::size_t written_ = 0;      // points
  std::size_t omitted_ = 0;
  TimestampMs omitted_first_ = 0;
  std::string why_;  // of the first one
};

}  // namespace halite::web
