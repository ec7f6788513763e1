#include "storage/meta/objects/annotation.h"

#include <iterator>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "common/json_string.h"
#include "storage/meta/objects/text_fields.h"

namespace halite::storage {

namespace json = boost::json;

bool AnnotationEdit::changes_anything() const {
  return note.end_time != 0 || !is_empty_text(note.description) || !is_empty_text(note.notes) ||
         note.custom.has_value();
}

Result<Annotation> parse_annotation(const json::object& object) {
  Annotation note;
  for (const auto& [key, value] : object) {
    const std::string_view name = key;
    if (name == "tsuid") {
      TRY(note.tsuid, plain_text(name, value));
    } else if (name == "startTime") {
      TRY(note.start_time, long_field(name, value));
    } else if (name == "endTime") {
      TRY(note.end_time, long_field(name, value));
    } else {
      TRY_VOID(take_texts(note, name, value));
    }
  }
  return note;
}

Result<Annotation> parse_annotation(std::string_view text) {
  TRY(const json::object object, parse_json_object(text));
  return parse_annotation(object);
}

Annotation merged(const AnnotationEdit& edit, const Annotation& stored, bool replace) {
  Annotation note = edit.note;
  if (stored.start_time > 0 && stored.start_time < note.start_time) {
    note.start_time = stored.start_time;
  }
  if (replace) return note;
  if (note.end_time == 0) note.end_time = stored.end_time;
  keep_texts(note, stored);
  return note;
}

std::string stored_json(const Annotation& note) {
  std::string text = "{";
  if (!note.tsuid.empty()) {
    text += "\"tsuid\":";
    append_json_string(text, note.tsuid);
    text += ',';
  }
  fmt::format_to(std::back_inserter(text),
                 "\"startTime\":{},\"endTime\":{},\"description\":", note.start_time,
                 note.end_time);
  append_text_or_null(text, note.description);
  text += ",\"notes\":";
  append_text_or_null(text, note.notes);
  text += ",\"custom\":";
  append_custom(text, note.custom);
  text += '}';
  return text;
}

void append_shown_json(std::string& to, const Annotation& note) {
  to += "{\"tsuid\":";
  append_json_string(to, note.tsuid);
  if (note.description) {
    to += ",\"description\":";
    append_json_string(to, *note.description);
  }
  if (note.notes) {
    to += ",\"notes\":";
    append_json_string(to, *note.notes);
  }
  if (note.custom) {
    to += ",\"custom\":";
    append_custom(to, note.custom);
  }
  fmt::format_to(std::back_inserter(to), ",\"startTime\":{},\"endTime\":{}}}", note.start_time,
                 note.end_time);
}

Result<Bytes> tsuid_bytes(std::string_view tsuid) {
  std::string digits(tsuid);
  if (digits.size() % 2 != 0) digits.insert(digits.begin(), '0');
  Result<Bytes> bytes = from_hex(digits);
  if (!bytes) {
    return fail(Errc::kInvalidArgument,
                fmt::format("contains illegal character for hexBinary: {}", digits));
  }
  return bytes;
}

}  // namespace halite::storage
