// Telnet lines as agents repeat them: "put", then the series that followed the one before the last
// time as well. Nothing is searched for: the bytes that are expected are there, or they are not.
// Private to ingest/.
//
// What is taken here is what split_put_line() takes, with the same pieces, of a key that the cache
// knows; of any other line nothing is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ingest/ingest_batch.h"
#include "ingest/series_cache.h"

namespace halite::ingest {

class FastLineParser {
 public:
  // The bytes of the line at the front of `text`, its end included, if it is a point of the series
  // that the reader expects; else 0. A line is at most line_bytes_max long, without its end.
  [[nodiscard]] std::size_t take(std::string_view text, std::size_t line_bytes_max,
                                 SeriesCache::Reader& reader);

  // Of the line taken last.
  [[nodiscard]] storage::SeriesId id() const { return id_; }
  [[nodiscard]] const PointBits& point() const { return point_; }

 private:
  [[nodiscard]] const char* take_time(const char* at, const char* end);
  [[nodiscard]] const char* take_value(const char* at, const char* end);

  // The timestamp before, which is often this one as well, and the blank behind it.
  std::string time_text_;
  std::int64_t timestamp_ = 0;
  storage::SeriesId id_ = 0;
  PointBits point_;
};

}  // namespace halite::ingest
