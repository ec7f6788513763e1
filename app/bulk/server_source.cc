// Over 400 lines because four servers share how they are asked, and little else is in each.
#include "app/bulk/server_source.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>
#include <re2/re2.h>

#include "common/json/json_value.h"
#include "common/json_string.h"
#include "common/log.h"
#include "common/threads/run_here.h"
#include "common/units.h"
#include "ingest/formats/number_text.h"
#include "ingest/formats/point_format.h"

namespace halite::app {
namespace {

std::string url_encoded(std::string_view text) {
  std::string encoded;
  for (const char byte : text) {
    if (is_digit(byte) || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z')) {
      encoded += byte;
    } else {
      fmt::format_to(std::back_inserter(encoded), "%{:02X}", static_cast<unsigned char>(byte));
    }
  }
  return encoded;
}

// The body of a successful answer.
Result<std::string> ask_once(const Peer& peer, HttpRequest request) {
  Result<HttpReply> reply = run_here(send_http(peer, std::move(request), HttpLimits()));
  // A shorter time may be answered in time.
  if (!reply && reply.error().code == Errc::kTimeout) reply.error().code = Errc::kTooLarge;
  if (!reply) return std::unexpected(std::move(reply).error());
  if (reply->status / 100 == 2) return std::move(reply->body);
  constexpr unsigned kTooLarge = 413;
  constexpr unsigned kTooManySamples = 422;
  constexpr unsigned kTooManyRequests = 429;
  Errc code = Errc::kInvalidArgument;
  if (reply->status == kTooLarge || reply->status == kTooManySamples) code = Errc::kTooLarge;
  if (reply->status == kTooManyRequests || reply->status / 100 == 5) code = Errc::kUnavailable;
  return fail(code, fmt::format("the server answered {}: {}", reply->status,
                                std::string_view(reply->body).substr(0, 300)));
}

// Asks a server that is away again, for some minutes.
Result<std::string> ask(const Peer& peer, const HttpRequest& request) {
  constexpr int kAttempts = 9;
  std::chrono::seconds pause{1};
  for (int attempt = 1;; ++attempt) {
    Result<std::string> body = ask_once(peer, request);
    if (body || body.error().code != Errc::kUnavailable || attempt == kAttempts) return body;
    log::warn("the source is busy, trying again in {} s: {}", pause.count(), body.error().message);
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::seconds(60));
  }
}

Result<boost::json::value> ask_json(const Peer& peer, HttpRequest request) {
  TRY(const std::string body, ask(peer, std::move(request)));
  boost::system::error_code error;
  boost::json::value value = parse_json_value(body, error);
  if (!error) return value;
  return fail(Errc::kUnavailable, fmt::format("the server's answer is not JSON: {}",
                                              std::string_view(body).substr(0, 100)));
}

std::unexpected<Error> unexpected_answer(std::string_view what) {
  return fail(Errc::kUnavailable, fmt::format("the server's answer has no {}", what));
}

bool matches_any(const std::vector<SourceMatch>& matches, std::string_view metric) {
  return matches.empty() || std::ranges::any_of(matches, [metric](const SourceMatch& match) {
           return matches_metric(match, metric);
         });
}

Result<std::vector<std::string>> wanted_metrics(const boost::json::value* all,
                                                const std::vector<SourceMatch>& matches) {
  if (all == nullptr || !all->is_array()) return unexpected_answer("list of metrics");
  std::vector<std::string> metrics;
  for (const boost::json::value& name : all->get_array()) {
    if (!name.is_string()) continue;
    std::string metric(name.get_string());
    if (matches_any(matches, metric)) metrics.push_back(std::move(metric));
  }
  std::ranges::sort(metrics);
  return metrics;
}

// Adds the points of several answers about one metric: a series may be in more than one.
class SeriesSet {
 public:
  explicit SeriesSet(std::size_t points_max) : points_max_(points_max) {}

  Result<void> add(SeriesName name, std::vector<ingest::PointBits> points) {
    if (points.empty() || !seen_.insert(name).second) return {};
    count_ += points.size();
    if (count_ > points_max_) return fail(Errc::kTooLarge, "too many points for one slice");
    series_.push_back({.series = std::move(name), .points = std::move(points)});
    return {};
  }
  std::vector<ingest::SeriesPoints> take() {
    std::ranges::sort(series_, {}, &ingest::SeriesPoints::series);
    return std::move(series_);
  }

 private:
  const std::size_t points_max_;
  std::size_t count_ = 0;
  std::set<SeriesName> seen_;
  std::vector<ingest::SeriesPoints> series_;
};

// The common part: sends one request for each match.
class ServerSource : public PointSource {
 public:
  ServerSource(Peer peer, std::vector<SourceMatch> matches)
      : peer_(std::move(peer)), matches_(std::move(matches)) {}

