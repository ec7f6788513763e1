#include "ingest/formats/exposition.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "ingest/formats/labels.h"
#include "ingest/formats/number_text.h"
#include "ingest/formats/shown.h"
#include "ingest/telnet/line_words.h"

namespace halite::ingest {
namespace {

constexpr std::string_view kEnd = "# EOF";
constexpr SpecialNumbers kGoNumbers = {.nan = "NaN", .infinity = "+Inf", .minus_infinity = "-Inf"};

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// A line in parts, as texts.
struct Sample {
  std::string_view name;
  std::string_view labels;  // between the braces
  std::string_view tail;    // after the braces or the name
  bool likely = false;      // of the receiver's likely series
};

class ExpositionParser final : public PointParser {
 public:
  ExpositionParser(Format format, const FormatOptions& options, const PointRules& rules)
      : format_(format),
        grammar_(format == Format::kPromDump ? KeyGrammar::kPromDump : KeyGrammar::kExposition),
        limits_(rules.limits()),
        default_time_(options.default_time) {}

  void line(std::string_view line, PointReceiver& to) override {
    line = without_return(line);
    if (ended_) {
      to.refuse("a line after # EOF");
      return;
    }
    const std::size_t blanks = line.find_first_not_of(kBlanks);
    if (blanks == std::string_view::npos) {
      if (format_ == Format::kOpenMetrics) to.refuse("openmetrics has no empty lines");
      return;
    }
    if (line[blanks] == '#') {
      ended_ = format_ == Format::kOpenMetrics && line == kEnd;
      if (format_ != Format::kPromDump) take_comment(line.substr(blanks + 1), to);
      return;
    }
    begin_ = line.data();
    line.remove_prefix(blanks);
    Sample sample;
    if (!split_likely(line, to.likely_series(), sample)) {
      if (auto wrong = split(line, sample)) {
        to.refuse(*std::move(wrong));
        return;
      }
    }
    if (format_ == Format::kPromDump && sample.tail.contains('{')) {
      to.skip("a histogram");
      return;
    }
    take_sample(sample, to);
  }

  void end(PointReceiver& to) override {
    if (format_ == Format::kOpenMetrics && !ended_) {
      to.refuse("the text does not end with # EOF: it may be cut off");
    }
  }

  [[nodiscard]] std::expected<SeriesName, Refused> series_name(
      const SeriesKey& key) const override {
    const Escapes escapes =
        key.grammar == KeyGrammar::kPromDump ? Escapes::kGo : Escapes::kExposition;
    return parse_labels(key.metric, key.tags, escapes, limits_);
  }

 private:
  using Wrong = std::optional<std::string>;

  [[nodiscard]] std::string at_column(std::string_view what, const char* at) const {
    return fmt::format("column {}: {}", at - begin_ + 1, what);
  }

  // "TYPE name counter", "HELP name A sentence.", "UNIT name seconds"; all else says nothing.
  void take_comment(std::string_view comment, PointReceiver& to) {
    const std::string_view word = take_word(comment);
    MetricMetadata about{.family = {}, .type = {}, .unit = {}, .help = {}};
    std::string plain;
    if (word == "TYPE") {
      about.family = take_word(comment);
      about.type = take_word(comment);
    } else if (word == "UNIT") {
      about.family = take_word(comment);
      about.unit = take_word(comment);
    } else if (word == "HELP") {
      about.family = take_word(comment);
      plain = unescaped_help(trim(comment));
      about.help = plain;
    }
    std::string name;  // of quotes: "na.me"
    if (about.family.size() > 1 && about.family.starts_with('"') && about.family.ends_with('"')) {
      name = unescaped_help(about.family.substr(1, about.family.size() - 2));
      about.family = name;
    }
    if (!about.family.empty()) to.metadata(about);
  }

  static std::string_view take_word(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
    text.remove_prefix(word.size());
    return word;
  }

  // Escapes: \\, \n and \".
  static std::string unescaped_help(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\\' && i + 1 < text.size()) {
        ++i;
        plain += text[i] == 'n' ? '\n' : text[i];
      } else {
        plain += text[i];
      }
    }
    return plain;
  }

  // Whether the line begins with the likely series, which must have labels. A '}' that follows is
  // that of an exemplar or a histogram, or the line is refused anyway.
  bool split_likely(std::string_view line, const SeriesKey& likely, Sample& sample) const {
    if (likely.grammar != grammar_ || likely.tags.empty()) return false;
    std::string_view rest = line;
    for (const std::string_view part : {likely.metric, {"{", 1}, likely.tags, {"}", 1}}) {
      if (!rest.starts_with(part)) return false;
      rest.remove_prefix(part.size());
    }
    sample = {.name = likely.metric, .labels = likely.tags, .tail = rest, .likely = true};
    return true;
  }

