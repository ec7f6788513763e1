// GET, POST /api/search/lookup: finds series.
//
// Parameters  m=<metric>{k=v,k=*,k=,=v}: the metric may be absent or "*"; different keys are
//             AND-ed, values of one key OR-ed, a value without a key matches any key;
//             limit (default 25; 0 or less: up to web.lookup_series_max);
//             start, end: only series with points from start to end (as in queries; no end: now)
// Or a body   {"metric":"m","tags":[{"key":"k","value":"v"}],"limit":25,"start":"1h-ago"}
// Answer      200 {"type":"LOOKUP","metric":.. (if given),"tags":[..],"limit":..,"time":<ms>,
//             "results":[{"tsuid","metric","tags":{}}],"startIndex":0,"totalResults":<n returned>}
// Errors      400 neither metric nor tags, an invalid request, an end without a start; 404 an
//             unknown name; 400 another method; an invalid body (500 with --opentsdb-conf)
// /api/search/tsmeta, tsmeta_summary, tsuids, uidmeta, annotation require query=.. (limit,
// start_index, use_meta) or a body, and answer like an OpenTSDB without a search plugin: 400.
#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/bytes/read_number.h"
#include "common/json_list.h"
#include "common/json_string.h"
#include "query/engine/engine.h"
#include "query/limits.h"
#include "query/query_budget.h"
#include "storage/api/point_store.h"
#include "web/handlers/active_names.h"
#include "web/handlers/handlers.h"
#include "web/handlers/lookup_query.h"
#include "web/handlers/meta_answers.h"
#include "web/http/api_method.h"
#include "web/json/json_in.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

// The series of a selection, only those with points in the range if there is one, by TSUID.
Task<storage::PinnedSeries> list_series(storage::PointStore& store,
                                        std::shared_ptr<const storage::Selection> selection,
                                        std::optional<TimeRange> range, std::size_t limit) {
  if (!range) co_return co_await store.lookup(std::move(selection), limit);
  CO_TRY(const auto points, co_await store.last(std::move(selection), *range));
  std::vector<storage::SeriesId> ids;
  ids.reserve(points.size());
  for (const storage::LastPoint& point : points) ids.push_back(point.series);
  std::ranges::sort(ids, [&store](storage::SeriesId a, storage::SeriesId b) {
    return store.series(a).tsuid < store.series(b).tsuid;
  });
  if (limit != 0 && ids.size() > limit) ids.resize(limit);
  co_return storage::PinnedSeries(points.pin(), std::move(ids));
}

// All matching series, up to the limit.
Task<storage::PinnedSeries> find_series(storage::PointStore& store, LookupQuery query,
                                        std::optional<TimeRange> range, std::size_t limit,
                                        std::shared_ptr<query::QueryBudget> budget) {
  const std::shared_ptr<const storage::SeriesPin> pin = store.pin_series();  // of names to visit
  std::vector<std::string> metrics{query.metric};
  if (query.metric.empty()) {
    // The store searches by metric, so visit all metrics.
    CO_TRY(metrics, co_await store.suggest(storage::NameKind::kMetric, "", SIZE_MAX));
  }
  storage::PinnedSeries found;
  for (const std::string& metric : metrics) {
    if (found.size() >= limit) break;
    CO_TRY_VOID(budget->check());
    auto selecting = store.select(series_query(query, metric), {.budget = budget});
    Result<std::shared_ptr<const storage::Selection>> selection = co_await std::move(selecting);
    if (!selection) co_return std::unexpected(std::move(selection).error());
    // Conditions that the store cannot test need all candidates.
    const std::size_t most = query.any_key_values.empty() ? limit - found.size() : 0;
    CO_TRY(storage::PinnedSeries ids, co_await list_series(store, *selection, range, most));
    if (!query.any_key_values.empty()) {
      ids.erase_if([&](storage::SeriesId id) { return !fits_any_key(query, store.series(id)); });
    }
    ids.truncate(limit - found.size());
    found.append(std::move(ids));
  }
  co_return found;
}

class LookupSource final : public BodySource {
 public:
  LookupSource(const storage::PointStore& store, LookupQuery query, storage::PinnedSeries ids,
               std::int64_t time_ms)
      : store_(store), query_(std::move(query)), ids_(std::move(ids)), time_ms_(time_ms) {}

  bool next(std::string& to) override {
    if (finished_) return false;
    const std::size_t enough = to.size() + (64 << 10);
    if (at_ == 0) head(to);
    while (at_ < ids_.size() && to.size() < enough) {
      if (at_ != 0) to += ',';
      series(to, store_.series(ids_[at_++]));
    }
    if (at_ < ids_.size()) return true;
    fmt::format_to(std::back_inserter(to), "],\"startIndex\":0,\"totalResults\":{}}}", ids_.size());
    finished_ = true;
    return true;
  }

