#include "ingest/formats/vm_json.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "common/json_string.h"
#include "ingest/formats/names.h"
#include "ingest/formats/number_text.h"
#include "ingest/formats/shown.h"
#include "ingest/json/json_text.h"
#include "ingest/telnet/line_words.h"

namespace halite::ingest {
namespace {

constexpr SpecialNumbers kJsonNumbers = {
    .nan = "\"NaN\"", .infinity = "\"Infinity\"", .minus_infinity = "\"-Infinity\""};

// A null among the values. No text says this NaN.
constexpr ValueBits kNull = kStaleMarker;

bool is_json_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// Walks over the JSON of one line.
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text)
      : begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {}

  void skip_blanks() {
    while (at_ != end_ && is_json_blank(*at_)) ++at_;
  }
  [[nodiscard]] bool take(char wanted) {
    skip_blanks();
    if (at_ == end_ || *at_ != wanted) return false;
    ++at_;
    return true;
  }
  // The raw text between quotes.
  [[nodiscard]] bool take_string(std::string_view& inner) {
    if (!take('"')) return false;
    const char* const from = at_;
    for (; at_ != end_ && *at_ != '"'; ++at_) {
      if (*at_ == '\\' && ++at_ == end_) return false;
    }
    if (at_ == end_) return false;
    inner = {from, at_};
    ++at_;
    return true;
  }
  // A value of any kind, as text. Checks that brackets match, but not what they contain.
  [[nodiscard]] bool take_any(std::string_view& value) {
    skip_blanks();
    const char* const from = at_;
    std::size_t depth = 0;
    while (at_ != end_) {
      const char c = *at_;
      if (c == '"') {
        std::string_view string;
        if (!take_string(string)) return false;
        continue;
      }
      if (depth == 0 && (c == ',' || c == '}' || c == ']')) break;
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      ++at_;
    }
    value = trim({from, at_}, kJsonBlanks);
    return depth == 0 && !value.empty();
  }
  // The text up to a ',' or ']'.
  [[nodiscard]] std::string_view take_element() {
    const char* const from = at_;
    at_ = std::find_if(at_, end_, [](char c) { return c == ',' || c == ']'; });
    return trim({from, at_}, kJsonBlanks);
  }

  [[nodiscard]] bool at_end() {
    skip_blanks();
    return at_ == end_;
  }
  [[nodiscard]] const char* at() const { return at_; }
  [[nodiscard]] const char* end() const { return end_; }
  void set(const char* at) { at_ = at; }
  [[nodiscard]] std::string wrong(std::string_view what) const { return wrong(what, at_); }
  [[nodiscard]] std::string wrong(std::string_view what, const char* at) const {
    return fmt::format("column {}: {}", at - begin_ + 1, what);
  }

 private:
  const char* const begin_;
  const char* at_;
  const char* const end_;
};

std::optional<ValueBits> read_element(std::string_view text) {
  if (text == "null") return kNull;
  if (text.size() > 2 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
    if (text.find_first_of("0123456789") != std::string_view::npos) return std::nullopt;
    return read_go_double(text);
  }
  double value = 0;
  if (text.starts_with('+') || !read_double(text, value)) return std::nullopt;
  return double_bits(value);
}

class VmJsonParser final : public PointParser {
 public:
  explicit VmJsonParser(const PointRules& rules) : limits_(rules.limits()) {}

