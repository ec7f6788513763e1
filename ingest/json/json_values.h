// JSON values, read as Jackson reads them for OpenTSDB. Private to ingest/.
//
// Errors fail the whole body: "Unable to parse the given JSON".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <simdjson.h>

#include "common/result.h"

namespace halite::ingest {

struct SentPoint;

// A scalar as text, by Jackson's rules; nullopt for null.
[[nodiscard]] Result<std::optional<std::string>> scalar_text(std::string_view token);

[[nodiscard]] Result<std::string> key_text(simdjson::ondemand::field& field);

// A Java long: fractions are truncated, digits may be quoted, null is 0.
[[nodiscard]] Result<std::int64_t> read_long(std::string_view token);

// Skips a value that is not used, and checks that it is JSON. `depth` counts the arrays and objects
// around the value, itself included.
[[nodiscard]] Result<void> skip_json(simdjson::ondemand::value& value, std::size_t depth,
                                     std::size_t depth_max);

// Reads a field that all kinds of points have. Skips any other field.
[[nodiscard]] Result<void> read_point_field(std::string_view key, simdjson::ondemand::value& value,
                                            SentPoint& point, std::size_t depth_max);

}  // namespace halite::ingest
