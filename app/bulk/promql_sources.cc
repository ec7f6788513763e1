#include "app/bulk/promql_sources.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "app/bulk/server_requests.h"
#include "common/bytes/percent.h"
#include "common/json_string.h"
#include "ingest/formats/number_text.h"
#include "ingest/formats/point_format.h"

namespace halite::app {
namespace {

class PrometheusSource final : public ServerSource {
 public:
  using ServerSource::ServerSource;

  Result<std::vector<std::string>> metrics() override {
    TRY(const boost::json::value names,
        ask_json(peer(), {.target = "/api/v1/label/__name__/values", .body = {}}));
    boost::system::error_code error;
    return wanted_metrics(names.find_pointer("/data", error));
  }

 protected:
  // A range is open on the left since Prometheus 3, and closed before.
  Result<void> read_match(const SourceSlice& slice, const std::vector<storage::TagFilter>& filters,
                          SeriesSet& to) override {
    TRY(const std::string series, promql_selector(slice.metric, filters));
    const TimestampMs last = slice.range.end - 1;
    const std::string target = fmt::format(
        "/api/v1/query?time={}.{:03}&query={}", last / 1000, last % 1000,
        percent_encoded(fmt::format("{}[{}ms]", series, slice.range.end - slice.range.begin)));
    TRY(const boost::json::value answer, ask_json(peer(), {.target = target, .body = {}}));
    boost::system::error_code error;
    const boost::json::value* const result = answer.find_pointer("/data/result", error);
    if (result == nullptr || !result->is_array()) return unexpected_answer("result");
    for (const boost::json::value& one : result->get_array()) {
      TRY_VOID(read_series(one, slice.range, to));
    }
    return {};
  }

 private:
  static Result<void> read_series(const boost::json::value& series, TimeRange range,
                                  SeriesSet& to) {
    const boost::json::object* const object = series.if_object();
    const boost::json::value* const labels =
        object == nullptr ? nullptr : object->if_contains("metric");
    const boost::json::value* const values =
        object == nullptr ? nullptr : object->if_contains("values");
    if (values == nullptr || !values->is_array()) return {};  // native histograms alone
    SeriesName name;
    TRY(name.tags, read_tags(labels));
    const auto metric = std::ranges::find(name.tags, ingest::kNameLabel, &Tag::key);
    if (metric == name.tags.end()) return unexpected_answer("name of a metric");
    name.metric = std::move(metric->value);
    name.tags.erase(metric);
    std::vector<ingest::PointBits> points;
    for (const boost::json::value& pair : values->get_array()) {
      const boost::json::array* const both = pair.if_array();
      if (both == nullptr || both->size() != 2 || !(*both)[0].is_number() ||
          !(*both)[1].is_string()) {
        return unexpected_answer("pair of time and value");
      }
      const auto bits = ingest::read_go_double(std::string_view((*both)[1].get_string()));
      if (!bits) return unexpected_answer("number as a value");
      const TimestampMs time = std::llround((*both)[0].to_number<double>() * 1000);
      if (time >= range.begin && time < range.end) {
        points.push_back(ingest::double_point(time, *bits));
      }
    }
    return to.add(std::move(name), std::move(points));
  }
};

// The points of one line of /api/v1/export.
class ExportedLine final : public ingest::PointReceiver {
 public:
  explicit ExportedLine(const ingest::PointParser& parser) : parser_(parser) {}

  void series(const ingest::SeriesKey& key) override {
    auto name = parser_.series_name(key);
    if (name) {
      name_ = *std::move(name);
    } else {
      error_ = std::move(name).error().text;
    }
  }
  void point(ingest::PointBits point) override { points_.push_back(point); }
  void refuse(std::string reason) override { error_ = std::move(reason); }

  [[nodiscard]] const std::optional<std::string>& error() const { return error_; }
  [[nodiscard]] const SeriesName& name() const { return name_; }
  [[nodiscard]] const std::vector<ingest::PointBits>& points() const { return points_; }

