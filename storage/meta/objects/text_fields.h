// Fields that annotations, UIDMeta and TSMeta share. Object is one of these types.
#pragma once

#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "common/result.h"
#include "storage/meta/objects/json_fields.h"

namespace halite::storage {

[[nodiscard]] inline bool is_empty_text(const std::optional<std::string>& text) {
  return text && text->empty();
}

// A text; null becomes an empty text.
[[nodiscard]] inline Result<std::string> plain_text(std::string_view name,
                                                    const boost::json::value& value) {
  TRY(std::optional<std::string> text, text_field(name, value));
  return std::move(text).value_or(std::string());
}

// Appends another field: a quoted text, or null.
inline void append_text_field(std::string& to, std::string_view name,
                              const std::optional<std::string>& text) {
  fmt::format_to(std::back_inserter(to), ",\"{}\":", name);
  append_text_or_null(to, text);
}

// Takes "description", "notes" and "custom". Returns false for other fields.
template <class Object>
[[nodiscard]] Result<bool> take_texts(Object& object, std::string_view name,
                                      const boost::json::value& value) {
  if (name == "description") {
    TRY(object.description, text_field(name, value));
  } else if (name == "notes") {
    TRY(object.notes, text_field(name, value));
  } else if (name == "custom") {
    TRY(object.custom, custom_field(name, value));
  } else {
    return false;
  }
  return true;
}

// Keeps the stored texts that an edit does not change.
template <class Object>
void keep_texts(Object& edited, const Object& stored) {
  if (is_empty_text(edited.description)) edited.description = stored.description;
  if (is_empty_text(edited.notes)) edited.notes = stored.notes;
  if (!edited.custom) edited.custom = stored.custom;
}

// For UIDMeta and TSMeta: also takes "displayName" and "created".
template <class Meta>
[[nodiscard]] Result<bool> take_meta_texts(Meta& meta, std::string_view name,
                                           const boost::json::value& value) {
  if (name == "displayName") {
    TRY(meta.display_name, text_field(name, value));
  } else if (name == "created") {
    TRY(meta.created_s, long_field(name, value));
  } else {
    return take_texts(meta, name, value);
  }
  return true;
}

// Keeps the earlier creation time. With `replace`, keeps the edit's texts.
template <class Meta>
void keep_meta_texts(Meta& edited, const Meta& stored, bool replace) {
  const bool older = stored.created_s < edited.created_s || edited.created_s == 0;
  if (stored.created_s > 0 && older) edited.created_s = stored.created_s;
  if (replace) return;
  if (is_empty_text(edited.display_name)) edited.display_name = stored.display_name;
  keep_texts(edited, stored);
}

}  // namespace halite::storage
