#include "storage/meta/objects/ts_meta.h"

#include <cmath>
#include <iterator>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "common/java/java_double.h"
#include "common/json_string.h"
#include "storage/meta/objects/text_fields.h"

namespace halite::storage {

namespace json = boost::json;

namespace {

// Formats a double as Jackson does, with quotes if it is not finite.
void append_number(std::string& to, double value) {
  if (!std::isfinite(value)) to += '"';
  append_java_double(to, value);
  if (!std::isfinite(value)) to += '"';
}

// Omits null.
void append_shown_field(std::string& to, std::string_view name,
                        const std::optional<std::string>& text) {
  if (text) append_text_field(to, name, text);
}

Result<void> take_field(TsMetaEdit& edit, std::string_view name, const json::value& value) {
  TsMeta& meta = edit.meta;
  if (name == "tsuid") {
    TRY(meta.tsuid, plain_text(name, value));
  } else if (name == "units") {
    TRY(meta.units, text_field(name, value));
  } else if (name == "dataType") {
    TRY(meta.data_type, text_field(name, value));
  } else if (name == "retention") {
    TRY(meta.retention, int_field(name, value));
  } else if (name == "max") {
    TRY(meta.max, double_field(name, value));
    edit.max_given = true;
  } else if (name == "min") {
    TRY(meta.min, double_field(name, value));
    edit.min_given = true;
  } else {
    TRY_VOID(take_meta_texts(meta, name, value));
  }
  return {};
}

}  // namespace

bool TsMetaEdit::changes_anything() const {
  const bool texts = !is_empty_text(meta.display_name) || !is_empty_text(meta.description) ||
                     !is_empty_text(meta.notes) || !is_empty_text(meta.units) ||
                     !is_empty_text(meta.data_type);
  return texts || meta.custom.has_value() || meta.created_s != 0 || meta.retention != 0 ||
         max_given || min_given;
}

Result<TsMetaEdit> parse_ts_meta(std::string_view text) {
  TRY(const json::object object, parse_json_object(text));
  TsMetaEdit edit;
  for (const auto& [key, value] : object) {
    TRY_VOID(take_field(edit, key, value));
  }
  return edit;
}

TsMeta merged(const TsMetaEdit& edit, const TsMeta& stored, bool replace) {
  TsMeta meta = edit.meta;
  keep_meta_texts(meta, stored, replace);
  if (replace) return meta;
  if (is_empty_text(meta.units)) meta.units = stored.units;
  if (is_empty_text(meta.data_type)) meta.data_type = stored.data_type;
  if (meta.retention == 0) meta.retention = stored.retention;
  if (!edit.max_given) meta.max = stored.max;
  if (!edit.min_given) meta.min = stored.min;
  return meta;
}

std::string stored_json(const TsMeta& meta) {
  std::string text = "{\"tsuid\":";
  append_json_string(text, meta.tsuid);
  append_text_field(text, "displayName", meta.display_name);
  append_text_field(text, "description", meta.description);
  append_text_field(text, "notes", meta.notes);
  fmt::format_to(std::back_inserter(text), ",\"created\":{},\"custom\":", meta.created_s);
  append_custom_java(text, meta.custom);
  append_text_field(text, "units", meta.units);
  append_text_field(text, "dataType", meta.data_type);
  fmt::format_to(std::back_inserter(text), ",\"retention\":{},\"max\":", meta.retention);
  append_number(text, meta.max);
  text += ",\"min\":";
  append_number(text, meta.min);
  text += '}';
  return text;
}

void append_shown_json(std::string& to, const TsMeta& meta) {
  to += "{\"tsuid\":";
  append_json_string(to, meta.tsuid);
  to += ",\"metric\":";
  append_shown_json(to, meta.metric);
  to += ",\"tags\":[";
  for (const UidMeta& tag : meta.tags) {
    if (to.back() != '[') to += ',';
    append_shown_json(to, tag);
  }
  to += ']';
  append_shown_field(to, "description", meta.description);
  append_shown_field(to, "notes", meta.notes);
  fmt::format_to(std::back_inserter(to), ",\"created\":{}", meta.created_s);
  if (meta.custom) {
    to += ",\"custom\":";
    append_custom(to, meta.custom);
  }
  append_shown_field(to, "units", meta.units);
  fmt::format_to(std::back_inserter(to), ",\"retention\":{},\"max\":", meta.retention);
  append_number(to, meta.max);
  to += ",\"min\":";
  append_number(to, meta.min);
  append_shown_field(to, "displayName", meta.display_name);
  append_shown_field(to, "dataType", meta.data_type);
  fmt::format_to(std::back_inserter(to), ",\"lastReceived\":{},\"totalDatapoints\":{}}}",
                 meta.last_received_s, meta.points);
}

}  // namespace halite::storage
