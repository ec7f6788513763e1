// TSMeta, OpenTSDB's metadata object for a series, and its JSON.
//
//   stored  {"tsuid","displayName","description","notes","created","custom","units","dataType",
//           "retention","max","min"}, byte for byte as OpenTSDB stores it; max and min may be "NaN"
//   shown   the above with the names' objects: "metric" and "tags" (key, value, key, value..)
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "storage/meta/objects/json_fields.h"
#include "storage/meta/objects/uid_meta.h"

namespace halite::storage {

struct TsMeta {
  std::string tsuid;  // hexadecimal
  std::optional<std::string> display_name = "";
  std::optional<std::string> description = "";
  std::optional<std::string> notes = "";
  std::int64_t created_s = 0;  // seconds since 1970
  std::optional<CustomFields> custom;
  std::optional<std::string> units = "";
  std::optional<std::string> data_type = "";
  std::int32_t retention = 0;  // days, as entered by the user; 0 = no limit
  double max = std::numeric_limits<double>::quiet_NaN();
  double min = std::numeric_limits<double>::quiet_NaN();

  // From the counter; not part of the stored object.
  std::int64_t last_received_s = 0;
  std::int64_t points = 0;
  // From the names; set where the whole object is shown.
  UidMeta metric;
  std::vector<UidMeta> tags;
};

// The changes of a request. A field counts as given if it differs from its default; max and min
// count if they are present, because NaN differs from itself.
struct TsMetaEdit {
  TsMeta meta;
  bool max_given = false;
  bool min_given = false;
  [[nodiscard]] bool changes_anything() const;
};

[[nodiscard]] Result<TsMetaEdit> parse_ts_meta(std::string_view json);
[[nodiscard]] TsMeta merged(const TsMetaEdit& edit, const TsMeta& stored, bool replace);
[[nodiscard]] std::string stored_json(const TsMeta& meta);
void append_shown_json(std::string& to, const TsMeta& meta);

}  // namespace halite::storage
