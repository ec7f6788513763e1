#include "ingest/formats/influx_lines.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/read_number.h"
#include "ingest/formats/names.h"
#include "ingest/formats/number_text.h"
#include "ingest/formats/shown.h"
#include "ingest/telnet/line_words.h"

namespace halite::ingest {
namespace {

const char* find_byte(const char* at, const char* end, char byte) {
  const void* const found = std::memchr(at, byte, static_cast<std::size_t>(end - at));
  return found == nullptr ? end : static_cast<const char*>(found);
}

// The first byte of `any` without a backslash directly before it, whatever is before that; the end
// if there is none.
const char* find_bare(const char* at, const char* end, std::string_view any) {
  const char* const begin = at;
  while (at != end && (!any.contains(*at) || (at != begin && at[-1] == '\\'))) ++at;
  return at;
}

// Removes the backslashes before characters of `escaped`; others stay.
std::string unescaped(std::string_view text, std::string_view escaped) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && escaped.contains(text[i + 1])) ++i;
    plain += text[i];
  }
  return plain;
}

void append_escaped(std::string& to, std::string_view text, std::string_view escaped) {
  for (const char byte : text) {
    if (escaped.contains(byte)) to += '\\';
    to += byte;
  }
}

constexpr std::string_view kInMeasurement = ", ";
constexpr std::string_view kReadInMeasurement = ", =";  // which InfluxDB reads, too
constexpr std::string_view kInTag = ", =";
constexpr std::string_view kDatabaseTag = ",db=";

// `text` is measurement,k=v,k=v.
std::expected<SeriesName, Refused> series_of(std::string_view text, std::string_view field,
                                             const FormatOptions& options,
                                             const IngestLimits& limits) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const char* stop = find_bare(at, end, ",");
  std::string metric = unescaped({at, stop}, kReadInMeasurement);
  if (metric.empty()) return illegal("the measurement is empty");
  if (const std::string name = unescaped(field, kInTag); name != options.influx_value_field) {
    metric += options.influx_separator;
    metric += name;
  }
  if (auto wrong = name_fault("metric", metric, limits)) return illegal(*std::move(wrong));
  std::vector<Tag> tags;
  for (at = stop; at != end; at = stop) {
    ++at;
    const auto column = at - text.data() + 1;
    stop = find_bare(at, end, ",");
    const char* const equals = find_bare(at, stop, "=");
    if (equals == stop || equals == at) {
      return illegal(fmt::format("the tag {} at byte {} of the series has no {}", shown({at, stop}),
                                 column, equals == stop ? "'='" : "key"));
    }
    if (find_bare(equals + 1, stop, "=") != stop) {
      return illegal(fmt::format("the tag {} at byte {} of the series has a second '='",
                                 shown({at, stop}), column));
    }
    tags.push_back(
        {.key = unescaped({at, equals}, kInTag), .value = unescaped({equals + 1, stop}, kInTag)});
  }
  return free_series(std::move(metric), std::move(tags), limits);
}

// Reads one line: the series' text, its numeric fields, and the time.
class InfluxParser final : public PointParser {
 public:
  InfluxParser(const FormatOptions& options, const PointRules& rules)
      : options_(options),
        limits_(rules.limits()),
        plain_mapping_(options.influx_separator == kInfluxSeparator &&
                       options.influx_value_field == kInfluxValueField) {
    if (options.influx_database.empty()) return;
    database_tag_ = kDatabaseTag;
    append_escaped(database_tag_, options.influx_database, kInTag);
  }

  void line(std::string_view line, PointReceiver& to) override {
    line = without_return(line);
    const std::size_t blanks = line.find_first_not_of(" \t");
    if (blanks == std::string_view::npos) return;
    if (line[blanks] == '#') {
      take_comment(line.substr(blanks));
      return;
    }
    if (in_statements_) {
      to.skip("a statement of an InfluxDB export");
      return;
    }
    begin_ = line.data();
    at_ = begin_ + blanks;
    end_ = begin_ + line.size();
    fields_.clear();
    strings_ = 0;
    if (auto wrong = take_line()) {
      to.refuse(*std::move(wrong));
      return;
    }
    for (; strings_ > 0; --strings_) to.skip("a string");
    pass_on(to);
  }

  [[nodiscard]] std::expected<SeriesName, Refused> series_name(
      const SeriesKey& key) const override {
    if (key.grammar == KeyGrammar::kNames) {
      return free_series(std::string(key.metric), tags_of_names(key.tags), limits_);
    }
    return series_of(key.tags, key.metric, options_, limits_);
  }

