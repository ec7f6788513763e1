#include "storage/meta/objects/uid_meta.h"

#include <array>
#include <iterator>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/json_string.h"
#include "storage/catalog/names/name_kind.h"
#include "storage/meta/objects/merge_put.h"
#include "storage/meta/objects/text_fields.h"

namespace halite::storage {

namespace json = boost::json;

namespace {

constexpr Family kNameFamily = 1;

Column column_of(NameKind kind) {
  constexpr std::array kQualifiers = {"metric_meta", "tagk_meta", "tagv_meta"};
  return Column{kNameFamily, kQualifiers[static_cast<std::size_t>(kind)]};
}

Result<UidMeta> parse_stored_uid_meta(const UidMetaStore::Key& key, const Bytes& cell) {
  Result<UidMeta> meta = parse_uid_meta(cell);
  if (!meta) {
    return fail(Errc::kCorruption,
                fmt::format("the {} in row {}: {}", column_of(key.kind).qualifier, to_hex(key.uid),
                            meta.error().message));
  }
  return meta;
}

UidMeta named(const UidMetaStore::Key& key, UidMeta meta, std::string_view name) {
  meta.kind = key.kind;
  meta.uid = to_hex(key.uid);
  meta.name = name;
  return meta;
}

}  // namespace

bool UidMetaEdit::changes_anything() const {
  return !is_empty_text(meta.display_name) || !is_empty_text(meta.description) ||
         !is_empty_text(meta.notes) || meta.custom.has_value() || meta.created_s != 0;
}

Result<NameKind> parse_uid_type(std::string_view text) {
  const std::string type = to_lower(text);
  if (type == "metric" || type == "metrics") return NameKind::kMetric;
  if (type == "tagk") return NameKind::kTagKey;
  if (type == "tagv") return NameKind::kTagValue;
  if (type.empty()) return fail(Errc::kInvalidArgument, "Type string was empty");
  return fail(Errc::kInvalidArgument, fmt::format("Invalid type requested: {}", text));
}

std::string_view uid_type_text(NameKind kind) {
  constexpr std::array kTypes = {"METRIC", "TAGK", "TAGV"};
  return kTypes[static_cast<std::size_t>(kind)];
}

Result<UidMeta> parse_uid_meta(const json::object& object) {
  UidMeta meta;
  for (const auto& [key, value] : object) {
    const std::string_view name = key;
    if (name == "uid") {
      TRY(meta.uid, plain_text(name, value));
    } else if (name == "type") {
      TRY(const std::string type, plain_text(name, value));
      TRY(meta.kind, parse_uid_type(type));
    } else {
      TRY_VOID(take_meta_texts(meta, name, value));
    }
  }
  return meta;
}

Result<UidMeta> parse_uid_meta(std::string_view text) {
  TRY(const json::object object, parse_json_object(text));
  return parse_uid_meta(object);
}

UidMeta merged(const UidMetaEdit& edit, const UidMeta& stored, bool replace) {
  UidMeta meta = edit.meta;
  keep_meta_texts(meta, stored, replace);
  return meta;
}

std::string stored_json(const UidMeta& meta) {
  std::string text = "{\"type\":";
  append_json_string(text, uid_type_text(meta.kind.value_or(NameKind::kMetric)));
  append_text_field(text, "displayName", meta.display_name);
  append_text_field(text, "description", meta.description);
  append_text_field(text, "notes", meta.notes);
  fmt::format_to(std::back_inserter(text), ",\"created\":{},\"custom\":", meta.created_s);
  append_custom_java(text, meta.custom);
  text += '}';
  return text;
}

void append_shown_json(std::string& to, const UidMeta& meta) {
  to += "{\"uid\":";
  append_json_string(to, meta.uid);
  to += ",\"type\":";
  append_json_string(to, uid_type_text(meta.kind.value_or(NameKind::kMetric)));
  to += ",\"name\":";
  append_json_string(to, meta.name);
  append_text_field(to, "description", meta.description);
  append_text_field(to, "notes", meta.notes);
  fmt::format_to(std::back_inserter(to), ",\"created\":{},\"custom\":", meta.created_s);
  append_custom(to, meta.custom);
  append_text_field(to, "displayName", meta.display_name);
  to += '}';
}

UidMetaStore::UidMetaStore(std::shared_ptr<Table> table, UidTable& uids, UidWidths widths)
    : table_(std::move(table)), uids_(uids), widths_(widths) {}

Result<std::uint64_t> UidMetaStore::number_of(const Key& key) const {
  const std::array widths = {widths_.metric, widths_.tag_key, widths_.tag_value};
  const std::size_t width = widths[static_cast<std::size_t>(key.kind)];
  if (key.uid.size() != width) {
    return fail(Errc::kInvalidArgument,
                fmt::format("Wrong id.length = {} which is != {} required for '{}'", key.uid.size(),
                            width, name_kind_text(key.kind)));
  }
  return load_be_width(key.uid);
}

Task<UidMeta> UidMetaStore::get(Key key) {
  std::vector<Key> keys{std::move(key)};
  CO_TRY(std::vector<UidMeta> metas, co_await get_all(std::move(keys)));
  co_return std::move(metas.front());
}

Task<std::vector<UidMeta>> UidMetaStore::get_all(std::vector<Key> keys) {
  const std::shared_ptr<const SeriesPin> pin = uids_.pin();
  std::vector<UidTable::UidRequest> requests;
  std::vector<RowRead> reads;
  for (const Key& key : keys) {
    CO_TRY(const std::uint64_t uid, number_of(key));
    requests.push_back({key.kind, uid});
    reads.push_back(RowRead{key.uid, kNameFamily, {column_of(key.kind).qualifier}});
  }
  CO_TRY(const auto names, co_await uids_.names_of(std::move(requests)));
  for (const auto& name : names) {
    if (!name) co_return std::unexpected(name.error());
  }
  CO_TRY(const std::vector<Row> rows, co_await table_->read(std::move(reads)));
  std::vector<UidMeta> metas;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    UidMeta meta;
    if (!rows[i].cells.empty()) {
      CO_TRY(meta, parse_stored_uid_meta(keys[i], rows[i].cells.front().value));
    }
    metas.push_back(named(keys[i], std::move(meta), names[i]->name));
  }
  co_return std::move(metas);
}

