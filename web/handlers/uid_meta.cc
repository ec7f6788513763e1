// GET, POST, PUT, DELETE /api/uid/uidmeta: the metadata of a name.
//
// Parameters  uid, type (metric, tagk, tagv), display_name, description, notes; method_override.
//             Or a body {"uid","type","displayName","description","notes","custom":{}}
// GET         200 {"uid","type","name","description","notes","created","custom","displayName"},
//             with defaults if there is no metadata; 404 no name has this id
// POST        changes the given fields, PUT resets the others: 200 the object; 304 no field given
// DELETE      204, even without metadata
// Errors      400 uid or type missing; an invalid type or id in the URI (500 with --opentsdb-conf)
#include <boost/json.hpp>

#include "storage/meta/metadata.h"
#include "web/handlers/handlers.h"
#include "web/handlers/meta_answers.h"
#include "web/http/api_method.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

using storage::UidMeta;
using storage::UidMetaStore;

Response uid_not_found(const Call& call, const Error& error) {
  return error_response(call, 404, "Could not find the requested UID", error.message);
}

Response uid_meta_response(const UidMeta& meta) {
  std::string json;
  storage::append_shown_json(json, meta);
  return json_response(200, std::move(json));
}

// The object from the parameters, or the answer to an error.
std::expected<UidMeta, Response> parse_uid_meta_uri(const Call& call) {
  for (const char* name : {"uid", "type"}) {
    if (call.target.get(name).empty()) return std::unexpected(missing_parameter(call, name));
  }
  const Result<storage::NameKind> kind = storage::parse_uid_type(call.target.get("type"));
  if (!kind) return std::unexpected(mistake_response(call, kind.error()));
  UidMeta meta;
  meta.kind = *kind;
  meta.uid = call.target.get("uid");
  meta.display_name = call.target.get("display_name");
  meta.description = call.target.get("description");
  meta.notes = call.target.get("notes");
  return meta;
}

std::expected<UidMeta, Response> parse_uid_meta_request(const Call& call) {
  if (call.request.body.empty() || call.request.method == "GET") return parse_uid_meta_uri(call);
  Result<UidMeta> meta = storage::parse_uid_meta(call.request.body);
  if (!meta) {
    return std::unexpected(
        error_response(call, 400, "Unable to parse the given JSON", meta.error().message));
  }
  return std::move(*meta);
}

Result<UidMetaStore::Key> key_of(const UidMeta& meta) {
  if (meta.uid.empty()) return fail(Errc::kInvalidArgument, "Missing UID");
  if (!meta.kind) return fail(Errc::kInvalidArgument, "Missing type");
  TRY(Bytes uid, storage::tsuid_bytes(meta.uid));
  return UidMetaStore::Key{*meta.kind, std::move(uid)};
}

asio::awaitable<Response> get_uid_meta(Call& call, UidMeta wanted) {
  Result<UidMetaStore::Key> key = key_of(wanted);
  if (!key) co_return mistake_response(call, key.error());
  const Result<UidMeta> meta = co_await call.services.metadata.uid_metas().get(std::move(*key));
  if (meta) co_return uid_meta_response(*meta);
  if (meta.error().code == Errc::kNotFound) co_return uid_not_found(call, meta.error());
  if (meta.error().code == Errc::kInvalidArgument) co_return mistake_response(call, meta.error());
  co_return error_response(call, meta.error());
}

asio::awaitable<Response> put_uid_meta(Call& call, UidMeta wanted) {
  Result<UidMetaStore::Key> key = key_of(wanted);
  if (!key) co_return wrong_argument(call, key.error());
  storage::UidMetaEdit edit{std::move(wanted)};
  if (!edit.changes_anything()) co_return status_only(304);
  const bool replace = call.request.method == "PUT";
  UidMetaStore& store = call.services.metadata.uid_metas();
  const Result<UidMeta> meta = co_await store.put(std::move(*key), std::move(edit), replace);
  if (meta) co_return uid_meta_response(*meta);
  if (meta.error().code == Errc::kNotFound) co_return uid_not_found(call, meta.error());
  co_return save_error(call, "UIDMeta", meta.error());
}

asio::awaitable<Response> remove_uid_meta(Call& call, UidMeta wanted) {
  Result<UidMetaStore::Key> key = key_of(wanted);
  if (!key) {
    co_return error_response(call, 400, "Unable to delete UIDMeta information",
                             key.error().message);
  }
  const Result<void> removed = co_await call.services.metadata.uid_metas().remove(std::move(*key));
  if (removed) co_return status_only(204);
  if (removed.error().code == Errc::kInvalidArgument) {
    co_return error_response(call, 400, "Unable to delete UIDMeta information",
                             removed.error().message);
  }
  co_return error_response(call, removed.error());
}

}  // namespace

asio::awaitable<Response> handle_uid_meta(Call& call) {
  if (std::optional<Response> refusal = override_method(call)) co_return std::move(*refusal);
  std::expected<UidMeta, Response> wanted = parse_uid_meta_request(call);
  if (!wanted) co_return std::move(wanted.error());
  if (call.request.method == "GET") co_return co_await get_uid_meta(call, std::move(*wanted));
  if (call.request.method == "DELETE") co_return co_await remove_uid_meta(call, std::move(*wanted));
  co_return co_await put_uid_meta(call, std::move(*wanted));
}

}  // namespace halite::web
