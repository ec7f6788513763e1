#include "tests/text/bytes_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace halite::storage::bytes_text {
namespace {

[[noreturn]] void bad(std::string_view what, std::string_view text) {
  throw std::runtime_error(fmt::format("{}: \"{}\"", what, text));
}

std::pair<std::string_view, std::string_view> split(std::string_view text, std::string_view at) {
  const std::size_t where = text.find(at);
  if (where == std::string_view::npos) bad(fmt::format("no {}", at), text);
  return {text.substr(0, where), text.substr(where + at.size())};
}

constexpr TimestampMs kMillisBegin = TimestampMs{1} << 32;

UidWidths widths(std::string_view text) {
  const auto [metric, tags] = split(text, ",");
  const auto [tag_key, tag_value] = split(tags, ",");
  return {static_cast<std::uint8_t>(number(metric)), static_cast<std::uint8_t>(number(tag_key)),
          static_cast<std::uint8_t>(number(tag_value))};
}

Result<Layouts> make_opentsdb(std::span<const std::string> words) {
  OpentsdbOptions options;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    if (words[i] == "uids") {
      options.widths = widths(words[i + 1]);
    } else if (words[i] == "salt") {
      const auto [width, buckets] = split(words[i + 1], "/");
      options.salt_width = static_cast<std::uint8_t>(number(width));
      options.salt_buckets = static_cast<std::uint32_t>(number(buckets));
    } else {
      bad("no such option of layout opentsdb", words[i]);
    }
  }
  Layouts layouts;
  TRY(layouts.opentsdb, OpentsdbLayout::make(options));
  return layouts;
}

Result<Layouts> make_cyclic(std::span<const std::string> words) {
  CyclicOptions options;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    const std::string& value = words[i + 1];
    if (words[i] == "uids") {
      options.widths = widths(value);
    } else if (words[i] == "salt") {
      options.salt_buckets = static_cast<std::uint32_t>(number(value));
    } else if (words[i] == "span") {
      options.span_ms = duration_ms(value);
    } else if (words[i] == "slots") {
      options.slots = static_cast<std::uint32_t>(number(value));
    } else if (words[i] == "ttl") {
      options.ttl_ms = duration_ms(value);
    } else if (words[i] == "future") {
      options.future_max_ms = duration_ms(value);
    } else if (words[i] == "forecast") {
      options.forecast_max_ms = duration_ms(value);
    } else if (words[i] == "cleaning") {
      options.cleaning_ms = duration_ms(value);
    } else {
      bad("no such option of layout cyclic", words[i]);
    }
  }
  Layouts layouts;
  TRY(layouts.cyclic, CyclicLayout::make(options));
  return layouts;
}

std::string dotted(BytesView bytes, std::span<const std::size_t> sizes) {
  std::string text;
  for (const std::size_t size : sizes) {
    if (size == 0 || bytes.empty()) continue;
    if (!text.empty()) text += '.';
    text += to_hex(bytes.substr(0, size));
    bytes.remove_prefix(std::min(size, bytes.size()));
  }
  if (!bytes.empty()) text += (text.empty() ? "" : ".") + to_hex(bytes);
  return text;
}

}  // namespace

void need(bool condition, std::string_view what) {
  if (!condition) throw std::runtime_error(std::string(what));
}

std::vector<std::string> words_of(std::string_view line) {
  std::istringstream in{std::string(line)};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) bad("not a number", text);
  return value;
}

Bytes hex(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '.');
  auto bytes = from_hex(digits);
  if (!bytes) bad("not hex", text);
  return *bytes;
}

std::int64_t duration_ms(std::string_view text) {
  const std::size_t unit = text.find_first_not_of("-0123456789");
  if (unit == std::string_view::npos) bad("a duration has a unit", text);
  for (const auto& [name, ms] : {std::pair<std::string_view, std::int64_t>{"ms", 1},
                                 {"s", 1000},
                                 {"m", 60'000},
                                 {"h", 3'600'000},
                                 {"d", kDayMs}}) {
    if (text.substr(unit) == name) return number(text.substr(0, unit)) * ms;
  }
  bad("no such unit", text);
}

TimestampMs time_ms(std::string_view text) {
  const std::int64_t time = number(text);
  return time < kMillisBegin ? time * 1000 : time;
}

TimeRange time_range(std::string_view text) {
  const auto [begin, end] = split(text, "..");
  return {time_ms(begin), time_ms(end)};
}

Point point(std::string_view text) {
  auto [time, value] = split(text, "=");
  Point point;
  point.time = time_ms(time);
  if (number(time) >= kMillisBegin) point.flags |= kMillis;
  if (value.ends_with('w')) {
    point.flags |= kWide;
    value.remove_suffix(1);
  }
  if (value.starts_with("bits:")) {
    point.flags |= kFloat;
    point.value = load_be_width(hex(value.substr(5)));
  } else if (value.find_first_of(".eE") != std::string_view::npos) {
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size()) bad("not a double", text);
    point.flags |= kFloat;
    point.value = double_bits(number);
  } else {
    point.value = integer_bits(number(value));
  }
  return point;
}

Cell cell(std::string_view text) {
  const auto [qualifier, rest] = split(text, "=");
  const std::size_t at = rest.find('@');
  Cell cell{hex(qualifier), hex(rest.substr(0, at)), 1};
  if (at != std::string_view::npos) cell.time = number(rest.substr(at + 1));
  return cell;
}

std::vector<Point> points(std::span<const std::string> texts) {
  std::vector<Point> points;
  for (const std::string& text : texts) points.push_back(point(text));
  return points;
}

RowPoints columns(std::span<const Point> points) {
  RowPoints columns;
  for (const Point& point : points) {
    columns.times.push_back(point.time);
    columns.values.push_back(point.value);
    columns.flags.push_back(point.flags);
  }
  return columns;
}

Result<Layouts> make_layouts(std::span<const std::string> words) {
  if (words.empty() || words.size() % 2 == 0) bad("layout NAME [OPTION VALUE]...", "layout");
  if (words[0] == "opentsdb") return make_opentsdb(words.subspan(1));
  if (words[0] == "cyclic") return make_cyclic(words.subspan(1));
  bad("no such layout", words[0]);
}

std::string print(TimestampMs time, ValueBits value, std::uint8_t flags) {
  std::string text = fmt::format("{}=", (flags & kMillis) != 0 ? time : time / 1000);
  if ((flags & kFloat) == 0) {
    text += fmt::format("{}", as_integer(value));
  } else if (std::isfinite(as_double(value))) {
    text += fmt::format("{}", as_double(value));
    if (text.substr(text.find('=')).find_first_of(".e") == std::string::npos) text += ".0";
  } else {
    text += fmt::format("bits:{:016X}", value);
  }
  return (flags & kWide) != 0 ? text + 'w' : text;
}

std::string print_row(const Layouts& layouts, BytesView row) {
  const UidWidths& widths = layouts.any()->widths();
  std::vector<std::size_t> sizes;
  if (layouts.opentsdb) {
    sizes = {layouts.opentsdb->options().salt_width, widths.metric, 4};
  } else {
    sizes = {1, 4, widths.metric};
  }
  for (std::size_t at = 0; at < row.size(); at += widths.tag_key + widths.tag_value) {
    sizes.push_back(widths.tag_key);
    sizes.push_back(widths.tag_value);
  }
  return dotted(row, sizes);
}

std::string print_qualifier(const Layouts& layouts, BytesView qualifier) {
  if (layouts.opentsdb) return to_hex(qualifier);
  return dotted(qualifier, std::vector<std::size_t>{4, 1, 4, 8});
}

}  // namespace halite::storage::bytes_text
