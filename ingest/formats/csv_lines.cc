// Over 400 lines because one look at headers, times and values serves the parser and the writer.
#include "ingest/formats/csv_lines.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/bytes/read_number.h"
#include "ingest/formats/lines.h"
#include "ingest/formats/names.h"
#include "ingest/formats/number_text.h"
#include "ingest/formats/shown.h"
#include "ingest/telnet/line_words.h"

namespace halite::ingest {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);
constexpr std::array<std::string_view, 3> kFixed = {"metric", "time", "value"};
constexpr SpecialNumbers kCsvNumbers = {
    .nan = "NaN", .infinity = "Infinity", .minus_infinity = "-Infinity"};

// Whether two fields are names of fixed columns, also with other cases, blanks or quotes: no one
// means such a line as a point, even if it is wrong as a header.
bool names_columns(std::string_view line) {
  std::size_t found = 0;
  for (bool more = true; more && found < 2;) {
    const std::size_t comma = line.find(',');
    more = comma != std::string_view::npos;
    const std::string_view padded = line.substr(0, comma);
    line.remove_prefix(more ? comma + 1 : line.size());
    const std::size_t begin = std::min(padded.find_first_not_of(" \t\""), padded.size());
    const std::size_t end = padded.find_last_not_of(" \t\"") + 1;
    const std::string_view name = padded.substr(begin, std::max(begin, end) - begin);
    const auto is_name = [name](std::string_view fixed) {
      return equal_ignoring_case(name, fixed);
    };
    if (std::ranges::any_of(kFixed, is_name)) ++found;
  }
  return found == 2;
}

// What the columns mean.
struct Columns {
  std::array<std::size_t, 3> at = {kNone, kNone, kNone};  // of kFixed
  std::vector<std::string> names;

  [[nodiscard]] bool known() const { return !names.empty(); }
  [[nodiscard]] bool is_tag(std::size_t column) const {
    return std::ranges::find(at, column) == at.end();
  }
};

// The columns of names, or what is wrong with them.
template <class Names>
std::expected<Columns, std::string> columns_of(const Names& names, bool time_needed) {
  Columns columns;
  std::vector<std::string_view> tags;
  for (const std::string_view name : names) {
    const auto fixed = std::ranges::find(kFixed, name);
    const auto index = static_cast<std::size_t>(fixed - kFixed.begin());
    if (fixed != kFixed.end() && columns.at[index] == kNone) {
      columns.at[index] = columns.names.size();
    } else {
      if (name.empty()) return std::unexpected("the header has a column without a name");
      if (name.contains('\r')) {
        return std::unexpected(
            "the header has a carriage return inside: lines must end with a line feed");
      }
      if (std::ranges::find(tags, name) != tags.end()) {
        return std::unexpected(fmt::format("the header has two columns {}", shown(name)));
      }
      tags.push_back(name);
    }
    columns.names.emplace_back(name);
  }
  for (std::size_t i = 0; i < kFixed.size(); ++i) {
    if (columns.at[i] != kNone || (kFixed[i] == "time" && !time_needed)) continue;
    return std::unexpected(fmt::format(
        "the header has no column {}: it names metric, time, value and tag keys", kFixed[i]));
  }
  return columns;
}

std::expected<TimestampMs, std::string> read_time(std::string_view text) {
  constexpr std::size_t kDigitsMax = 13;
  if (text.size() <= kDigitsMax && !text.empty() && count_digits(text) == text.size()) {
    std::int64_t count = 0;
    for (const char digit : text) count = count * 10 + (digit - '0');
    return count < kSurelyMillis ? count * 1000 : count;
  }
  constexpr std::size_t kDateBytesMin = 20;
  if (text.contains('.') && text.find_first_not_of("0123456789.") == std::string_view::npos) {
    return read_seconds(text);
  }
  if (text.size() >= kDateBytesMin && text.find_first_of(":") != std::string_view::npos) {
    const auto time = read_rfc3339(text);
    if (!time) return std::unexpected(fmt::format("{} is not a time of RFC 3339", shown(text)));
    if (*time < 0) return std::unexpected(fmt::format("the time {} is before 1970", shown(text)));
    if (*time <= kTimestampMax) return *time;
    return std::unexpected(
        fmt::format("the time {} is more than {} ms", shown(text), kTimestampMax));
  }
  const auto count = read_count(text);
  if (!count) return std::unexpected(count.error());
  if (*count >= 0 && *count < kSurelyMillis) return *count * 1000;
  return time_in(*count, TimeUnit::kMilliseconds);
}

