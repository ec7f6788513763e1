#include "ingest/formats/point_format.h"

#include <algorithm>

#include "ingest/formats/checked_writer.h"
#include "ingest/formats/csv_lines.h"
#include "ingest/formats/exposition.h"
#include "ingest/formats/graphite_lines.h"
#include "ingest/formats/influx_lines.h"
#include "ingest/formats/opentsdb_lines.h"
#include "ingest/formats/vm_json.h"

namespace halite::ingest {
namespace {

std::unique_ptr<PointWriter> make_plain_writer(Format format, const FormatOptions& options) {
  switch (format) {
    case Format::kOpenTsdb:
      return make_opentsdb_writer();
    case Format::kInflux:
      return make_influx_writer(options);
    case Format::kPrometheus:
    case Format::kOpenMetrics:
    case Format::kPromDump:
      return make_exposition_writer(format);
    case Format::kVmJson:
      return make_vm_json_writer(options);
    case Format::kCsv:
      return make_csv_writer(options);
    case Format::kGraphite:
      return make_graphite_writer();
  }
  return nullptr;
}

}  // namespace

std::string_view format_name(Format format) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"opentsdb", "influx", "prometheus", "openmetrics", "vmjson", "promdump", "csv", "graphite"});
  static_assert(kNames.size() == kFormats.size());
  return kNames[static_cast<std::size_t>(format)];
}

std::string format_names() {
  std::string names;
  for (const Format format : kFormats) {
    if (!names.empty()) names += ", ";
    names += format_name(format);
  }
  return names;
}

std::optional<Format> format_named(std::string_view name) {
  const auto found = std::ranges::find(kFormats, name, format_name);
  if (found == kFormats.end()) return std::nullopt;
  return *found;
}

std::unique_ptr<PointParser> make_parser(Format format, const FormatOptions& options,
                                         const PointRules& rules) {
  switch (format) {
    case Format::kOpenTsdb:
      return make_opentsdb_parser(rules);
    case Format::kInflux:
      return make_influx_parser(options, rules);
    case Format::kPrometheus:
    case Format::kOpenMetrics:
    case Format::kPromDump:
      return make_exposition_parser(format, options, rules);
    case Format::kVmJson:
      return make_vm_json_parser(rules);
    case Format::kCsv:
      return make_csv_parser(options, rules);
    case Format::kGraphite:
      return make_graphite_parser(options, rules);
  }
  return nullptr;
}

std::string header_behind(Format format, const FormatOptions& options, std::string_view header,
                          std::string_view lines) {
  return format == Format::kCsv ? csv_header_behind(options, header, lines) : std::string();
}

std::unique_ptr<PointWriter> make_writer(Format format, const FormatOptions& options) {
  return make_checked_writer(format, options, make_plain_writer);
}

}  // namespace halite::ingest