  Result<std::vector<ingest::SeriesPoints>> read(const SourceSlice& slice,
                                                 std::size_t points_max) override {
    SeriesSet series(points_max);
    static const std::vector<SourceMatch> kAll(1);
    for (const SourceMatch& match : matches_.empty() ? kAll : matches_) {
      if (!matches_.empty() && !matches_metric(match, slice.metric)) continue;
      TRY_VOID(read_match(slice, match.filters, series));
    }
    return series.take();
  }
  // A server computes an answer completely before anybody sees that it is too large.
  [[nodiscard]] SliceRanges ranges() const override {
    return {.min = 1000, .first = kHourMs, .max = 32 * kDayMs};
  }
  [[nodiscard]] bool has_parts() const override { return false; }

 protected:
  virtual Result<void> read_match(const SourceSlice& slice,
                                  const std::vector<storage::TagFilter>& filters,
                                  SeriesSet& to) = 0;
  [[nodiscard]] const Peer& peer() const { return peer_; }
  [[nodiscard]] const std::vector<SourceMatch>& matches() const { return matches_; }

 private:
  const Peer peer_;
  const std::vector<SourceMatch> matches_;
};

class OpentsdbSource final : public ServerSource {
 public:
  using ServerSource::ServerSource;

  Result<std::vector<std::string>> metrics() override {
    TRY(const boost::json::value names,
        ask_json(peer(), {.target = "/api/suggest?type=metrics&max=2147483647", .body = {}}));
    TRY(std::vector<std::string> metrics, wanted_metrics(&names, matches()));
    // A Halite's metrics of itself: they never end, and the target has its own.
    if (matches().empty()) {
      std::erase_if(metrics,
                    [](const std::string& metric) { return metric.starts_with("halite."); });
    }
    return metrics;
  }

 protected:
  Result<void> read_match(const SourceSlice& slice, const std::vector<storage::TagFilter>& filters,
                          SeriesSet& to) override {
    boost::json::array asked;
    for (const storage::TagFilter& filter : filters) {
      asked.push_back({{"type", storage::filter_type_name(filter.type)},
                       {"tagk", filter.key},
                       {"filter", filter.pattern},
                       {"groupBy", false}});
    }
    const boost::json::value query = {
        {"start", slice.range.begin},
        {"end", slice.range.end - 1},
        {"msResolution", true},
        {"queries",
         boost::json::array{
             {{"aggregator", "none"}, {"metric", slice.metric}, {"filters", std::move(asked)}}}}};
    const Result<boost::json::value> answer =
        ask_json(peer(), {.target = "/api/query", .body = boost::json::serialize(query)});
    // OpenTSDB's answer if no series has a tag of the filters.
    if (!answer && answer.error().message.contains("No such name")) return {};
    if (!answer) return std::unexpected(answer.error());
    if (!answer->is_array()) return unexpected_answer("list of series");
    for (const boost::json::value& series : answer->get_array()) {
      TRY_VOID(read_series(series, slice.range, to));
    }
    return {};
  }

 private:
  static Result<void> read_series(const boost::json::value& series, TimeRange range,
                                  SeriesSet& to) {
    const boost::json::object* const object = series.if_object();
    const auto member = [object](std::string_view name) {
      return object == nullptr ? nullptr : object->if_contains(name);
    };
    const boost::json::value* const metric = member("metric");
    const boost::json::value* const tags = member("tags");
    const boost::json::value* const dps = member("dps");
    if (metric == nullptr || !metric->is_string() || tags == nullptr || !tags->is_object() ||
        dps == nullptr || !dps->is_object()) {
      return unexpected_answer("metric, tags or dps");
    }
    SeriesName name{.metric = std::string(metric->get_string()), .tags = {}};
    for (const auto& [key, value] : tags->get_object()) {
      if (!value.is_string()) return unexpected_answer("text as a tag value");
      name.tags.push_back({.key = std::string(key), .value = std::string(value.get_string())});
    }
    std::ranges::sort(name.tags);
    std::vector<ingest::PointBits> points;
    for (const auto& [time, value] : dps->get_object()) {
      TRY(const ingest::PointBits point, read_point(time, value));
      if (point.time >= range.begin && point.time < range.end) points.push_back(point);
    }
    std::ranges::sort(points, {}, &ingest::PointBits::time);
    return to.add(std::move(name), std::move(points));
  }

