// GET, POST /api/suggest and GET /suggest: names that begin with a prefix.
//
// Parameters  type = metrics | tagk | tagv; q = prefix, case-sensitive (default ""); max
//             (default 25, at most web.suggest_names_max); start, end: only names of series with
//             points from start to end (as in queries; no end: now). POST: a JSON object of texts
// Answer      200 ["name",..] in byte order
// Errors      400 a missing or unknown type, max is not a number, an end without a start
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "common/bytes/read_number.h"
#include "common/json_list.h"
#include "query/engine/engine.h"
#include "query/limits.h"
#include "query/query_budget.h"
#include "storage/api/point_store.h"
#include "web/handlers/active_names.h"
#include "web/handlers/handlers.h"
#include "web/json/json_in.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kSuggestedNamesDefault = 25;

struct SuggestRequest {
  storage::NameKind kind = storage::NameKind::kMetric;
  std::string prefix;
  std::size_t max = kSuggestedNamesDefault;
  std::optional<TimeRange> range;  // of points; nullopt = any
};

Result<storage::NameKind> kind_of(std::string_view type) {
  if (type == "metrics") return storage::NameKind::kMetric;
  if (type == "tagk") return storage::NameKind::kTagKey;
  if (type == "tagv") return storage::NameKind::kTagValue;
  return fail(Errc::kInvalidArgument, fmt::format("Invalid 'type' parameter:{}", type));
}

Result<std::size_t> parse_names_max(std::string_view text, std::size_t most) {
  std::int64_t value = 0;
  if (!read_number(text, value)) {
    return fail(Errc::kInvalidArgument, "Unable to parse 'max' as a number");
  }
  if (value <= 0) return kSuggestedNamesDefault;
  return std::min(static_cast<std::size_t>(value), most);
}

Result<SuggestRequest> parse_suggest_request(const Call& call) {
  std::map<std::string, std::string> fields;
  const bool post = call.request.method == "POST";
  if (post) {
    TRY(fields, parse_flat_object(call.request.body));
  } else {
    for (const auto& [name, value] : call.target.parameters) fields[name] = value;
  }
  SuggestRequest wanted;
  const std::string& type = fields["type"];
  if (type.empty()) {
    return fail(Errc::kInvalidArgument,
                post ? "Missing 'type' parameter" : "Missing parameter <code>type</code>");
  }
  TRY(wanted.kind, kind_of(type));
  wanted.prefix = fields["q"];
  if (!fields["max"].empty()) {
    TRY(wanted.max, parse_names_max(fields["max"], call.options.suggest_names_max));
  }
  TRY(wanted.range, parse_range(call, fields["start"], fields["end"]));
  return wanted;
}

Task<std::vector<std::string>> suggest_names(const Call& call, SuggestRequest wanted) {
  storage::PointStore& store = call.services.store;
  if (!wanted.range) {
    co_return co_await store.suggest(wanted.kind, std::move(wanted.prefix), wanted.max);
  }
  // Only time and memory limit how many series are visited.
  query::QueryLimits limits = call.services.engine.limits();
  limits.series_max = std::numeric_limits<std::uint64_t>::max();
  auto budget = std::make_shared<query::QueryBudget>(limits, call.services.clock, call.stop);
  ActiveNames alive{.kind = wanted.kind,
                    .prefix = std::move(wanted.prefix),
                    .max = wanted.max,
                    .range = *wanted.range};
  co_return co_await find_active_names(store, std::move(alive), std::move(budget));
}

}  // namespace

asio::awaitable<Response> handle_suggest(Call& call) {
  Result<SuggestRequest> wanted = parse_suggest_request(call);
  if (!wanted) co_return error_response(call, wanted.error());
  const Result<std::vector<std::string>> names = co_await suggest_names(call, std::move(*wanted));
  if (!names) co_return error_response(call, names.error());
  std::string json;
  append_json_texts(json, *names);
  co_return json_response(200, std::move(json));
}

}  // namespace halite::web
