// Lines with points, from text to a batch of points: the predicted series first, then look-ups in
// groups, then the general parser. Private to ingest/.
//
// A round lives from its first line to the commit of its batch: an idle connection has none and
// needs no memory for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/telnet/fast_line_parser.h"
#include "ingest/telnet/put_line.h"
#include "ingest/writer_context.h"

namespace halite::ingest {

class LineRound {
 public:
  // `command`: how each line begins; empty: with the metric. It lives as long as the round.
  LineRound(WriterContext& context, std::string_view command, std::size_t points_expected);

  // Takes one line, without its line feed. It may be refused by a later call.
  void add(std::string_view line);
  // As add(), for a line with another command than the rest.
  void add_completely(std::string_view line, std::string_view command);
  // Counts a line without a point.
  void skip() { ++lines_; }
  [[nodiscard]] std::uint32_t lines() const { return lines_; }

  struct FastPathResult {
    std::size_t bytes = 0;  // of whole lines, including their ends
    std::size_t lines = 0;
  };
  // Takes lines off the front of `text` while they are points of known series in the previous
  // order. An unexpected line is looked up alone, so that the next one can be predicted again.
  // After a second one, lines are looked up in groups for a while.
  [[nodiscard]] FastPathResult add_fast_path(std::string_view text, std::size_t line_bytes_max,
                                             std::size_t points_max);
  // Looks up what waits in the current group. Call it before take_batch().
  void resolve();

  [[nodiscard]] std::size_t points() const { return group_.count + ingest_batch_.points(); }
  [[nodiscard]] std::size_t waiting_bytes() const { return ingest_batch_.waiting_bytes(); }
  [[nodiscard]] bool any_waiting() const { return !ingest_batch_.waiting().empty(); }
  // The refused lines since the last call, in order. Their numbers count from 1.
  [[nodiscard]] std::vector<BatchRefusal> take_refused() { return std::exchange(refused_, {}); }
  [[nodiscard]] bool any_refused() const { return !refused_.empty(); }
  // Call it once, after resolve().
  [[nodiscard]] IngestBatch take_batch() { return std::move(ingest_batch_); }
  void count_lookups() const { context_.stats.looked_up(hits_, misses_); }

 private:
  // Lines that are looked up together, so that their cache misses overlap.
  struct LineGroup {
    struct Line {
      // The raw text from the metric on: timestamp and value are between the two pieces.
      [[nodiscard]] std::string_view text() const {
        const char* const end = key.tags.data() + key.tags.size();
        return {key.metric.data(), static_cast<std::size_t>(end - key.metric.data())};
      }

      SeriesKey key;  // pieces of one text, in `bytes` or in an oversized line
      std::uint64_t hash;
      PointBits point;
      std::uint32_t origin;
    };

    [[nodiscard]] bool full() const { return count == lines.size(); }
    [[nodiscard]] bool has_room(std::size_t size) const { return size <= bytes.size() - used; }

    const char* keep(std::string_view text) {
      char* const place = bytes.data() + used;
      std::memcpy(place, text.data(), text.size());
      used += text.size();
      return place;
    }
    void clear() {
      count = 0;
      used = 0;
    }

    std::size_t count = 0;
    std::size_t used = 0;
    std::array<Line, 32> lines;
    std::array<char, 16 << 10> bytes;
  };

  void add_to_group(const PutPieces& pieces);
  void add_missing(const LineGroup::Line& line);
  void add_unusual(std::string_view line, std::string_view command);
  void refuse(std::uint32_t origin, Refused why, std::string_view point);

  WriterContext& context_;
  const std::string_view command_;
  IngestBatch ingest_batch_;
  SeriesCache::Reader reader_;
  std::uint32_t lines_ = 0;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
  std::vector<BatchRefusal> refused_;
  // Whether the previous line was looked up in order, so that the next can be predicted.
  bool tried_ = false;
  FastLineParser fast_;
  LineGroup group_;
};

}  // namespace halite::ingest