void append_time(std::string& to, TimestampMs time) {
  const bool whole = time % 1000 == 0 && time / 1000 < kSurelyMillis;
  if (whole || time >= kSurelyMillis) {
    append_integer(to, whole ? time / 1000 : time);
    return;
  }
  const std::chrono::sys_time<std::chrono::milliseconds> at{std::chrono::milliseconds(time)};
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(at - day);
  fmt::format_to(std::back_inserter(to), "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
                 static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                 static_cast<unsigned>(date.day()), clock.hours().count(), clock.minutes().count(),
                 clock.seconds().count(), clock.subseconds().count());
}

// An integer by its look: digits with a sign, neither point nor exponent.
bool is_integer_text(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  return !digits.empty() && count_digits(digits) == digits.size();
}

std::optional<PointBits> read_value(std::string_view text, TimestampMs time) {
  if (is_integer_text(text)) {
    std::int64_t integer = 0;
    if (!read_number(text, integer)) return std::nullopt;
    return integer_point(time, integer);
  }
  double real = 0;
  const char* const end = text.data() + text.size();
  if (scan_double(text.data(), end, real) == end && !text.empty()) {
    return double_point(time, double_bits(real));
  }
  const auto bits = read_go_double(text);
  return bits ? std::optional(double_point(time, *bits)) : std::nullopt;
}

class CsvParser final : public PointParser {
 public:
  CsvParser(const FormatOptions& options, const PointRules& rules)
      : limits_(rules.limits()), default_time_(options.default_time), given_(options.csv_columns) {}

  void line(std::string_view line, PointReceiver& to) override {
    line = without_mark(without_return(line));  // joined files have marks inside
    if (std::exchange(first_, false) && !given_.empty()) take_header(given_, to);
    if (line.empty() || take_row_of_last_series(line, to)) return;
    if (auto wrong = split(line)) {
      to.refuse(*std::move(wrong));
    } else if (is_header(line)) {
      take_header(fields_, to);
    } else if (!columns_.known()) {
      to.refuse("no header with the columns metric, time and value is before this line");
    } else {
      take_row(line, to);
    }
  }

  void begin_behind(std::string_view header) override {
    first_ = false;
    if (!split(without_return(header))) take_columns(fields_);
  }

  [[nodiscard]] std::expected<SeriesName, Refused> series_name(
      const SeriesKey& key) const override {
    return free_series(std::string(key.metric), tags_of_names(key.tags), limits_);
  }

  // The last line that line() would take for a header, good or not; empty: there is none.
  std::string_view last_header(std::string_view lines) {
    if (std::exchange(first_, false) && !given_.empty()) take_columns(given_);
    std::string_view found;
    while (!lines.empty()) {
      const std::string_view line = without_mark(without_return(take_line(lines)));
      if (!names_columns(line) || split(line) || !is_header(line)) continue;
      take_columns(fields_);
      found = line;
    }
    return found;
  }

 private:
  using Wrong = std::optional<std::string>;