 private:
  struct Field {
    std::string_view key;
    ValueBits value = 0;
    bool is_float = false;
  };
  using Wrong = std::optional<std::string>;

  // influx_inspect's exports begin with statements, which are no comments.
  void take_comment(std::string_view comment) {
    if (comment.starts_with("# DDL")) in_statements_ = true;
    if (comment.starts_with("# DML")) in_statements_ = false;
  }

  [[nodiscard]] std::string at_column(std::string_view what, const char* at) const {
    return fmt::format("column {}: {}", at - begin_ + 1, what);
  }

  Wrong take_line() {
    const char* const series = at_;
    at_ = find_byte(at_, end_, ' ');
    if (find_byte(series, at_, '\\') != at_) at_ = find_bare(series, end_, " ");
    series_ = {series, at_};
    if (series_.starts_with(',')) return at_column("the measurement is empty", series);
    if (!database_tag_.empty()) add_database();
    skip_blanks();
    if (at_ == end_) return at_column("the line has no field", at_);
    while (true) {
      if (auto wrong = take_field()) return wrong;
      if (at_ == end_ || *at_ == ' ') break;
      if (*at_ != ',') return at_column("after a value comes ',' or a blank", at_);
      ++at_;
    }
    return take_time();
  }

  // A series that has the tag keeps its own, unless that is empty.
  void add_database() {
    for (std::size_t at = 0; (at = series_.find(kDatabaseTag, at)) != std::string_view::npos;
         ++at) {
      const std::size_t value = at + kDatabaseTag.size();
      const bool is_empty = value == series_.size() || series_[value] == ',';
      if (series_[at - 1] != '\\' && !is_empty) return;
    }
    with_database_.assign(series_).append(database_tag_);
    series_ = with_database_;
  }

  void skip_blanks() {
    while (at_ != end_ && *at_ == ' ') ++at_;
  }

  Wrong take_field() {
    const char* const key = at_;
    at_ = find_bare(at_, end_, "=, ");
    if (at_ == end_ || *at_ != '=') return at_column("a field without '='", key);
    if (at_ == key) return at_column("a field without a key", key);
    const std::string_view name(key, at_);
    ++at_;
    if (at_ != end_ && *at_ == '"') return take_string();
    Field field{.key = name};
    double real = 0;
    const char* const value = at_;
    const char* stop = scan_double(at_, end_, real);
    if (stop != nullptr && (stop == end_ || *stop == ',' || *stop == ' ')) {
      field.value = double_bits(real);
      field.is_float = true;
      at_ = stop;
    } else {
      stop = std::find_if(at_, end_, [](char c) { return c == ',' || c == ' '; });
      if (stop == at_) return at_column("a field without a value", key);
      at_ = stop;
      if (!read_value({value, stop}, field)) {
        return at_column(shown({value, stop}) + " is no value: 1.5, 1i, 1u, true, or \"a string\"",
                         value);
      }
    }
    fields_.push_back(field);
    return std::nullopt;
  }

  Wrong take_string() {
    const char* const quote = at_;
    for (++at_; at_ != end_ && *at_ != '"'; ++at_) {
      if (*at_ == '\\' && at_ + 1 != end_) ++at_;
    }
    if (at_ == end_) return at_column("the string does not end in its line", quote);
    ++at_;
    ++strings_;
    return std::nullopt;
  }

  static bool read_value(std::string_view text, Field& field) {
    field.is_float = false;
    const std::string_view digits = text.substr(0, text.size() - 1);
    if (text.ends_with('i')) {
      std::int64_t integer = 0;
      if (!read_number(digits, integer)) return false;
      field.value = integer_bits(integer);
      return true;
    }
    if (text.ends_with('u')) {
      std::uint64_t integer = 0;
      if (!read_number(digits, integer)) return false;
      field.is_float = integer > static_cast<std::uint64_t>(INT64_MAX);
      field.value = field.is_float ? double_bits(static_cast<double>(integer)) : integer;
      return true;
    }
    field.is_float = true;
    double real = 0;
    if (text == "t" || text == "T" || text == "true" || text == "True" || text == "TRUE") {
      real = 1;
    } else if (text != "f" && text != "F" && text != "false" && text != "False" &&
               text != "FALSE") {
      if (text.starts_with('+') || !read_double(text, real)) return false;
    }
    field.value = double_bits(real);
    return true;
  }

