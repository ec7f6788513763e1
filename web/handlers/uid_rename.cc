// GET, POST /api/uid/rename: gives an id another name. Its points then have the new name.
//
// Parameters  metric|tagk|tagv=<old name>, name=<new name>; GET only with web.get_may_write
// POST        a JSON object with these fields
// Answer      200 {"result":"true"}; 400 {"result":"false","error":".."}
// Errors      400 a missing name, or an invalid request; 405 another method
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/java/java_map.h"
#include "common/json_string.h"
#include "ingest/writer.h"
#include "storage/catalog/names/name_kind.h"
#include "storage/meta/metadata.h"
#include "web/handlers/handlers.h"
#include "web/handlers/meta_answers.h"
#include "web/handlers/uid_names.h"
#include "web/http/api_method.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

struct Rename {
  std::optional<std::string> type;
  std::optional<std::string> old_name;
  std::optional<std::string> new_name;
};

// If several types are named, the last one in OpenTSDB's map counts.
Rename choose_fields(const std::vector<std::pair<std::string, std::optional<std::string>>>& fields,
                     std::uint32_t map_capacity) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : fields) keys.push_back(key);
  Rename wanted;
  for (const std::string& key : java_map_order(keys, map_capacity)) {
    const auto field = std::ranges::find(fields, key, [](const auto& one) { return one.first; });
    if (key == "name") {
      wanted.new_name = field->second;
    } else {
      wanted.type = key;
      wanted.old_name = field->second;
    }
  }
  return wanted;
}

Result<Rename> parse_rename_body(std::string_view body) {
  TRY(const boost::json::object object, storage::parse_json_object(body));
  std::vector<std::pair<std::string, std::optional<std::string>>> fields;
  for (const auto& [key, value] : object) {
    TRY(std::optional<std::string> text, storage::text_field(std::string_view(key), value));
    fields.emplace_back(key, std::move(text));
  }
  return choose_fields(fields, kJavaMapCapacity);
}

Rename parse_rename_uri(const Target& target) {
  std::vector<std::pair<std::string, std::optional<std::string>>> fields;
  for (const char* key : {"metric", "tagk", "tagv", "name"}) {
    if (!target.get(key).empty()) fields.emplace_back(key, target.get(key));
  }
  return choose_fields(fields, 3);
}

Task<void> rename(const Call& call, Rename wanted) {
  CO_TRY_VOID(call.services.writer.check_name(*wanted.type, *wanted.old_name));
  CO_TRY_VOID(call.services.writer.check_name(*wanted.type, *wanted.new_name));
  const std::optional<storage::NameKind> kind = uid_kind(*wanted.type);
  if (!kind) co_return fail(Errc::kInvalidArgument, "Unknown type name");
  storage::UidTable& uids = call.services.metadata.uids();
  const std::shared_ptr<const storage::SeriesPin> pin = uids.pin();
  const auto old_entry = co_await uids.find(*kind, *wanted.old_name);
  if (!old_entry && old_entry.error().code == Errc::kNotFound) {
    co_return fail(Errc::kInvalidArgument,
                   fmt::format("Name(\"{}\") does not exist", *wanted.old_name));
  }
  if (!old_entry) co_return std::unexpected(old_entry.error());
  const auto holder = co_await uids.find(*kind, *wanted.new_name);
  if (holder) {
    std::vector<int> bytes;
    for (const char byte : uids.uid_bytes(*kind, holder->uid)) {
      bytes.push_back(static_cast<signed char>(byte));
    }
    co_return fail(Errc::kConflict,
                   fmt::format("When trying rename(\"{}\", \"{}\") on {}: new name already "
                               "assigned ID=[{}]",
                               *wanted.old_name, *wanted.new_name, storage::name_kind_text(*kind),
                               fmt::join(bytes, ", ")));
  }
  if (holder.error().code != Errc::kNotFound) co_return std::unexpected(holder.error());
  const Result<void> renamed = co_await uids.rename(*kind, *wanted.old_name, *wanted.new_name);
  // Cached keys with the old name must be looked up again.
  call.services.writer.clear_series_cache();
  co_return renamed;
}

}  // namespace

asio::awaitable<Response> handle_uid_rename(Call& call) {
  const bool post = call.request.method == "POST";
  if (!post && call.request.method != "GET") co_return method_not_allowed(call);
  if (std::optional<Response> refusal = refuse_write_by_get(call)) co_return std::move(*refusal);
  if (post && call.request.body.empty()) co_return missing_content(call);
  Result<Rename> wanted =
      post ? parse_rename_body(call.request.body) : parse_rename_uri(call.target);
  if (!wanted) {
    co_return error_response(call, 400, "Unable to parse the given JSON", wanted.error().message);
  }
  if (!wanted->type || !wanted->old_name || !wanted->new_name) {
    co_return error_response(call, 400, "Missing necessary values to rename UID");
  }
  const Result<void> renamed = co_await rename(call, std::move(*wanted));
  if (renamed) co_return json_response(200, R"({"result":"true"})");
  const Errc code = renamed.error().code;
  if (code != Errc::kInvalidArgument && code != Errc::kConflict) {
    co_return error_response(call, renamed.error());
  }
  std::string json = R"({"result":"false","error":)";
  append_json_string(json, renamed.error().message);
  json += '}';
  co_return json_response(400, std::move(json));
}

}  // namespace halite::web