  // Into fields_. Fields without quotes are parts of the line, others of unquoted_.
  Wrong split(std::string_view line) {
    fields_.clear();
    unquoted_.clear();
    unquoted_.reserve(line.size());
    // It ends the names of a key.
    if (const std::size_t zero = line.find('\0'); zero != std::string_view::npos) {
      return fmt::format("column {}: a zero byte", zero + 1);
    }
    for (std::size_t at = 0;; ++at) {
      if (at < line.size() && line[at] == '"') {
        const std::size_t quote = at;
        const std::size_t from = unquoted_.size();
        for (++at;; ++at) {
          const std::size_t end = line.find('"', at);
          if (end == std::string_view::npos) {
            return fmt::format("column {}: the quotes do not end in their line", quote + 1);
          }
          unquoted_ += line.substr(at, end - at);
          at = end + 1;
          if (at == line.size() || line[at] != '"') break;
          unquoted_ += '"';
        }
        fields_.push_back(std::string_view(unquoted_).substr(from));
        if (at < line.size() && line[at] != ',') {
          return fmt::format("column {}: after a quoted field comes ','", at + 1);
        }
      } else {
        const std::size_t end = std::min(line.find(',', at), line.size());
        const std::string_view field = line.substr(at, end - at);
        if (const std::size_t quote = field.find('"'); quote != std::string_view::npos) {
          return fmt::format("column {}: a quote inside of a field without quotes", at + quote + 1);
        }
        fields_.push_back(field);
        at = end;
      }
      if (at >= line.size()) return std::nullopt;
    }
  }

  // True for a line, split into fields_, that names columns and cannot be a point: that has no
  // number in the column of the value.
  [[nodiscard]] bool is_header(std::string_view line) const {
    if (!names_columns(line)) return false;
    if (!columns_.known()) return true;
    const std::size_t value = columns_.at.back();
    return value >= fields_.size() || !read_value(fields_[value], 0);
  }

  // Rows of a series often follow each other: then only time and value are read. False: the line
  // needs the general parser.
  bool take_row_of_last_series(std::string_view line, PointReceiver& to) {
    if (last_tags_.empty() || !line.starts_with(last_metric_) || !line.ends_with(last_tags_)) {
      return false;
    }
    if (line.size() < last_metric_.size() + last_tags_.size()) return false;
    line.remove_prefix(last_metric_.size());
    line.remove_suffix(last_tags_.size());
    const std::size_t comma = line.find(',');
    if (comma == std::string_view::npos) return false;
    const auto time = read_time(line.substr(0, comma));
    const auto point = time ? read_value(line.substr(comma + 1), *time) : std::nullopt;
    if (!point) return false;
    to.series(names_.key());
    to.point(*point);
    return true;
  }

  // Keeps what take_row_of_last_series() compares, of a line that was taken.
  void keep_series(std::string_view line) {
    last_tags_.clear();
    constexpr std::array<std::size_t, 3> kUsual = {0, 1, 2};
    if (columns_.at != kUsual || fields_.size() == kFixed.size() || line.contains('"')) return;
    last_metric_ = line.substr(0, fields_[0].size() + 1);
    last_tags_ = line.substr(static_cast<std::size_t>(fields_[3].data() - 1 - line.data()));
  }

  // Returns what is wrong with them; then no columns are known.
  template <class Names>
  Wrong take_columns(const Names& names) {
    last_tags_.clear();
    auto columns = columns_of(names, !default_time_);
    columns_ = columns ? *std::move(columns) : Columns();
    return columns ? std::nullopt : Wrong(std::move(columns).error());
  }

  template <class Names>
  void take_header(const Names& names, PointReceiver& to) {
    if (auto wrong = take_columns(names)) to.refuse(*std::move(wrong));
  }

