#include "app/bulk/opentsdb_source.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/bulk/server_requests.h"
#include "ingest/formats/number_text.h"
#include "ingest/formats/times.h"

namespace halite::app {
namespace {

class OpentsdbSource final : public ServerSource {
 public:
  using ServerSource::ServerSource;

  Result<std::vector<std::string>> metrics() override {
    TRY(const boost::json::value names,
        ask_json(peer(), {.target = "/api/suggest?type=metrics&max=2147483647", .body = {}}));
    TRY(std::vector<std::string> metrics, wanted_metrics(&names));
    // Halite's metrics of itself: a Halite that is the target has its own.
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
    // OpenTSDB ignores the flag.
    const Result<boost::json::value> answer =
        ask_json(peer(), {.target = "/api/query?as_stored", .body = boost::json::serialize(query)});
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
    const boost::json::value* const dps = member("dps");
    if (metric == nullptr || !metric->is_string() || dps == nullptr || !dps->is_object()) {
      return unexpected_answer("metric or dps");
    }
    SeriesName name{.metric = std::string(metric->get_string()), .tags = {}};
    TRY(name.tags, read_tags(member("tags")));
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
    const boost::json::string* const text = value.if_string();
    const auto bits = text == nullptr ? std::nullopt : read_special(std::string_view(*text));
    if (!bits) return unexpected_answer("number as a value");
    return ingest::double_point(*ms, *bits);
  }

  // "NaN", "Infinity", or of Halite "NaN:" with its bits.
  static std::optional<ValueBits> read_special(std::string_view text) {
    constexpr std::string_view kNan = "NaN:";
    if (!text.starts_with(kNan)) return ingest::read_go_double(text);
    text.remove_prefix(kNan.size());
    ValueBits bits = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), bits, 16);
    const bool whole = error == std::errc() && stop == text.data() + text.size();
    return whole && std::isnan(as_double(bits)) ? std::optional(bits) : std::nullopt;
  }
};

}  // namespace

std::unique_ptr<PointSource> make_opentsdb_source(Peer peer, std::vector<SourceMatch> matches) {
  return std::make_unique<OpentsdbSource>(std::move(peer), std::move(matches));
}

}  // namespace halite::app