  static Result<ingest::PointBits> read_point(std::string_view time,
                                              const boost::json::value& value) {
    const auto ms = ingest::read_count(time);
    if (!ms) return unexpected_answer("time of a point");
    if (const std::int64_t* const integer = value.if_int64()) {
      return ingest::integer_point(*ms, *integer);
    }
    if (const std::uint64_t* const large = value.if_uint64()) {
      return ingest::double_point(*ms, double_bits(static_cast<double>(*large)));
    }
    if (const double* const real = value.if_double()) {
      return ingest::double_point(*ms, double_bits(*real));
    }
    const boost::json::string* const text = value.if_string();  // "NaN"
    const auto bits =
        text == nullptr ? std::nullopt : ingest::read_go_double(std::string_view(*text));
    if (!bits) return unexpected_answer("number as a value");
    return ingest::double_point(*ms, *bits);
  }
};

// A selector of PromQL: {__name__="m",k=~"a|b"}.
Result<std::string> selector(std::string_view metric,
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
        return fail(Errc::kUnsupported,
                    fmt::format("--match: this server cannot evaluate a filter {}",
                                storage::filter_type_name(filter.type)));
    }
    text += "," + filter.key;
    text += filter.type == FilterType::kNotLiteralOr ? "!~" : "=~";
    append_json_string(text, pattern);
  }
  return text + "}";
}

class PrometheusSource final : public ServerSource {
 public:
  using ServerSource::ServerSource;

  Result<std::vector<std::string>> metrics() override {
    TRY(const boost::json::value names,
        ask_json(peer(), {.target = "/api/v1/label/__name__/values", .body = {}}));
    boost::system::error_code error;
    return wanted_metrics(names.find_pointer("/data", error), matches());
  }

 protected:
  // A range is open on the left since Prometheus 3, and closed before.
  Result<void> read_match(const SourceSlice& slice, const std::vector<storage::TagFilter>& filters,
                          SeriesSet& to) override {
    TRY(const std::string series, selector(slice.metric, filters));
    const TimestampMs last = slice.range.end - 1;
    const std::string target = fmt::format(
        "/api/v1/query?time={}.{:03}&query={}", last / 1000, last % 1000,
        url_encoded(fmt::format("{}[{}ms]", series, slice.range.end - slice.range.begin)));
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
    if (labels == nullptr || !labels->is_object()) return unexpected_answer("metric");
    if (values == nullptr || !values->is_array()) return {};  // native histograms alone
    SeriesName name;
    for (const auto& [key, value] : labels->get_object()) {
      if (!value.is_string()) return unexpected_answer("text as a label");
      if (std::string_view(key) == ingest::kNameLabel) {
        name.metric = std::string(value.get_string());
      } else {
        name.tags.push_back({.key = std::string(key), .value = std::string(value.get_string())});
      }
    }
    std::ranges::sort(name.tags);
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
    return wanted_metrics(names.find_pointer("/data", error), matches());
  }

 protected:
  Result<void> read_match(const SourceSlice& slice, const std::vector<storage::TagFilter>& filters,
                          SeriesSet& to) override {
    TRY(const std::string series, selector(slice.metric, filters));
    const TimestampMs last = slice.range.end - 1;
    const std::string target = fmt::format("/api/v1/export?start={}.{:03}&end={}.{:03}&match[]={}",
                                           slice.range.begin / 1000, slice.range.begin % 1000,
                                           last / 1000, last % 1000, url_encoded(series));
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

// Whether the server knows a request. An error if it refuses to say.
Result<bool> takes(const Peer& peer, std::string_view target) {
  TRY(const HttpReply reply,
      run_here(send_http(peer, {.target = std::string(target), .body = {}}, HttpLimits())));
  if (reply.status / 100 == 2) return true;
  constexpr unsigned kUnauthorized = 401;
  constexpr unsigned kForbidden = 403;
  if (reply.status == kUnauthorized || reply.status == kForbidden || reply.status / 100 == 5) {
    return fail(Errc::kUnavailable, fmt::format("the server answered {}: {}", reply.status,
                                                std::string_view(reply.body).substr(0, 300)));
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<PointSource>> open_server_source(Peer peer,
                                                        std::vector<SourceMatch> matches) {
  for (const SourceMatch& match : matches) {
    for (const storage::TagFilter& filter : match.filters) {
      TRY_VOID(storage::TagMatcher::compile(filter));
    }
  }
  TRY(const bool opentsdb, takes(peer, "/api/suggest?type=metrics&max=1"));
  if (opentsdb) return std::make_unique<OpentsdbSource>(std::move(peer), std::move(matches));
  for (const SourceMatch& match : matches) TRY_VOID(selector("", match.filters));
  TRY(const bool victoria,
      takes(peer, "/api/v1/export?start=0&end=1&match[]=%7B__name__%3D%22halite%22%7D"));
  if (victoria) return std::make_unique<VictoriaSource>(std::move(peer), std::move(matches));
  TRY(const bool prometheus, takes(peer, "/api/v1/status/buildinfo"));
  if (prometheus) return std::make_unique<PrometheusSource>(std::move(peer), std::move(matches));
  return fail(Errc::kUnsupported,
              "the server is none of OpenTSDB, Halite, VictoriaMetrics and Prometheus");
}

}  // namespace halite::app