  void take_row(std::string_view line, PointReceiver& to) {
    if (fields_.size() != columns_.names.size()) {
      to.refuse(fmt::format("the line has {} fields, the header {} columns", fields_.size(),
                            columns_.names.size()));
      return;
    }
    TimestampMs time = 0;
    const std::string_view time_text =
        columns_.at[1] == kNone ? std::string_view() : fields_[columns_.at[1]];
    if (!time_text.empty()) {
      const auto read = read_time(time_text);
      if (!read) {
        to.refuse(fmt::format("field {}: {}", columns_.at[1] + 1, read.error()));
        return;
      }
      time = *read;
    } else if (default_time_) {
      time = *default_time_;
    } else {
      to.refuse("the line has no time");
      return;
    }
    const std::string_view value_text = fields_[columns_.at[2]];
    const auto point = read_value(value_text, time);
    if (!point) {
      to.refuse(fmt::format("field {}: {} {}", columns_.at[2] + 1, shown(value_text),
                            is_integer_text(value_text) ? "has more than 64 bits" : "is no value"));
      return;
    }
    names_.begin(fields_[columns_.at[0]]);
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (!fields_[i].empty() && columns_.is_tag(i)) names_.add(columns_.names[i], fields_[i]);
    }
    to.series(names_.key());
    to.point(*point);
    keep_series(line);
  }

  const IngestLimits limits_;
  const std::optional<TimestampMs> default_time_;
  const std::vector<std::string> given_;
  bool first_ = true;
  Columns columns_;
  NamesKey names_;
  // Of the last line, if it has tags and no quotes: the metric and its ',', the tags and the ','
  // before them.
  std::string last_metric_;
  std::string last_tags_;
  // The current line.
  std::vector<std::string_view> fields_;
  std::string unquoted_;
};

void append_field(std::string& to, std::string_view field) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
    to += field;
    return;
  }
  to += '"';
  for (const char c : field) {
    if (c == '"') to += '"';
    to += c;
  }
  to += '"';
}

class CsvWriter final : public PointWriter {
 public:
  explicit CsvWriter(const FormatOptions& options) : columns_(options.csv_columns) {}

  void header(std::string& to) override {
    if (!columns_.empty()) write_header(to);
  }

  std::expected<void, Unwritable> series(const SeriesName& name, std::string& to) override {
    const auto has_column = [&](const Tag& tag) {
      return std::ranges::find(tag_columns(), tag.key) != tag_columns().end();
    };
    if (columns_.empty() || !std::ranges::all_of(name.tags, has_column)) {
      columns_.assign(kFixed.begin(), kFixed.end());
      for (const Tag& tag : name.tags) columns_.push_back(tag.key);
      write_header(to);
    }
    metric_.clear();
    append_field(metric_, name.metric);
    tags_.clear();
    for (const std::string& key : tag_columns()) {
      tags_ += ',';
      const auto tag = std::ranges::find(name.tags, key, &Tag::key);
      if (tag != name.tags.end()) append_field(tags_, tag->value);
    }
    tags_ += '\n';
    return {};
  }

  std::expected<void, Unwritable> point(PointBits point, std::string& to) override {
    if (auto wrong = nan_without_text(point)) return std::unexpected(*std::move(wrong));
    if (point.time < 0 || point.time > kTimestampMax) {
      return std::unexpected(fmt::format("csv has no way to write {} ms", point.time));
    }
    to += metric_;
    to += ',';
    append_time(to, point.time);
    to += ',';
    append_value(to, point, true, kCsvNumbers);
    to += tags_;
    return {};
  }

 private:
  [[nodiscard]] std::span<const std::string> tag_columns() const {
    return std::span(columns_).subspan(std::min(kFixed.size(), columns_.size()));
  }

  void write_header(std::string& to) const {
    std::string_view comma;
    for (const std::string& column : columns_) {
      to += std::exchange(comma, ",");
      append_field(to, column);
    }
    to += '\n';
  }

  std::vector<std::string> columns_;
  std::string metric_;
  std::string tags_;
};

}  // namespace

std::unique_ptr<PointParser> make_csv_parser(const FormatOptions& options,
                                             const PointRules& rules) {
  return std::make_unique<CsvParser>(options, rules);
}

std::string csv_header_behind(const FormatOptions& options, std::string_view header,
                              std::string_view lines) {
  CsvParser parser(options, PointRules({}, ""));
  if (!header.empty()) parser.begin_behind(header);
  const std::string_view last = parser.last_header(lines);
  return std::string(last.empty() ? header : last);
}

std::unique_ptr<PointWriter> make_csv_writer(const FormatOptions& options) {
  return std::make_unique<CsvWriter>(options);
}

}  // namespace halite::ingest
