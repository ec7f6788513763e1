// An annotation: a text attached to a time, of one series or global, with its two forms in JSON.
//
//   stored  {"tsuid":"..","startTime":n,"endTime":n,"description":"..","notes":"..","custom":null}
//           byte for byte as OpenTSDB stores it; a global one has no tsuid
//   shown   {"tsuid":"..","description":"..","notes":"..","custom":{..},"startTime":n,"endTime":n}
//           without texts and custom fields that are null
//
//   Times   seconds, or milliseconds from 2^32 on, as given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "common/result.h"
#include "storage/meta/objects/json_fields.h"

namespace halite::storage {

struct Annotation {
  std::string tsuid;  // hexadecimal as given; empty = global
  std::int64_t start_time = 0;
  std::int64_t end_time = 0;  // 0 = none
  std::optional<std::string> description = "";
  std::optional<std::string> notes = "";
  std::optional<CustomFields> custom;
  bool operator==(const Annotation&) const = default;
};

// The changes of a request. Like OpenTSDB, it counts a field as given if it differs from its
// default: "notes":"" changes nothing.
struct AnnotationEdit {
  Annotation note;
  [[nodiscard]] bool changes_anything() const;
};

// Parses a request's body or a stored cell; ignores unknown fields.
[[nodiscard]] Result<Annotation> parse_annotation(const boost::json::object& object);
[[nodiscard]] Result<Annotation> parse_annotation(std::string_view json);

// The result of `edit` applied to `stored`; `replace` resets the fields that it does not give.
[[nodiscard]] Annotation merged(const AnnotationEdit& edit, const Annotation& stored, bool replace);

[[nodiscard]] std::string stored_json(const Annotation& note);
void append_shown_json(std::string& to, const Annotation& note);

// The tsuid as bytes; empty for a global annotation. kInvalidArgument: not hexadecimal. An odd
// number of digits gets a leading zero.
[[nodiscard]] Result<Bytes> tsuid_bytes(std::string_view tsuid);

[[nodiscard]] inline bool is_milliseconds(std::int64_t time) {
  return (static_cast<std::uint64_t>(time) >> 32) != 0;
}
[[nodiscard]] inline TimestampMs to_milliseconds(std::int64_t time) {
  return is_milliseconds(time) ? time : time * 1000;
}

}  // namespace halite::storage
