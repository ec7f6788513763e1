// Text formats of points. The first byte chooses the format. What a parser takes from a text, a
// writer of the format can say, or refuses to say; then the parser reads the same again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/check.h"
#include "ingest/formats/point_format.h"

namespace halite::ingest {
namespace {

struct TakenPoint {
  SeriesName series;
  TimestampMs time = 0;
  ValueBits value = 0;
  bool is_float = false;
  bool operator==(const TakenPoint&) const = default;
};

const PointRules& rules() {
  static const PointRules kRules({.tags_max = 8, .name_bytes_max = 64}, ":");
  return kRules;
}

class Taken final : public PointReceiver {
 public:
  explicit Taken(const PointParser& parser) : parser_(parser) {}

  void series(const SeriesKey& key) override {
    auto name = parser_.series_name(key);
    known_ = name.has_value();
    if (known_) {
      HALITE_CHECK(!name->metric.empty() && name->tags.size() <= 8, "names within the limits");
      HALITE_CHECK(std::ranges::is_sorted(name->tags), "tags in the order of their keys");
      name_ = *std::move(name);
    } else {
      HALITE_CHECK(!name.error().text.empty(), "a refusal has a reason");
      ++refused;
    }
  }
  void point(PointBits point) override {
    HALITE_CHECK(point.time >= 0 && point.time <= kTimestampMax, "a time in the range");
    if (known_) points.push_back({name_, point.time, point.value, (point.flags & kFloat) != 0});
  }
  void refuse(std::string reason) override {
    HALITE_CHECK(!reason.empty(), "a refusal has a reason");
    ++refused;
  }

  std::vector<TakenPoint> points;
  std::size_t refused = 0;

 private:
  const PointParser& parser_;
  SeriesName name_;
  bool known_ = false;
};

Taken take(Format format, std::string_view text, const FormatOptions& options) {
  const auto parser = make_parser(format, options, rules());
  Taken taken(*parser);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    parser->line(text.substr(0, end), taken);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  parser->end(taken);
  return taken;
}

void check_round_trip(Format format, const std::vector<TakenPoint>& points) {
  const auto writer = make_writer(format);
  std::string text;
  std::vector<TakenPoint> written;
  writer->header(text);
  for (const TakenPoint& point : points) {
    if (!writer->series(point.series, text)) continue;
    const PointBits bits{.time = point.time,
                         .value = point.value,
                         .flags = static_cast<std::uint8_t>(point.is_float ? kFloat : 0)};
    if (writer->point(bits, text)) written.push_back(point);
  }
  writer->footer(text);
  const Taken again = take(format, text, {});
  HALITE_CHECK(again.refused == 0, "a parser takes all that its writer writes");
  HALITE_CHECK(again.points == written, "and reads the same points");
}

void check_text(std::uint8_t choice, std::string_view text) {
  const Format format = kFormats[choice % kFormats.size()];
  FormatOptions options;
  if (choice >= 64) options.default_time = 1'700'000'000'000;
  if (choice >= 128) options.influx_separator = ".";
  if (choice >= 192) options.influx_precision = TimeUnit::kSeconds;
  check_round_trip(format, take(format, text, options).points);
  static_cast<void>(detect_format(text));
}

}  // namespace

void check_point_formats(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return;
  check_text(data[0], {reinterpret_cast<const char*>(data + 1), size - 1});
}

}  // namespace halite::ingest

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  halite::ingest::check_point_formats(data, size);
  return 0;
}
