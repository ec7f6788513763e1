#include "tests/text/received_text.h"

#include <cmath>

#include <fmt/format.h>

#include "common/bytes/utf8.h"

namespace halite::ingest {

std::string printable(std::string_view text) {
  const bool all = !is_utf8(text);
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || (all && byte >= 0x80)) {
      out += fmt::format("\\x{:02X}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

std::string series_text(const SeriesName& name) {
  std::string text = printable(name.metric) + '{';
  for (const Tag& tag : name.tags) {
    if (!text.ends_with('{')) text += ", ";
    text += fmt::format("{}={}", printable(tag.key), printable(tag.value));
  }
  return text + '}';
}

std::string point_text(PointBits point) {
  std::string text;
  const double real = as_double(point.value);
  if ((point.flags & kFloat) == 0) {
    text = fmt::format("{}", as_integer(point.value));
  } else if (!std::isfinite(real)) {
    text = fmt::format("bits:{:016X}", point.value);
  } else {
    text = fmt::format("{}", real);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
  }
  return fmt::format("{} @ {}{}", text, point.time, (point.flags & kMillis) != 0 ? " ms" : "");
}

void BodyAnswers::part(std::uint32_t number) {
  if (number != part_ + 1) lines.push_back(fmt::format("part {} behind {}", number, part_));
  part_ = number;
}

void BodyAnswers::point(PointBits point) {
  if (!name_) return refuse(name_.error().text);
  add(series_text(*name_) + ' ' + point_text(point));
}

void BodyAnswers::metadata(const MetricMetadata& about) {
  add(fmt::format("metadata: {} is a {} in \"{}\": {}", printable(about.family), about.type,
                  about.unit, printable(about.help)));
}

void BodyAnswers::add(std::string_view line) {
  lines.push_back(fmt::format("{}: {}", part_, line));
}

}  // namespace halite::ingest
