// The fast path for telnet lines: the command, then the series that followed the previous one last
// time. It searches for nothing; it compares the expected bytes. Private to ingest/.
//
// split_put_line() accepts every line that is accepted here, with identical pieces and a cached
// key. Any other line needs the general parser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ingest/ingest_batch.h"
#include "ingest/series_cache/series_cache.h"

namespace halite::ingest {

class FastLineParser {
 public:
  // An empty command: lines begin with the metric.
  explicit FastLineParser(std::string_view command) : before_metric_(command) {
    if (!command.empty()) before_metric_ += ' ';
  }

  // The length of the line at the front of `text`, including its end, if it is a point of the
  // expected series; else 0. A line has at most line_bytes_max bytes without its end.
  [[nodiscard]] std::size_t take(std::string_view text, std::size_t line_bytes_max,
                                 SeriesCache::Reader& reader);

  // Of the line taken last.
  [[nodiscard]] storage::SeriesId id() const { return id_; }
  [[nodiscard]] const PointBits& point() const { return point_; }

 private:
  [[nodiscard]] const char* take_time(const char* at, const char* end);
  [[nodiscard]] const char* take_value(const char* at, const char* end);

  std::string before_metric_;
  // The previous timestamp, which often repeats, and the blank after it.
  std::string time_text_;
  std::int64_t timestamp_ = 0;
  storage::SeriesId id_ = 0;
  PointBits point_;
};

}  // namespace halite::ingest
