// GET /api/views: the views and how much of them is computed. POST /api/views/<name>/rebuild:
// computes a view anew in the background; until then queries read points.
//
// Parameters  none
// Answer      200 [{"name":"..","metrics":"cpu.*","intervalMs","functions":["count",..],
//             "groupBy":["dc"] or null,"keepMs","existing","unitsBuilt","unitsWaiting","lagMs",
//             "timeLeftMs","cells","bytes","building":"..","error":".."},..]: metrics that exist
//             now, and units of them (hours, or buckets if these are longer). lagMs and timeLeftMs
//             may be null. With --store hbase also "computedBy":"host:port","computedHere"; on
//             servers that do not compute, "unitsWaiting" is null
//             204 the view will be computed anew
// Errors      404 unknown view or page; 405 wrong method; 409 another server computes the views;
//             501 views are not available here
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/json_list.h"
#include "common/json_string.h"
#include "storage/views/shared/shared_views.h"
#include "storage/views/view_store.h"
#include "web/handlers/handlers.h"
#include "web/http/api_method.h"

namespace halite::web {
namespace {

std::string or_null(std::optional<std::int64_t> number) {
  return number ? std::to_string(*number) : "null";
}

// `shared`: where the views are computed, if it is one of several servers; null otherwise.
void append_view(std::string& to, const storage::ViewStatus& view,
                 const storage::SharedViewStatus* shared) {
  const storage::ViewRule& rule = view.rule;
  to += "{\"name\":";
  append_json_string(to, rule.name);
  to += ",\"metrics\":";
  append_json_string(to, rule.metrics);
  fmt::format_to(std::back_inserter(to), ",\"intervalMs\":{},\"functions\":[\"count\"{}{}{}",
                 rule.interval_ms, rule.functions.sum ? ",\"sum\"" : "",
                 rule.functions.min ? ",\"min\"" : "", rule.functions.max ? ",\"max\"" : "");
  for (const std::string& name : rule.percentiles) to += ",\"" + name + '"';
  to += "],\"groupBy\":";
  if (rule.group_by) {
    append_json_list(to, *rule.group_by,
                     [&to](const std::string& key) { append_json_string(to, key); });
  } else {
    to += "null";
  }
  const bool waiting_known = shared == nullptr || shared->holds;
  fmt::format_to(std::back_inserter(to),
                 R"(,"keepMs":{},"existing":{},"unitsBuilt":{},"unitsWaiting":{},"lagMs":{},)"
                 R"("timeLeftMs":{},"cells":{},"bytes":{},"building":)",
                 rule.keep_ms, view.metrics, view.units_built,
                 waiting_known ? std::to_string(view.units_waiting) : "null", or_null(view.lag_ms),
                 or_null(view.time_left_ms), view.stored.cells, view.stored.bytes);
  append_json_string(to, view.building);
  to += ",\"error\":";
  append_json_string(to, view.error);
  if (shared != nullptr) {
    to += ",\"computedBy\":";
    append_json_string(to, shared->holder);
    to += shared->holds ? ",\"computedHere\":true" : ",\"computedHere\":false";
  }
  to += '}';
}

std::string list_of(const std::vector<storage::ViewStatus>& views,
                    const storage::SharedViewStatus* shared) {
  std::string json;
  append_json_list(json, views,
                   [&](const storage::ViewStatus& view) { append_view(json, view, shared); });
  return json;
}

}  // namespace

boost::asio::awaitable<Response> handle_views(Call& call) {
  storage::ViewStore* const views = call.services.views;
  storage::SharedViews* const shared = call.services.shared_views;
  if (views == nullptr && shared == nullptr) {
    co_return error_response(
        call, 501,
        "This server has no views: with --store hbase they need [[views]] in the settings");
  }
  const auto& rest = call.target.rest;
  if (rest.empty()) {
    if (call.request.method == "POST") co_return method_not_allowed(call);
    if (shared == nullptr) {
      auto asking = views->status();
      const auto status = co_await std::move(asking);
      if (!status) co_return error_response(call, status.error());
      co_return json_response(200, list_of(*status, nullptr));
    }
    auto asking = shared->status();
    const Result<storage::SharedViewStatus> status = co_await std::move(asking);
    if (!status) co_return error_response(call, status.error());
    co_return json_response(200, list_of(status->views, &*status));
  }
  if (rest.size() != 2 || rest[1] != "rebuild") {
    co_return error_response(call, 404,
                             "The endpoints are /api/views and /api/views/<name>/rebuild");
  }
  if (call.request.method != "POST") co_return method_not_allowed(call);
  std::string name(rest[0]);
  auto rebuilding = shared != nullptr ? shared->rebuild(name) : views->rebuild(name);
  const Result<void> begun = co_await std::move(rebuilding);
  if (!begun) co_return error_response(call, begun.error());
  co_return json_response(204, "");
}

}  // namespace halite::web
