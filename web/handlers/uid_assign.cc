// GET, POST /api/uid/assign: assigns ids to new names.
//
// Parameters  metric=a,b&tagk=..&tagv=..; GET only with web.get_may_write
// POST        {"metric":["a","b"],"tagk":[..],"tagv":[..]}
// Answer      200 {"metric":{"a":"000001","b":"000002"},"tagk":{..}}; with any error 400 and also
//             "metric_errors":{"a":"Name already exists with UID: 000001"}
// Errors      400 no names, or an invalid request; 405 another method
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <boost/json.hpp>

#include "common/json_string.h"
#include "ingest/writer.h"
#include "query/parse/text.h"
#include "storage/meta/metadata.h"
#include "web/handlers/handlers.h"
#include "web/handlers/meta_answers.h"
#include "web/handlers/uid_names.h"
#include "web/http/api_method.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

// Names by type, in order of arrival.
using NamesByType = std::vector<std::pair<std::string, std::vector<std::string>>>;

struct Outcome {
  std::map<std::string, std::string> ids;     // by name, hexadecimal
  std::map<std::string, std::string> errors;  // by name
};

Result<NamesByType> parse_assign_body(std::string_view body) {
  TRY(const boost::json::object object, storage::parse_json_object(body));
  NamesByType wanted;
  for (const auto& [key, value] : object) {
    TRY(std::optional<std::vector<std::string>> names,
        storage::texts_field(std::string_view(key), value));
    if (!names) return fail(Errc::kInvalidArgument, "expected a list of names");
    wanted.emplace_back(key, std::move(*names));
  }
  return wanted;
}

NamesByType parse_assign_uri(const Target& target) {
  NamesByType wanted;
  for (const char* type : {"metric", "tagk", "tagv"}) {
    std::vector<std::string> names;
    for (const std::string_view name : query::split_trimmed(target.get(type), ',')) {
      names.emplace_back(name);
    }
    const auto empty = [](const std::string& name) { return name.empty(); };
    if (!std::ranges::all_of(names, empty)) wanted.emplace_back(type, std::move(names));
  }
  return wanted;
}

// The legal names, without duplicates.
std::vector<std::string> legal_names(const Call& call, const std::string& type,
                                     const std::vector<std::string>& names, Outcome& outcome) {
  std::vector<std::string> legal;
  for (const std::string& name : names) {
    Result<void> good = call.services.writer.check_name(type, name);
    if (good && !uid_kind(type)) good = fail(Errc::kInvalidArgument, "Unknown type name");
    if (!good) {
      outcome.errors[name] = good.error().message;
    } else if (!outcome.ids.try_emplace(name).second) {
      continue;
    } else {
      legal.push_back(name);
    }
  }
  outcome.ids.clear();
  return legal;
}

std::string taken(const std::string& id) { return "Name already exists with UID: " + id; }

Task<Outcome> assign(const Call& call, std::string type, std::vector<std::string> names) {
  Outcome outcome;
  const std::vector<std::string> legal = legal_names(call, type, names, outcome);
  if (legal.empty()) co_return std::move(outcome);
  const storage::NameKind kind = *uid_kind(type);
  storage::UidTable& uids = call.services.metadata.uids();
  const auto requests = [&](bool create) {
    std::vector<storage::UidTable::NameRequest> list;
    for (const std::string& name : legal) list.push_back({kind, name, create});
    return list;
  };
  const std::shared_ptr<const storage::SeriesPin> pin = uids.pin();
  CO_TRY(const auto before, co_await uids.resolve(requests(false)));
  CO_TRY(const auto after, co_await uids.resolve(requests(true)));
  std::vector<storage::UidTable::UidRequest> by_hand;
  for (std::size_t i = 0; i < legal.size(); ++i) {
    if (!after[i]) co_return std::unexpected(after[i].error());
    const std::string id = to_hex(uids.uid_bytes(kind, after[i]->uid));
    const bool fresh = !before[i];
    if (fresh) {
      outcome.ids[legal[i]] = id;
      by_hand.push_back({kind, after[i]->uid});
    }
    // An existing name, or a duplicate.
    const bool again = std::ranges::count(names, legal[i]) > 1;
    if (!fresh || again) outcome.errors[legal[i]] = taken(id);
  }
  // Names that were assigned on request stay, even without a series.
  CO_TRY_VOID(co_await uids.keep(std::move(by_hand)));
  co_return std::move(outcome);
}

void append_texts(std::string& to, const std::map<std::string, std::string>& texts) {
  to += '{';
  for (const auto& [name, text] : texts) {
    if (to.back() != '{') to += ',';
    append_json_string(to, name);
    to += ':';
    append_json_string(to, text);
  }
  to += '}';
}

}  // namespace

asio::awaitable<Response> handle_uid_assign(Call& call) {
  const bool post = call.request.method == "POST";
  if (!post && call.request.method != "GET") co_return method_not_allowed(call);
  if (std::optional<Response> refusal = refuse_write_by_get(call)) co_return std::move(*refusal);
  if (post && call.request.body.empty()) co_return missing_content(call);
  const Result<NamesByType> wanted =
      post ? parse_assign_body(call.request.body) : parse_assign_uri(call.target);
  if (!wanted) {
    co_return error_response(call, 400, "Unable to parse the given JSON", wanted.error().message);
  }
  if (wanted->empty()) co_return error_response(call, 400, "Missing values to assign UIDs");
  std::string json = "{";
  bool good = true;
  for (const auto& [type, names] : *wanted) {
    const Result<Outcome> outcome = co_await assign(call, type, names);
    if (!outcome) co_return error_response(call, outcome.error());
    if (json.size() > 1) json += ',';
    append_json_string(json, type);
    json += ':';
    append_texts(json, outcome->ids);
    if (outcome->errors.empty()) continue;
    good = false;
    json += ',';
    append_json_string(json, type + "_errors");
    json += ':';
    append_texts(json, outcome->errors);
  }
  json += '}';
  co_return json_response(good ? 200 : 400, std::move(json));
}

}  // namespace halite::web