  // Labels that are well formed end at the last '}' of the line, unless one may follow them: that
  // of an exemplar or of a histogram. Whether they are well formed, series_name() finds out.
  Wrong split(std::string_view line, Sample& sample) {
    const std::size_t open = line.find('{');
    const std::string_view before = line.substr(0, open);  // short if there are labels
    const auto name_end =
        static_cast<std::size_t>(std::ranges::find_if(before, is_blank) - before.begin());
    if (open == std::string_view::npos || !trim(before.substr(name_end)).empty()) {
      sample.name = line.substr(0, name_end);
      sample.tail = line.substr(name_end);
      return std::nullopt;
    }
    sample.name = before.substr(0, name_end);
    const std::string_view behind = line.substr(open + 1);
    std::size_t end = behind.rfind('}') + 1;
    const bool others = (format_ == Format::kOpenMetrics && behind.contains('#')) ||
                        (format_ == Format::kPromDump && behind.substr(0, end).contains('{'));
    if (others) end = labels_end(behind);
    if (end == 0 || end == std::string_view::npos) {
      return at_column("the labels do not end in their line", line.data() + open);
    }
    sample.labels = behind.substr(0, end - 1);
    sample.tail = behind.substr(end);
    return std::nullopt;
  }

  void take_sample(const Sample& sample, PointReceiver& to) {
    bool exemplar = false;
    const char* at = sample.tail.data();
    const char* end = at + sample.tail.size();
    if (format_ == Format::kOpenMetrics) {
      const void* const hash = std::memchr(at, '#', sample.tail.size());
      exemplar = hash != nullptr;
      if (exemplar) {
        const std::string_view behind(static_cast<const char*>(hash) + 1, end);
        end = static_cast<const char*>(hash);
        if (end == at || !is_blank(end[-1]) || !trim(behind).starts_with('{') ||
            !behind.contains('}')) {
          to.refuse(at_column("only an exemplar may follow: # {..} value", end));
          return;
        }
      }
    }
    while (at != end && is_blank(*at)) ++at;
    const char* const value_begin = at;
    double real = 0;
    std::optional<ValueBits> value;
    const char* stop = scan_double(at, end, real);
    if (stop != nullptr && (stop == end || is_blank(*stop))) {
      value = double_bits(real);
    } else {
      stop = std::find_if(at, end, is_blank);
      value = read_go_double({at, stop});
    }
    if (!value) {
      to.refuse(stop == at ? at_column("the line has no value", at)
                           : at_column(shown({value_begin, stop}) + " is no value", value_begin));
      return;
    }
    at = stop;
    while (at != end && is_blank(*at)) ++at;
    while (end != at && is_blank(end[-1])) --end;
    const auto time = take_time({at, end});
    if (!time) {
      to.refuse(at_column(time.error(), at));
      return;
    }
    if (sample.likely) {
      to.take_likely_series();
    } else {
      to.series({.grammar = grammar_, .metric = sample.name, .tags = sample.labels});
    }
    to.point(double_point(*time, *value));
    if (exemplar) to.skip("an exemplar");
  }

  [[nodiscard]] std::expected<TimestampMs, std::string> take_time(std::string_view text) const {
    if (text.empty()) {
      if (!default_time_ || format_ == Format::kPromDump) {
        return std::unexpected("the line has no time");
      }
      return *default_time_;
    }
    if (format_ == Format::kOpenMetrics) return read_seconds(text);
    constexpr std::size_t kDigitsMax = 18;
    std::int64_t count = 0;
    if (text.size() <= kDigitsMax && count_digits(text) == text.size()) {
      for (const char digit : text) count = count * 10 + (digit - '0');
    } else {
      const auto read = read_count(text);
      if (!read) return std::unexpected(read.error());
      count = *read;
    }
    return time_in(count, TimeUnit::kMilliseconds);
  }

  const Format format_;
  const KeyGrammar grammar_;
  const IngestLimits limits_;
  const std::optional<TimestampMs> default_time_;
  bool ended_ = false;           // "# EOF" has come
  const char* begin_ = nullptr;  // of the current line
};

class ExpositionWriter final : public PointWriter {
 public:
  explicit ExpositionWriter(Format format) : format_(format) {}

  std::expected<void, Unwritable> series(const SeriesName& name, std::string& /*to*/) override {
    series_.clear();
    if (format_ == Format::kPromDump) {
      append_go_series(series_, name);
    } else {
      append_exposition_series(series_, name);
    }
    series_ += ' ';
    return {};
  }

  std::expected<void, Unwritable> point(PointBits point, std::string& to) override {
    if (auto wrong = nan_without_text(point)) return std::unexpected(*std::move(wrong));
    const bool seconds = format_ == Format::kOpenMetrics;
    const bool known = seconds ? point.time >= 0 && time_in(point.time / 1000, TimeUnit::kSeconds)
                               : time_in(point.time, TimeUnit::kMilliseconds).has_value();
    if (!known) {
      return std::unexpected(
          fmt::format("{} has no way to write {} ms", format_name(format_), point.time));
    }
    to += series_;
    append_value(to, point, false, kGoNumbers);
    to += ' ';
    append_integer(to, seconds ? point.time / 1000 : point.time);
    if (seconds) fmt::format_to(std::back_inserter(to), ".{:03}", point.time % 1000);
    to += '\n';
    return {};
  }

  void footer(std::string& to) override {
    if (format_ == Format::kOpenMetrics) {
      to += kEnd;
      to += '\n';
    }
  }

 private:
  const Format format_;
  std::string series_;
};

}  // namespace

std::unique_ptr<PointParser> make_exposition_parser(Format format, const FormatOptions& options,
                                                    const PointRules& rules) {
  return std::make_unique<ExpositionParser>(format, options, rules);
}

std::unique_ptr<PointWriter> make_exposition_writer(Format format) {
  return std::make_unique<ExpositionWriter>(format);
}

}  // namespace halite::ingest