 private:
  void head(std::string& to) {
    to += "{\"type\":\"LOOKUP\"";
    if (!query_.metric_text.empty()) {
      to += ",\"metric\":";
      append_json_string(to, query_.metric_text);
    }
    if (query_.show_tags) {
      to += ",\"tags\":";
      append_json_list(to, query_.tags, [&to](const auto& tag) {
        to += "{\"key\":";
        append_or_null(to, tag.first);
        to += ",\"value\":";
        append_or_null(to, tag.second);
        to += '}';
      });
    }
    fmt::format_to(std::back_inserter(to), ",\"limit\":{},\"time\":{}.0,\"results\":[",
                   query_.limit, time_ms_);
  }

  static void append_or_null(std::string& to, const std::string& text) {
    if (text.empty()) {
      to += "null";
    } else {
      append_json_string(to, text);
    }
  }

  static void series(std::string& to, const storage::Series& series) {
    to += "{\"tsuid\":\"";
    to += to_hex(series.tsuid.bytes());
    to += "\",\"metric\":";
    append_json_string(to, series.metric);
    to += ",\"tags\":{";
    for (const storage::SeriesTag& tag : series.tags) {
      if (to.back() != '{') to += ',';
      append_json_string(to, tag.key);
      to += ':';
      append_json_string(to, tag.value);
    }
    to += "}}";
  }

  const storage::PointStore& store_;
  LookupQuery query_;
  storage::PinnedSeries ids_;
  std::int64_t time_ms_;
  std::size_t at_ = 0;
  bool finished_ = false;
};

asio::awaitable<Response> lookup(Call& call) {
  const TimestampMs begin = call.services.clock.now_ms();
  const bool in_body = !call.request.body.empty();
  Result<LookupQuery> query =
      in_body ? parse_lookup_post(call.request.body) : parse_lookup_uri(call.target);
  if (!query && in_body) co_return mistake_response(call, query.error());
  if (!query) co_return error_response(call, query.error());
  const Result<std::optional<TimeRange>> range = parse_range(call, query->start, query->end);
  if (!range) co_return error_response(call, range.error());
  const std::size_t most = call.options.lookup_series_max;
  const std::size_t limit =
      query->limit <= 0 ? most : std::min(static_cast<std::size_t>(query->limit), most);
  // The number of series in the answer has its own limit. Only time and memory limit how many are
  // visited.
  query::QueryLimits limits = call.services.engine.limits();
  limits.series_max = std::numeric_limits<std::uint64_t>::max();
  auto budget = std::make_shared<query::QueryBudget>(limits, call.services.clock, call.stop);
  Result<storage::PinnedSeries> found =
      co_await find_series(call.services.store, *query, *range, limit, std::move(budget));
  if (!found && found.error().code == Errc::kNotFound) {
    co_return error_response(call, 404, "Unable to resolve one or more UIDs",
                             found.error().message);
  }
  if (!found) co_return error_response(call, found.error());
  const TimestampMs took_ms = call.services.clock.now_ms() - begin;
  Response response;
  response.source = std::make_unique<LookupSource>(call.services.store, std::move(*query),
                                                   std::move(*found), took_ms);
  co_return response;
}

// Searches that need a plugin in OpenTSDB, answered as without one.
Response refuse_search(const Call& call) {
  if (!call.request.body.empty()) {
    const Result<std::map<std::string, std::string>> body = parse_flat_object(call.request.body);
    if (!body) return mistake_response(call, body.error());
  } else if (call.target.get("query").empty()) {
    return missing_parameter(call, "query");
  } else {
    for (const char* name : {"limit", "start_index"}) {
      const std::string_view text = call.target.get(name);
      std::int32_t value = 0;
      const bool number = read_number(text, value);
      if (call.target.has(name) && !number) {
        return error_response(call, 400,
                              fmt::format("Unable to convert '{}' to a valid number", name));
      }
    }
  }
  return error_response(call, 400, "Searching is not enabled",
                        "Searching has not been enabled on this TSD");
}

}  // namespace

asio::awaitable<Response> handle_search(Call& call) {
  if (std::optional<Response> refusal = override_method(call)) co_return std::move(*refusal);
  if (call.request.method != "GET" && call.request.method != "POST") {
    co_return error_response(call, 400, "Unsupported method: " + call.request.method);
  }
  const std::string type = call.target.rest.empty() ? "" : to_lower(call.target.rest[0]);
  if (type == "lookup") co_return co_await lookup(call);
  constexpr std::array kOthers = {"tsmeta", "tsmeta_summary", "tsuids", "uidmeta", "annotation"};
  if (std::ranges::find(kOthers, type) != kOthers.end()) co_return refuse_search(call);
  co_return error_response(
      call, 400, "Invalid search query type supplied",
      type.empty() ? "Type provided was null or empty" : "Unknown type: " + call.target.rest[0]);
}

}  // namespace halite::web
