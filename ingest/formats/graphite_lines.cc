#include "ingest/formats/graphite_lines.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "ingest/formats/graphite_numbers.h"
#include "ingest/formats/graphite_path.h"
#include "ingest/formats/number_text.h"

namespace halite::ingest {
namespace {

constexpr SpecialNumbers kGraphiteNumbers = {
    .nan = "nan", .infinity = "inf", .minus_infinity = "-inf"};

constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

const char* skip_spaces(const char* at, const char* end) {
  while (at != end && is_space(*at)) ++at;
  return at;
}

const char* word_end(const char* at, const char* end) { return std::find_if(at, end, is_space); }

// The same for paths, which are longer: blanks usually end them.
const char* path_end(const char* at, const char* end) {
  const void* const blank = std::memchr(at, ' ', static_cast<std::size_t>(end - at));
  const char* const stop = blank == nullptr ? end : static_cast<const char*>(blank);
  bool others = false;
  for (const char* byte = at; byte != stop; ++byte) {
    others |= static_cast<unsigned char>(*byte - '\t') <= '\r' - '\t';
  }
  return others ? word_end(at, stop) : stop;
}

class GraphiteParser final : public PointParser {
 public:
  GraphiteParser(const FormatOptions& options, const PointRules& rules)
      : default_time_(options.default_time), path_(options.graphite_templates, rules.limits()) {}

  void line(std::string_view line, PointReceiver& to) override {
    begin_ = line.data();
    const char* const end = begin_ + line.size();
    const char* const path = skip_spaces(begin_, end);
    if (path == end) return;
    const char* const path_stop = path_end(path, end);
    const char* const value = skip_spaces(path_stop, end);
    double real = 0;
    const char* value_stop = scan_double(value, end, real);
    ValueBits bits = double_bits(real);
    const bool usual = value_stop != nullptr && value_stop != end && is_space(*value_stop);
    if (!usual) {
      value_stop = word_end(value, end);
      if (value == value_stop) {
        return to.refuse(at_column("the line has no value", value));
      }
    }
    const char* const time = skip_spaces(value_stop, end);
    const char* const time_stop = word_end(time, end);
    if (time == time_stop) return to.refuse(at_column("the line has no time", time));
    if (const char* const more = skip_spaces(time_stop, end); more != end) {
      return to.refuse(at_column("a line has three words: path, value and time", more));
    }
    if (!usual) {
      const auto read = read_graphite_value({value, value_stop});
      if (!read) return to.refuse(at_column(read.error(), value));
      bits = *read;
    }
    const auto taken = read_graphite_time({time, time_stop}, default_time_);
    if (!taken) return to.refuse(at_column(taken.error(), time));
    if (path_.is_path_of(to.likely_series(), {path, path_stop})) {
      to.take_likely_series();
    } else {
      const auto key = path_.key({path, path_stop});
      if (!key) return to.refuse(at_column(key.error(), path));
      to.series(*key);
    }
    to.point(double_point(*taken, bits));
  }

  [[nodiscard]] std::expected<SeriesName, Refused> series_name(
      const SeriesKey& key) const override {
    return path_.series_name(key);
  }

 private:
  [[nodiscard]] std::string at_column(std::string_view what, const char* at) const {
    return fmt::format("column {}: {}", at - begin_ + 1, what);
  }

  const std::optional<TimestampMs> default_time_;
  GraphitePath path_;
  const char* begin_ = nullptr;  // of the current line
};

class GraphiteWriter final : public PointWriter {
 public:
  std::expected<void, Unwritable> series(const SeriesName& name, std::string& /*to*/) override {
    series_.clear();
    append_graphite_path(series_, name);
    series_ += ' ';
    return {};
  }

  std::expected<void, Unwritable> point(PointBits point, std::string& to) override {
    if (const auto wrong = graphite_nan(point.value); wrong && (point.flags & kFloat) != 0) {
      return std::unexpected(*wrong);
    }
    if (point.time < 0 || !time_in(point.time / 1000, TimeUnit::kSeconds)) {
      return std::unexpected(fmt::format("graphite has no way to write {} ms", point.time));
    }
    to += series_;
    append_value(to, point, false, kGraphiteNumbers);
    to += ' ';
    append_integer(to, point.time / 1000);
    if (point.time % 1000 != 0) {
      fmt::format_to(std::back_inserter(to), ".{:03}", point.time % 1000);
    }
    to += '\n';
    return {};
  }

 private:
  std::string series_;
};

}  // namespace

std::unique_ptr<PointParser> make_graphite_parser(const FormatOptions& options,
                                                  const PointRules& rules) {
  return std::make_unique<GraphiteParser>(options, rules);
}

std::unique_ptr<PointWriter> make_graphite_writer() { return std::make_unique<GraphiteWriter>(); }

}  // namespace halite::ingest
