#include "ingest/formats/opentsdb_lines.h"

#include <cmath>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "ingest/formats/names.h"
#include "ingest/formats/number_text.h"
#include "ingest/rules/tag_map.h"
#include "ingest/telnet/put_line.h"

namespace halite::ingest {
namespace {

constexpr std::string_view kCommand = "put ";

// True for "put 1356998400 1 host=a", which names a metric "put": after the command the fourth word
// is a value.
bool is_metric_put(std::string_view line) {
  std::size_t at = 0;
  for (int word = 0; word < 3; ++word) {
    at = line.find(' ', at);
    if (at == std::string_view::npos) return false;
    ++at;
  }
  return is_digit(line[kCommand.size()]) && line.substr(at, line.find(' ', at) - at).contains('=');
}

// A hint to times in small units, which OpenTSDB has not; else nothing.
std::string unit_hint(std::string_view words) {
  const auto metric = take_word(words);
  const auto time = metric ? take_word(words) : std::nullopt;
  const auto count = time ? read_count(*time) : std::unexpected(std::string());
  if (!count || *count <= kTimestampMax) return {};
  const auto checked = checked_time(*count, TimeUnit::kMilliseconds);
  return checked ? std::string() : ": " + checked.error();
}

class OpentsdbParser final : public PointParser {
 public:
  explicit OpentsdbParser(const PointRules& rules) : rules_(rules) {}

  void line(std::string_view line, PointReceiver& to) override {
    line = without_return(line);
    if (line.find_first_not_of(' ') == std::string_view::npos) return;
    if (line.starts_with(kCommand) && !is_metric_put(line)) line.remove_prefix(kCommand.size());
    PutPieces pieces;
    if (split_point_words(line, pieces) && pieces.time <= kTimestampMax) {
      to.series({.grammar = KeyGrammar::kPutLine, .metric = pieces.metric, .tags = pieces.tags});
      to.point({.time = pieces.time, .value = pieces.value, .flags = pieces.flags});
      return;
    }
    const auto point = parse_point_words(line, rules_);
    if (!point) {
      to.refuse(plain_refusal(point.error()) + unit_hint(line));
      return;
    }
    names_.set(point->series);
    to.series(names_.key());
    to.point({.time = point->time, .value = point->value, .flags = point->flags});
  }

  [[nodiscard]] std::expected<SeriesName, Refused> series_name(
      const SeriesKey& key) const override {
    if (key.grammar == KeyGrammar::kPutLine) {
      return parse_put_series(key.metric, key.tags, rules_);
    }
    TagMap tags;
    for (Tag& tag : tags_of_names(key.tags)) tags.put(std::move(tag.key), std::move(tag.value));
    return rules_.validate_series(key.metric, std::move(tags));
  }

 private:
  const PointRules& rules_;
  NamesKey names_;
};

class OpentsdbWriter final : public PointWriter {
 public:
  std::expected<void, Unwritable> series(const SeriesName& name, std::string& /*to*/) override {
    if (name.metric.starts_with('#')) return std::unexpected("lines with # are comments");
    if (name.metric == "put") return std::unexpected("a line may begin with the command put");
    if (name.tags.empty()) return std::unexpected("it has no tags");
    metric_ = name.metric;
    tags_.clear();
    for (const Tag& tag : name.tags) {
      tags_ += ' ';
      tags_ += tag.key;
      tags_ += '=';
      tags_ += tag.value;
    }
    tags_ += '\n';
    return {};
  }

  std::expected<void, Unwritable> point(PointBits point, std::string& to) override {
    if ((point.flags & kFloat) != 0 && !std::isfinite(as_double(point.value))) {
      return std::unexpected("opentsdb has neither NaN nor infinity");
    }
    const bool whole = point.time % 1000 == 0 && point.time / 1000 < kSurelyMillis;
    const bool millis = (point.flags & kMillis) != 0 && point.time >= kSurelyMillis;
    if (point.time <= 0 || point.time > kTimestampMax || (!whole && point.time < kSurelyMillis)) {
      return std::unexpected(fmt::format("opentsdb has no way to write {} ms", point.time));
    }
    to += metric_;
    to += ' ';
    append_integer(to, whole && !millis ? point.time / 1000 : point.time);
    to += ' ';
    append_value(to, point, true, {});
    to += tags_;
    return {};
  }

 private:
  std::string metric_;
  std::string tags_;
};

}  // namespace

std::unique_ptr<PointParser> make_opentsdb_parser(const PointRules& rules) {
  return std::make_unique<OpentsdbParser>(rules);
}

std::unique_ptr<PointWriter> make_opentsdb_writer() { return std::make_unique<OpentsdbWriter>(); }

}  // namespace halite::ingest