  void line(std::string_view line, PointReceiver& to) override {
    JsonCursor cursor(without_return(line));
    if (cursor.at_end()) return;
    object_ = {};
    values_.clear();
    times_.clear();
    if (auto wrong = take_line(cursor)) {
      to.refuse(*std::move(wrong));
      return;
    }
    if (object_.empty()) {
      to.refuse("the line has no \"metric\"");
      return;
    }
    if (values_.size() != times_.size() || values_.empty()) {
      to.refuse(
          fmt::format("the line has {} values and {} timestamps", values_.size(), times_.size()));
      return;
    }
    to.series({.grammar = KeyGrammar::kVmJson, .metric = {}, .tags = object_});
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (values_[i] == kNull) [[unlikely]] {
        to.skip("a null");
      } else {
        to.point(double_point(times_[i], values_[i]));
      }
    }
  }

  [[nodiscard]] std::expected<SeriesName, Refused> series_name(
      const SeriesKey& key) const override {
    JsonCursor cursor(key.tags);
    std::string metric;
    bool has_metric = false;
    std::vector<Tag> tags;
    if (!cursor.take('{')) return illegal("\"metric\" is no object");
    for (bool more = !cursor.take('}'); more;) {
      auto name = take_text(cursor);
      if (!name || !cursor.take(':'))
        return illegal("\"metric\": a label has the form \"k\":\"v\"");
      auto value = take_text(cursor);
      if (!value)
        return illegal(fmt::format("\"metric\": the value of {} is no string", shown(*name)));
      if (*name != kNameLabel) {
        tags.push_back({.key = *std::move(name), .value = *std::move(value)});
      } else if (has_metric) {
        return illegal("\"metric\" has two labels __name__");
      } else {
        metric = *std::move(value);
        has_metric = true;
      }
      more = cursor.take(',');
      if (!more && !cursor.take('}')) return illegal("\"metric\": labels have ',' between them");
    }
    if (!cursor.at_end()) return illegal("\"metric\": text behind its end");
    if (!has_metric) return illegal("\"metric\" has no label __name__");
    return free_series(std::move(metric), std::move(tags), limits_);
  }

 private:
  using Wrong = std::optional<std::string>;

  static std::optional<std::string> take_text(JsonCursor& cursor) {
    std::string_view inner;
    if (!cursor.take_string(inner)) return std::nullopt;
    return unescape_json(inner);
  }

  Wrong take_line(JsonCursor& cursor) {
    if (!cursor.take('{')) return cursor.wrong("the line is no JSON object");
    do {
      std::string_view name;
      if (!cursor.take_string(name) || !cursor.take(':')) {
        return cursor.wrong("the object needs \"name\":");
      }
      if (auto wrong = take_member(cursor, name)) return wrong;
    } while (cursor.take(','));
    if (!cursor.take('}')) return cursor.wrong("the object needs ',' or '}'");
    if (!cursor.at_end()) return cursor.wrong("text behind the object");
    return std::nullopt;
  }

  Wrong take_member(JsonCursor& cursor, std::string_view name) {
    if (name == "values") return take_values(cursor);
    if (name == "timestamps") return take_times(cursor);
    std::string_view value;
    if (!cursor.take_any(value)) {
      return cursor.wrong(fmt::format("{} has no complete value", shown(name)));
    }
    if (name == "metric") object_ = value;
    return std::nullopt;
  }

  Wrong take_values(JsonCursor& cursor) {
    values_.clear();
    if (!cursor.take('[')) return cursor.wrong("\"values\" is no array");
    if (cursor.take(']')) return std::nullopt;
    while (true) {
      double real = 0;
      const char* const from = cursor.at();
      const char* const stop = scan_double(from, cursor.end(), real);
      if (stop != nullptr && stop != cursor.end() && (*stop == ',' || *stop == ']')) [[likely]] {
        values_.push_back(double_bits(real));
        cursor.set(stop + 1);
        if (*stop == ']') return std::nullopt;
        continue;
      }
      const std::string_view text = cursor.take_element();
      const auto value = read_element(text);
      if (!value) return cursor.wrong(fmt::format("{} is no value", shown(text)), from);
      values_.push_back(*value);
      if (cursor.take(']')) return std::nullopt;
      if (!cursor.take(',')) return cursor.wrong("\"values\" has no end");
    }
  }

  Wrong take_times(JsonCursor& cursor) {
    times_.clear();
    if (!cursor.take('[')) return cursor.wrong("\"timestamps\" is no array");
    if (cursor.take(']')) return std::nullopt;
    while (true) {
      constexpr std::ptrdiff_t kDigitsMax = 18;
      const char* const from = cursor.at();
      const char* stop = from;
      std::int64_t count = 0;
      for (; stop != cursor.end() && is_digit(*stop) && stop - from < kDigitsMax; ++stop) {
        count = count * 10 + (*stop - '0');
      }
      if (stop == from || stop == cursor.end() || (*stop != ',' && *stop != ']')) {
        const auto read = read_count(cursor.take_element());
        if (!read) return cursor.wrong(read.error(), from);
        count = *read;
        stop = cursor.at();
        if (stop == cursor.end()) return cursor.wrong("\"timestamps\" has no end");
      }
      const auto time = time_in(count, TimeUnit::kMilliseconds);
      if (!time) return cursor.wrong(time.error(), from);
      times_.push_back(*time);
      cursor.set(stop + 1);
      if (*stop == ']') return std::nullopt;
    }
  }

  const IngestLimits limits_;
  // The current line.
  std::string_view object_;
  std::vector<ValueBits> values_;
  std::vector<TimestampMs> times_;
};

class VmJsonWriter final : public PointWriter {
 public:
  VmJsonWriter(std::size_t points_max, bool nulls) : points_max_(points_max), nulls_(nulls) {}

  std::expected<void, Unwritable> series(const SeriesName& name, std::string& to) override {
    finish(to);
    series_ = "{\"metric\":{\"__name__\":";
    append_json_string(series_, name.metric);
    for (const Tag& tag : name.tags) {
      series_ += ',';
      append_json_string(series_, tag.key);
      series_ += ':';
      append_json_string(series_, tag.value);
    }
    series_ += "},\"values\":[";
    return {};
  }

  std::expected<void, Unwritable> point(PointBits point, std::string& to) override {
    const bool null = nulls_ && (point.flags & kFloat) != 0 && point.value == kStaleMarker;
    if (auto wrong = nan_without_text(point); wrong && !null) {
      return std::unexpected(*std::move(wrong));
    }
    if (!time_in(point.time, TimeUnit::kMilliseconds)) {
      return std::unexpected(fmt::format("vmjson has no way to write {} ms", point.time));
    }
    if (points_ == points_max_) finish(to);
    if (points_++ > 0) {
      values_ += ',';
      times_ += ',';
    }
    if (null) {
      values_ += "null";
    } else {
      append_value(values_, point, false, kJsonNumbers);
    }
    append_integer(times_, point.time);
    return {};
  }

  void finish(std::string& to) override {
    if (points_ == 0) return;
    to += series_;
    to += values_;
    to += "],\"timestamps\":[";
    to += times_;
    to += "]}\n";
    values_.clear();
    times_.clear();
    points_ = 0;
  }

 private:
  const std::size_t points_max_;
  const bool nulls_;
  std::string series_;  // the beginning of each of its lines
  std::string values_;
  std::string times_;
  std::size_t points_ = 0;
};

}  // namespace

std::unique_ptr<PointParser> make_vm_json_parser(const PointRules& rules) {
  return std::make_unique<VmJsonParser>(rules);
}

std::unique_ptr<PointWriter> make_vm_json_writer(const FormatOptions& options) {
  return std::make_unique<VmJsonWriter>(options.vm_json_points_max, options.vm_json_nulls);
}

}  // namespace halite::ingest
