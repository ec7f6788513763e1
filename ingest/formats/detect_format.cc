#include <algorithm>
#include <cstddef>

#include "ingest/formats/point_format.h"

namespace halite::ingest {
namespace {

// Counts what a parser finds.
class Count final : public PointReceiver {
 public:
  explicit Count(const PointParser& parser) : parser_(parser) {}

  void series(const SeriesKey& key) override { refused += parser_.series_name(key) ? 0 : 1; }
  void point(PointBits /*point*/) override { ++points; }
  void refuse(std::string /*reason*/) override { ++refused; }

  std::size_t points = 0;
  std::size_t refused = 0;

 private:
  const PointParser& parser_;
};

struct Taken {
  Format format;
  std::size_t points = 0;
  std::size_t refused = 0;
};

Taken read_as(Format format, const FormatOptions& options, std::string_view text) {
  static const PointRules kRules({}, ":");
  const auto parser = make_parser(format, options, kRules);
  Count count(*parser);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    parser->line(text.substr(0, end), count);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {.format = format, .points = count.points, .refused = count.refused};
}

// Of a text with faults: the only format that takes any of it, or else most of it.
std::optional<Format> most_likely(const std::vector<Taken>& all) {
  const auto only = [&all](const auto& fits) -> std::optional<Format> {
    const auto first = std::ranges::find_if(all, fits);
    if (first == all.end() || std::find_if(first + 1, all.end(), fits) != all.end()) {
      return std::nullopt;
    }
    return first->format;
  };
  if (const auto format = only([](const Taken& taken) { return taken.points > 0; })) return format;
  return only([](const Taken& taken) { return taken.points > taken.refused; });
}

// Complete lines, few enough to be read by each parser.
std::string_view head_of(std::string_view text) {
  constexpr std::size_t kBytesMax = 64 << 10;
  if (text.size() <= kBytesMax) return text;
  const std::string_view head = text.substr(0, kBytesMax);
  const std::size_t end = head.rfind('\n');
  return end == std::string_view::npos ? head : head.substr(0, end + 1);
}

// A line of a name, a value and seconds is one of Graphite and of OpenMetrics, and the same point.
// What follows are signs that it is one of OpenMetrics, or one of Graphite.
bool has_labels_or_comments(std::string_view text) {
  return text.starts_with('#') || text.contains("\n#") || text.contains("=\"") ||
         text.contains("{\"");
}
bool begins_as_graphite(std::string_view text) {
  const std::string_view path = text.substr(0, text.find_first_of(" \t\n"));
  return !has_labels_or_comments(text) && path.find_first_of(".;") != std::string_view::npos;
}

}  // namespace

std::optional<Format> detect_format(std::string_view first_bytes, FormatOptions options) {
  if (!options.default_time) options.default_time = 0;
  const std::string_view text = head_of(first_bytes);
  // Only its beginning tells a dump from the exposition format, of which it is a part.
  const bool dump = text.starts_with("{__name__=\"");
  std::vector<Taken> all;
  std::vector<Format> able;
  for (const Format format : kFormats) {
    if (format == Format::kPromDump && !dump) continue;
    if (format == Format::kGraphite && has_labels_or_comments(text)) continue;
    if (format == Format::kOpenMetrics && begins_as_graphite(text)) continue;
    const Taken& taken = all.emplace_back(read_as(format, options, text));
    if (taken.points > 0 && taken.refused == 0) able.push_back(format);
  }
  if (able.empty()) return most_likely(all);
  if (able.size() == 1) return able.front();
  const auto can = [&](Format format) { return std::ranges::find(able, format) != able.end(); };
  if (can(Format::kPromDump)) return Format::kPromDump;
  if (can(Format::kOpenMetrics) && text.contains("\n# EOF")) return Format::kOpenMetrics;
  return std::nullopt;
}

}  // namespace halite::ingest