  Wrong take_time() {
    skip_blanks();
    const char* const time = at_;
    if (at_ == end_) {
      if (!options_.default_time) return at_column("the line has no time", at_);
      time_ = *options_.default_time;
      return std::nullopt;
    }
    const char* stop = end_;
    while (stop[-1] == ' ') --stop;
    constexpr std::ptrdiff_t kDigitsMax = 19;  // fit into 64 bits, not always with a sign
    std::uint64_t digits = 0;
    if (stop - time <= kDigitsMax) {
      for (; at_ != stop && is_digit(*at_); ++at_) {
        digits = digits * 10 + static_cast<std::uint64_t>(*at_ - '0');
      }
    }
    auto count = static_cast<std::int64_t>(digits);
    if (at_ != stop || count < 0) {
      const auto read = read_count({time, stop});
      if (!read) return at_column(read.error(), time);
      count = *read;
    }
    const auto taken = time_in(count, options_.influx_precision);
    if (!taken) return at_column(taken.error(), time);
    time_ = *taken;
    return std::nullopt;
  }

  void pass_on(PointReceiver& to) {
    // What many fields share is refused once, unless it is that of the likely series.
    if (fields_.size() > 1 && to.likely_series().tags != series_) {
      if (auto wrong = refuse_series()) return to.refuse(*std::move(wrong));
    }
    for (const Field& field : fields_) {
      if (plain_mapping_) {
        to.series({.grammar = KeyGrammar::kInflux, .metric = field.key, .tags = series_});
      } else if (const auto name = series_of(series_, field.key, options_, limits_)) {
        names_.set(*name);
        to.series(names_.key());
      } else {
        to.refuse(name.error().text);
        continue;
      }
      to.point(field.is_float ? double_point(time_, field.value)
                              : integer_point(time_, as_integer(field.value)));
    }
  }

  // Why no field of the series is stored.
  [[nodiscard]] Wrong refuse_series() const {
    if (series_.size() > limits_.series_bytes_max()) {
      return names_too_long(series_.size(), limits_);
    }
    auto name = series_of(series_, options_.influx_value_field, options_, limits_);
    return name ? std::nullopt : Wrong(std::move(name).error().text);
  }

  const FormatOptions options_;
  const IngestLimits limits_;
  const bool plain_mapping_;  // the one of KeyGrammar::kInflux
  std::string database_tag_;  // ",db=mydb"
  bool in_statements_ = false;
  NamesKey names_;
  std::string with_database_;
  // The current line.
  const char* begin_ = nullptr;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  std::string_view series_;
  std::vector<Field> fields_;
  std::size_t strings_ = 0;
  TimestampMs time_ = 0;
};

class InfluxWriter final : public PointWriter {
 public:
  explicit InfluxWriter(const FormatOptions& options) : options_(options) {}

  std::expected<void, Unwritable> series(const SeriesName& name, std::string& /*to*/) override {
    if (options_.influx_value_field.empty()) {
      return std::unexpected("influx needs a field that names the measurement alone");
    }
    series_.clear();
    append_escaped(series_, name.metric, kInMeasurement);
    for (const Tag& tag : name.tags) {
      series_ += ',';
      append_escaped(series_, tag.key, kInTag);
      series_ += '=';
      append_escaped(series_, tag.value, kInTag);
    }
    series_ += ' ';
    append_escaped(series_, options_.influx_value_field, kInTag);
    series_ += '=';
    return {};
  }

  std::expected<void, Unwritable> point(PointBits point, std::string& to) override {
    const bool is_float = (point.flags & kFloat) != 0;
    if (is_float && !std::isfinite(as_double(point.value))) {
      return std::unexpected("influx has neither NaN nor infinity");
    }
    std::int64_t count = 0;
    if (__builtin_mul_overflow(point.time, std::int64_t{1'000'000}, &count) ||
        time_in(count, TimeUnit::kNanoseconds) != point.time) {
      return std::unexpected(fmt::format("influx has no way to write {} ms", point.time));
    }
    to += series_;
    append_value(to, point, false, {});
    to += is_float ? " " : "i ";
    append_integer(to, count);
    to += '\n';
    return {};
  }

 private:
  const FormatOptions options_;
  std::string series_;
};

}  // namespace

std::unique_ptr<PointParser> make_influx_parser(const FormatOptions& options,
                                                const PointRules& rules) {
  return std::make_unique<InfluxParser>(options, rules);
}

std::unique_ptr<PointWriter> make_influx_writer(const FormatOptions& options) {
  return std::make_unique<InfluxWriter>(options);
}

}  // namespace halite::ingest