Task<UidMeta> UidMetaStore::put(Key key, UidMetaEdit edit, bool replace) {
  const std::shared_ptr<const SeriesPin> pin = uids_.pin();
  CO_TRY(const std::uint64_t uid, number_of(key));
  CO_TRY(const UidTable::NameMapping entry, co_await uids_.name_of(key.kind, uid));
  edit.meta = named(key, std::move(edit.meta), entry.name);
  UidMeta result;
  const auto merge = [&](const std::optional<Bytes>& stored) -> Result<std::optional<Bytes>> {
    result = edit.meta;
    if (stored) {
      TRY(const UidMeta before, parse_stored_uid_meta(key, *stored));
      result = merged(edit, before, replace);
    }
    return stored_json(result);
  };
  const Column column = column_of(key.kind);
  CO_TRY_VOID(co_await flush_rows());
  CO_TRY_VOID(co_await merge_put(*table_, key.uid, column, merge));
  co_return std::move(result);
}

Task<void> UidMetaStore::create(NameKind kind, std::uint64_t uid, std::int64_t created_s) {
  UidMeta meta;
  meta.kind = kind;
  meta.created_s = created_s;
  const auto merge = [&](const std::optional<Bytes>& stored) -> Result<std::optional<Bytes>> {
    if (stored) return std::nullopt;
    return stored_json(meta);
  };
  const Bytes row = uids_.uid_bytes(kind, uid);
  const Column column = column_of(kind);
  CO_TRY_VOID(co_await flush_rows());
  co_return co_await merge_put(*table_, row, column, merge);
}

Task<void> UidMetaStore::flush_rows() { return uids_.flush_rows(); }

Task<void> UidMetaStore::remove(Key key) {
  CO_TRY_VOID(number_of(key));
  std::vector<RowWrite> writes(1);
  writes[0].row = key.uid;
  writes[0].deletes.push_back(column_of(key.kind));
  co_return co_await table_->write(std::move(writes));
}

}  // namespace halite::storage