 private:
  const ingest::PointParser& parser_;
  SeriesName name_;
  std::vector<ingest::PointBits> points_;
  std::optional<std::string> error_;
};

class VictoriaSource final : public ServerSource {
 public:
  using ServerSource::ServerSource;

  Result<std::vector<std::string>> metrics() override {
    TRY(const boost::json::value names,
        // Without a start, or with 0, only recent metrics are listed.
        ask_json(peer(), {.target = "/api/v1/label/__name__/values?start=1", .body = {}}));
    boost::system::error_code error;
    return wanted_metrics(names.find_pointer("/data", error));
  }

 protected:
  Result<void> read_match(const SourceSlice& slice, const std::vector<storage::TagFilter>& filters,
                          SeriesSet& to) override {
    TRY(const std::string series, promql_selector(slice.metric, filters));
    const TimestampMs last = slice.range.end - 1;
    const std::string target = fmt::format("/api/v1/export?start={}.{:03}&end={}.{:03}&match[]={}",
                                           slice.range.begin / 1000, slice.range.begin % 1000,
                                           last / 1000, last % 1000, percent_encoded(series));
    TRY(const std::string lines, ask(peer(), {.target = target, .body = {}}));
    // A series may have several lines.
    std::map<SeriesName, std::vector<ingest::PointBits>> found;
    const auto parser = ingest::make_parser(ingest::Format::kVmJson, {}, rules_);
    for (std::string_view rest = lines; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      ExportedLine line(*parser);
      parser->line(rest.substr(0, end), line);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (line.error()) {
        return fail(Errc::kUnavailable,
                    fmt::format("the server's export of {}: {}", slice.metric, *line.error()));
      }
      std::vector<ingest::PointBits>& points = found[line.name()];
      points.insert(points.end(), line.points().begin(), line.points().end());
    }
    for (auto& [name, points] : found) {
      std::ranges::sort(points, {}, &ingest::PointBits::time);
      TRY_VOID(to.add(name, std::move(points)));
    }
    return {};
  }

 private:
  const ingest::PointRules rules_{ingest::IngestLimits(), ""};
};

}  // namespace

Result<std::string> promql_selector(std::string_view metric,
                                    const std::vector<storage::TagFilter>& filters) {
  using storage::FilterType;
  std::string text = "{__name__=";
  append_json_string(text, metric);
  for (const storage::TagFilter& filter : filters) {
    std::string pattern;
    switch (filter.type) {
      case FilterType::kLiteralOr:
      case FilterType::kNotLiteralOr:
        for (const std::string& literal : storage::filter_literals(filter)) {
          pattern += (pattern.empty() ? "" : "|") + re2::RE2::QuoteMeta(literal);
        }
        break;
      case FilterType::kWildcard:
        pattern = re2::RE2::QuoteMeta(filter.pattern);
        re2::RE2::GlobalReplace(&pattern, "\\\\\\*", ".*");
        break;
      case FilterType::kRegexp:
        pattern = ".*(?:" + filter.pattern + ").*";
        break;
      default:
        return fail(Errc::kUnsupported, fmt::format("--match: this server has no filter {}",
                                                    storage::filter_type_name(filter.type)));
    }
    text += "," + filter.key;
    text += filter.type == FilterType::kNotLiteralOr ? "!~" : "=~";
    append_json_string(text, pattern);
  }
  return text + "}";
}

std::unique_ptr<PointSource> make_prometheus_source(Peer peer, std::vector<SourceMatch> matches) {
  return std::make_unique<PrometheusSource>(std::move(peer), std::move(matches));
}

std::unique_ptr<PointSource> make_victoria_source(Peer peer, std::vector<SourceMatch> matches) {
  return std::make_unique<VictoriaSource>(std::move(peer), std::move(matches));
}

}  // namespace halite::app
