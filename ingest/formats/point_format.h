// Text formats of points: a parser and a writer each. docs/data-model.md says how their names,
// times and values become those of Halite.
//
// Parsers turn bytes into points or refusals and do nothing else. A series is passed on as the
// bytes that name it in the line, so that a known one costs no parsing: SeriesCache maps them to an
// id. What a writer wrote, the parser of the format reads back as equal points, bit for bit; what a
// format cannot represent, its writer refuses to write.
//
//   Threads   a parser or writer is for one thread at a time; series_name() is for any number.
//   Memory    a common line allocates nothing. A parser keeps at most the longest line's points.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/formats/point_receiver.h"
#include "ingest/formats/times.h"
#include "ingest/rules/point_rules.h"
#include "ingest/series_cache/series_key.h"

namespace halite::ingest {

enum class Format : std::uint8_t {
  kOpenTsdb,     // as `tsdb import` reads and `tsdb scan --import` prints
  kInflux,       // line protocol
  kPrometheus,   // text exposition 0.0.4
  kOpenMetrics,  // 1.0
  kVmJson,       // JSON lines of VictoriaMetrics' /api/v1/import
  kPromDump,     // of `promtool tsdb dump`
  kCsv,
  kGraphite,  // plain text
};

inline constexpr std::array kFormats = {Format::kOpenTsdb,    Format::kInflux,  Format::kPrometheus,
                                        Format::kOpenMetrics, Format::kVmJson,  Format::kPromDump,
                                        Format::kCsv,         Format::kGraphite};

// "opentsdb", "influx", "prometheus", "openmetrics", "vmjson", "promdump", "csv",
// "graphite".
[[nodiscard]] std::string_view format_name(Format format);
[[nodiscard]] std::optional<Format> format_named(std::string_view name);
[[nodiscard]] std::string format_names();  // of all, separated by commas

class GraphiteTemplates;

inline constexpr std::size_t kVmJsonPointsMax = 10'000;

struct FormatOptions {
  std::string influx_separator{kInfluxSeparator};      // between measurement and field
  std::string influx_value_field{kInfluxValueField};   // adds nothing to its measurement; may be ""
  TimeUnit influx_precision = TimeUnit::kNanoseconds;  // of times
  std::string influx_database = {};  // the tag `db` of series without one; empty: no such tag
  std::shared_ptr<const GraphiteTemplates> graphite_templates = nullptr;  // null: none
  std::vector<std::string> csv_columns = {};  // instead of a header line; empty: it has one
  // Of names in OpenTSDB's lines, besides OpenTSDB's own: ingest.special_characters. For writers.
  std::string special_characters = {};
  std::optional<TimestampMs> default_time = std::nullopt;  // of points without a time; else refused
  std::size_t vm_json_points_max = kVmJsonPointsMax;       // in a line that a writer writes
  bool vm_json_nulls = false;  // write staleness markers as null, which is no point; else refused
};

// The format of a text, by its first lines; nothing if that is uncertain. The last line may be cut
// off.
[[nodiscard]] std::optional<Format> detect_format(std::string_view first_bytes,
                                                  FormatOptions options = {});

// Parses one stream; keeps state between lines, for example the columns of CSV.
class PointParser {
 public:
  virtual ~PointParser() = default;

  // `line` has no line feed, but may end in '\r'. Its length is the caller's to limit.
  virtual void line(std::string_view line, PointReceiver& to) = 0;
  // The first line() is behind this header: see header_behind(). Not after a line().
  virtual void begin_behind(std::string_view header) { static_cast<void>(header); }
  // The stream ends. Refuses one that must not end here.
  virtual void end(PointReceiver& to) { static_cast<void>(to); }
  // The series that a key from series() names, or why it is refused.
  [[nodiscard]] virtual std::expected<SeriesName, Refused> series_name(
      const SeriesKey& key) const = 0;
};

// `rules` must outlive the parser.
[[nodiscard]] std::unique_ptr<PointParser> make_parser(Format format, const FormatOptions& options,
                                                       const PointRules& rules);

// For streams that several parsers read: the header of what follows `lines`, where `header` is that
// of `lines`. Both are empty where a parser needs none: at the beginning, and in formats but csv.
[[nodiscard]] std::string header_behind(Format format, const FormatOptions& options,
                                        std::string_view header, std::string_view lines);

// Why a format cannot represent something: "prometheus has no staleness markers".
using Unwritable = std::string;

// Appends points to a text, in this order: header(), for each series series() and its points,
// footer(). Parts of a text that several writers made may be joined: all but the first without
// header(), all but the last with finish() instead of footer().
class PointWriter {
 public:
  virtual ~PointWriter() = default;

  virtual void header(std::string& to) { static_cast<void>(to); }
  // After an error, write no points of the series. Times grow within a series.
  [[nodiscard]] virtual std::expected<void, Unwritable> series(const SeriesName& name,
                                                               std::string& to) = 0;
  // After an error nothing of the point is written, and the next one may follow.
  [[nodiscard]] virtual std::expected<void, Unwritable> point(PointBits point, std::string& to) = 0;
  // Ends the last series' text.
  virtual void finish(std::string& to) { static_cast<void>(to); }
  virtual void footer(std::string& to) { finish(to); }
};

[[nodiscard]] std::unique_ptr<PointWriter> make_writer(Format format,
                                                       const FormatOptions& options = {});

}  // namespace halite::ingest
