// GET, POST, PUT, DELETE /api/uid/tsmeta: the metadata of a series, and its counter.
//
// Parameters  tsuid, or m=<metric>{k=v,..}; display_name, description, notes, units, data_type,
//             retention, max, min; create=true; method_override. Or a body
//             {"tsuid","displayName","description","notes","custom":{},"units","dataType",
//             "retention","max","min"}
// GET         by tsuid 200 the object with the objects of its names, "lastReceived" (s) and
//             "totalDatapoints"; 404 no metadata. By m 200 [..]: all series of the metric whose
//             tags include these
// POST        changes the given fields, PUT resets the others: 200 the object; 304 no field is
//             given. With m and create=true also for a series without metadata
// DELETE      204, even without metadata; the counter stays
// Errors      400 neither tsuid nor m, or nothing to change; 404 an unknown name in m; 400 an
//             invalid tsuid in the URI, 404 one of unknown names (500 with --opentsdb-conf)
#include <utility>

#include <fmt/format.h>

#include "common/bytes/read_number.h"
#include "common/json_list.h"
#include "storage/meta/metadata.h"
#include "web/handlers/handlers.h"
#include "web/handlers/meta_answers.h"
#include "web/handlers/uid_names.h"
#include "web/http/api_method.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

using storage::NameKind;
using storage::TsMeta;
using storage::TsMetaEdit;

Response ts_meta_response(const TsMeta& meta) {
  std::string json;
  storage::append_shown_json(json, meta);
  return json_response(200, std::move(json));
}

template <class Number>
Result<bool> number_of(const Target& target, std::string_view name, Number& number) {
  const std::string_view text = target.get(name);
  if (text.empty()) return false;
  if (!read_number(text, number)) {
    return fail(Errc::kInvalidArgument, fmt::format("Unable to parse '{}' value", name));
  }
  return true;
}

// OpenTSDB parses these two as floats.
Result<bool> limit_of(const Target& target, std::string_view name, double& limit) {
  float number = 0;
  TRY(const bool given, number_of(target, name, number));
  if (given) limit = static_cast<double>(number);
  return given;
}

Result<TsMetaEdit> parse_ts_meta_uri(const Target& target) {
  TsMetaEdit edit;
  TsMeta& meta = edit.meta;
  meta.tsuid = target.get("tsuid");
  meta.display_name = target.get("display_name");
  meta.description = target.get("description");
  meta.notes = target.get("notes");
  meta.units = target.get("units");
  meta.data_type = target.get("data_type");
  TRY_VOID(number_of(target, "retention", meta.retention));
  TRY(edit.max_given, limit_of(target, "max", meta.max));
  TRY(edit.min_given, limit_of(target, "min", meta.min));
  return edit;
}

std::expected<TsMetaEdit, Response> parse_ts_meta_request(const Call& call) {
  if (call.request.body.empty()) {
    Result<TsMetaEdit> edit = parse_ts_meta_uri(call.target);
    if (!edit) return std::unexpected(error_response(call, 400, edit.error().message));
    return std::move(*edit);
  }
  Result<TsMetaEdit> edit = storage::parse_ts_meta(call.request.body);
  if (!edit) {
    return std::unexpected(
        error_response(call, 400, "Unable to parse the given JSON", edit.error().message));
  }
  return std::move(*edit);
}

Task<storage::SeriesUids> resolve_names(storage::UidTable& uids, MetricAndTags names) {
  storage::SeriesUids series;
  CO_TRY(const auto metric, co_await uids.find(NameKind::kMetric, names.metric));
  series.metric = metric.uid;
  for (const auto& [key, value] : names.tags) {
    CO_TRY(const auto key_entry, co_await uids.find(NameKind::kTagKey, key));
    CO_TRY(const auto value_entry, co_await uids.find(NameKind::kTagValue, value));
    series.pairs.push_back({key_entry.uid, value_entry.uid});
  }
  co_return std::move(series);
}

asio::awaitable<Response> get_by_tsuid(Call& call, std::string text) {
  Result<Bytes> tsuid = storage::tsuid_bytes(text);
  if (!tsuid) co_return mistake_response(call, tsuid.error());
  const Result<std::optional<TsMeta>> meta =
      co_await call.services.metadata.ts_metas().get(std::move(*tsuid));
  if (!meta && meta.error().code == Errc::kNotFound) co_return mistake_response(call, meta.error());
  if (!meta) co_return error_response(call, meta.error());
  if (!*meta) co_return error_response(call, 404, "Could not find Timeseries meta data");
  co_return ts_meta_response(**meta);
}

