// The number of series, by metric and by tag: to explore the data.
//
// GET /api/series/metrics   metrics with their numbers of series
//   Parameters  contains: only names that contain this text in any case; max (default 100, at
//               most web.suggest_names_max); order = name (default; names that begin with the text
//               come first) | series | grown (descending)
//   Answer      200 {"counted":<ms>,"grownSince":<ms>,"series":<n>,"metrics":<n>,"matching":<n>,
//               "results":[{"metric":"..","series":<n>,"grown":<n>},..]}. The counts may be old:
//               the more series, the older
// GET /api/series/keys      tag keys by descending number of values; max as above
//   Answer      200 {"counted":<ms>,"series":<n>,"keys":<n>,"results":[{"key","series","values"}]}
// GET /api/series/tags      the tags of one metric's series, counted by this request
//   Parameters  metric; max: values of each key (default 10); key: only this key; contains: only
//               values that contain this text
//   Answer      200 {"metric":"..","series":<n>,"keys":[{"key":"..","series":<n>,"values":<n>,
//               "matching":<n>,"top":[{"value":"..","series":<n>},..]},..]}, by descending number
//               of series
// Errors        400 max is not a number; no metric; 404 unknown metric or page; 405; 501 series
//               are not counted here; the errors of a query's limits
#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/bytes/read_number.h"
#include "common/json_list.h"
#include "common/json_string.h"
#include "query/engine/engine.h"
#include "query/limits.h"
#include "query/query_budget.h"
#include "storage/api/point_store.h"
#include "storage/catalog/cardinality.h"
#include "web/handlers/handlers.h"
#include "web/http/api_method.h"
#include "web/tag_cardinality.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kListedNamesDefault = 100;
constexpr std::size_t kValuesDefault = 10;
constexpr std::size_t kSeriesTogether = 1 << 16;

using Metric = storage::Cardinality::Metric;

Result<std::size_t> requested_max(const Call& call, std::size_t standard) {
  const std::string_view text = call.target.get("max");
  if (text.empty()) return standard;
  std::size_t value = 0;
  if (!read_number(text, value)) {
    return fail(Errc::kInvalidArgument, fmt::format("\"max\" is not a number: {}", text));
  }
  return std::min(value, call.options.suggest_names_max);
}

// The requested metrics: the first `max` in order.
struct Chosen {
  std::vector<const Metric*> metrics;
  std::size_t matching = 0;
};

Chosen choose_metrics(const std::vector<Metric>& all, const Call& call, std::size_t max) {
  const std::string text = to_lower(call.target.get("contains"));
  const std::string_view order = call.target.get("order");
  Chosen chosen;
  for (const Metric& metric : all) {
    if (contains_text(metric.name, text)) chosen.metrics.push_back(&metric);
  }
  chosen.matching = chosen.metrics.size();
  // Sorted by name; a stable sort keeps that among equals.
  const auto rank = [order, &text](const Metric* metric) -> std::int64_t {
    if (order == "series") return static_cast<std::int64_t>(metric->series);
    if (order == "grown") return metric->grown;
    return contains_text(std::string_view(metric->name).substr(0, text.size()), text) ? 1 : 0;
  };
  std::ranges::sort(chosen.metrics, [&rank](const Metric* a, const Metric* b) {
    const std::int64_t rank_a = rank(a);
    const std::int64_t rank_b = rank(b);
    return rank_a != rank_b ? rank_a > rank_b : a->name < b->name;
  });
  if (chosen.metrics.size() > max) chosen.metrics.resize(max);
  return chosen;
}

asio::awaitable<Response> list_metrics(Call& call) {
  const Result<std::size_t> max = requested_max(call, kListedNamesDefault);
  if (!max) co_return error_response(call, max.error());
  auto counting = call.services.cardinality_counter->counts();
  const Result<std::shared_ptr<const storage::Cardinality>> counts = co_await std::move(counting);
  if (!counts) co_return error_response(call, counts.error());
  const storage::Cardinality& all = **counts;
  const Chosen chosen = choose_metrics(all.metrics, call, *max);
  std::string json = fmt::format(
      R"({{"counted":{},"grownSince":{},"series":{},"metrics":{},"matching":{},"results":)",
      all.counted_ms, all.grown_since_ms, all.series, all.metrics.size(), chosen.matching);
  append_json_list(json, chosen.metrics, [&json](const Metric* metric) {
    json += "{\"metric\":";
    append_json_string(json, metric->name);
    fmt::format_to(std::back_inserter(json), R"(,"series":{},"grown":{}}})", metric->series,
                   metric->grown);
  });
  co_return json_response(200, json + '}');
}