asio::awaitable<Response> get_by_names(Call& call) {
  if (call.target.get("m").empty()) co_return missing_parameter(call, "m");
  Result<MetricAndTags> names = parse_metric_and_tags(call.target.get("m"));
  if (!names) co_return wrong_argument(call, names.error());
  storage::Metadata& metadata = call.services.metadata;
  const std::shared_ptr<const storage::SeriesPin> pin = metadata.uids().pin();
  Result<storage::SeriesUids> uids = co_await resolve_names(metadata.uids(), std::move(*names));
  if (!uids && uids.error().code == Errc::kNotFound) {
    co_return error_response(call, 404, "Unable to find one of the UIDs", uids.error().message);
  }
  if (!uids) co_return error_response(call, uids.error());
  const std::size_t limit = call.options.lookup_series_max;
  const Result<std::vector<TsMeta>> metas =
      co_await metadata.ts_metas().find(uids->metric, std::move(uids->pairs), limit);
  if (!metas) co_return error_response(call, metas.error());
  std::string json;
  append_json_list(json, *metas,
                   [&json](const TsMeta& meta) { storage::append_shown_json(json, meta); });
  co_return json_response(200, std::move(json));
}

asio::awaitable<Response> change(Call& call, Bytes tsuid, TsMetaEdit edit) {
  if (!edit.changes_anything()) co_return status_only(304);
  const bool replace = call.request.method == "PUT";
  storage::TsMetaStore& store = call.services.metadata.ts_metas();
  const Result<TsMeta> meta = co_await store.put(std::move(tsuid), std::move(edit), replace);
  if (meta) co_return ts_meta_response(*meta);
  if (meta.error().code == Errc::kNotFound) co_return mistake_response(call, meta.error());
  co_return save_error(call, "TSMeta", meta.error());
}

// For a series named by m.
asio::awaitable<Response> put_by_names(Call& call, TsMetaEdit edit) {
  if (call.target.get("m").empty()) co_return missing_parameter(call, "m");
  Result<MetricAndTags> names = parse_metric_and_tags(call.target.get("m"));
  if (!names) co_return wrong_argument(call, names.error());
  storage::Metadata& metadata = call.services.metadata;
  const std::shared_ptr<const storage::SeriesPin> pin = metadata.uids().pin();
  const Result<storage::SeriesUids> uids =
      co_await resolve_names(metadata.uids(), std::move(*names));
  if (!uids && uids.error().code == Errc::kNotFound) co_return mistake_response(call, uids.error());
  if (!uids) co_return error_response(call, uids.error());
  const Bytes tsuid = storage::make_tsuid(metadata.widths(), uids->metric, uids->pairs);
  edit.meta.tsuid = to_hex(tsuid);
  const Result<bool> exists = co_await metadata.ts_metas().exists(tsuid);
  if (!exists) co_return error_response(call, exists.error());
  if (*exists) co_return co_await change(call, tsuid, std::move(edit));
  if (call.target.get("create") != "true") {
    co_return error_response(call, 400,
                             "Could not find TSMeta, specify \"create=true\" to create a new one.");
  }
  const Result<bool> created = co_await metadata.ts_metas().create(tsuid, edit.meta, 0);
  if (!created) co_return save_error(call, "TSMeta", created.error());
  co_return co_await get_by_tsuid(call, edit.meta.tsuid);
}

asio::awaitable<Response> put_ts_meta(Call& call, TsMetaEdit edit) {
  if (edit.meta.tsuid.empty()) co_return co_await put_by_names(call, std::move(edit));
  Result<Bytes> tsuid = storage::tsuid_bytes(edit.meta.tsuid);
  if (!tsuid) co_return wrong_argument(call, tsuid.error());
  co_return co_await change(call, std::move(*tsuid), std::move(edit));
}

asio::awaitable<Response> remove_ts_meta(Call& call, TsMetaEdit edit) {
  Result<Bytes> tsuid = storage::tsuid_bytes(edit.meta.tsuid);
  const bool given = tsuid && !tsuid->empty();
  if (!given) {
    co_return error_response(call, 400, "Unable to delete TSMeta information",
                             tsuid ? "Missing UID" : tsuid.error().message);
  }
  const Result<void> removed = co_await call.services.metadata.ts_metas().remove(*tsuid);
  if (!removed) co_return error_response(call, removed.error());
  co_return status_only(204);
}

}  // namespace

asio::awaitable<Response> handle_ts_meta(Call& call) {
  if (std::optional<Response> refusal = override_method(call)) co_return std::move(*refusal);
  if (call.request.method == "GET") {
    const std::string* tsuid = call.target.find("tsuid");
    if (tsuid == nullptr) co_return co_await get_by_names(call);
    co_return co_await get_by_tsuid(call, *tsuid);
  }
  std::expected<TsMetaEdit, Response> edit = parse_ts_meta_request(call);
  if (!edit) co_return std::move(edit.error());
  if (call.request.method == "DELETE") co_return co_await remove_ts_meta(call, std::move(*edit));
  co_return co_await put_ts_meta(call, std::move(*edit));
}

}  // namespace halite::web