asio::awaitable<Response> list_keys(Call& call) {
  const Result<std::size_t> max = requested_max(call, kListedNamesDefault);
  if (!max) co_return error_response(call, max.error());
  auto counting = call.services.cardinality_counter->counts();
  const Result<std::shared_ptr<const storage::Cardinality>> counts = co_await std::move(counting);
  if (!counts) co_return error_response(call, counts.error());
  std::vector<storage::Cardinality::TagKey> keys = (*counts)->tag_keys;
  std::ranges::sort(keys, [](const auto& a, const auto& b) {
    return a.values != b.values ? a.values > b.values : a.name < b.name;
  });
  std::string json = fmt::format(R"({{"counted":{},"series":{},"keys":{},"results":)",
                                 (*counts)->counted_ms, (*counts)->series, keys.size());
  if (keys.size() > *max) keys.resize(*max);
  append_json_list(json, keys, [&json](const storage::Cardinality::TagKey& key) {
    json += "{\"key\":";
    append_json_string(json, key.name);
    fmt::format_to(std::back_inserter(json), R"(,"series":{},"values":{}}})", key.series,
                   key.values);
  });
  co_return json_response(200, json + '}');
}

// The tags of all series of a metric, with or without points.
Task<TagCardinality> shape_of(const Call* call, std::string metric) {
  storage::PointStore& store = call->services.store;
  query::QueryLimits limits = call->services.engine.limits();
  limits.series_max = std::numeric_limits<std::uint64_t>::max();  // only time and memory limit it
  auto budget = std::make_shared<query::QueryBudget>(limits, call->services.clock, call->stop);
  storage::SeriesQuery wanted;
  wanted.metric = std::move(metric);
  auto selecting = store.select(std::move(wanted), {.budget = budget});
  CO_TRY(const std::shared_ptr<const storage::Selection> selection, co_await std::move(selecting));
  auto looking = store.lookup(selection, 0);
  CO_TRY(const storage::PinnedSeries ids, co_await std::move(looking));
  const auto executor = co_await asio::this_coro::executor;
  TagCardinality shape;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    shape.add(store.series(ids[i]));
    if (i % kSeriesTogether != kSeriesTogether - 1) continue;
    CO_TRY_VOID(budget->check());
    co_await asio::post(executor, asio::use_awaitable);
  }
  co_return shape;
}

struct ValuesWanted {
  std::string text;  // in lower case
  std::size_t max = 0;
};

void append_key(std::string& to, const TagCardinality::Key& key, const ValuesWanted& wanted) {
  to += "{\"key\":";
  append_json_string(to, key.name);
  std::vector<const TagCardinality::Value*> fit;
  for (const TagCardinality::Value& value : key.values) {
    if (contains_text(value.name, wanted.text)) fit.push_back(&value);
  }
  fmt::format_to(std::back_inserter(to), R"(,"series":{},"values":{},"matching":{},"top":)",
                 key.series, key.values.size(), fit.size());
  if (fit.size() > wanted.max) fit.resize(wanted.max);
  append_json_list(to, fit, [&to](const TagCardinality::Value* value) {
    to += "{\"value\":";
    append_json_string(to, value->name);
    fmt::format_to(std::back_inserter(to), R"(,"series":{}}})", value->series);
  });
  to += '}';
}

asio::awaitable<Response> list_tags(Call& call) {
  const std::string metric(call.target.get("metric"));
  if (metric.empty()) co_return error_response(call, 400, "Missing parameter \"metric\"");
  const Result<std::size_t> max = requested_max(call, kValuesDefault);
  if (!max) co_return error_response(call, max.error());
  // Of the names in `shape`.
  const std::shared_ptr<const storage::SeriesPin> pin = call.services.store.pin_series();
  auto looking = shape_of(&call, metric);
  const Result<TagCardinality> shape = co_await std::move(looking);
  if (!shape) co_return error_response(call, shape.error());
  const ValuesWanted wanted{.text = to_lower(call.target.get("contains")), .max = *max};
  std::string json = "{\"metric\":";
  append_json_string(json, metric);
  json += fmt::format(",\"series\":{},\"keys\":", shape->series());
  std::vector<TagCardinality::Key> keys = shape->keys();
  if (call.target.has("key")) {
    std::erase_if(keys, [&](const auto& key) { return key.name != call.target.get("key"); });
  }
  append_json_list(json, keys, [&](const auto& key) { append_key(json, key, wanted); });
  co_return json_response(200, json + '}');
}

}  // namespace

asio::awaitable<Response> handle_series(Call& call) {
  const std::vector<std::string>& rest = call.target.rest;
  const std::string_view page = rest.size() == 1 ? std::string_view(rest[0]) : std::string_view();
  if (page == "tags") co_return co_await list_tags(call);
  if (page != "metrics" && page != "keys") {
    co_return error_response(
        call, 404, "The endpoints are /api/series/metrics, /api/series/keys and /api/series/tags");
  }
  if (call.services.cardinality_counter == nullptr) {
    co_return error_response(call, 501, "This server does not count series");
  }
  if (page == "keys") co_return co_await list_keys(call);
  co_return co_await list_metrics(call);
}

}  // namespace halite::web
