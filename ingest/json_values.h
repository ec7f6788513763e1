// Values of a JSON body, read as Jackson reads them for OpenTSDB. Private to ingest/.
//
// Errors are the whole body's: "Unable to parse the given JSON".
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

// The text of a scalar, as Jackson gives it where a text is wanted; nothing for null.
[[nodiscard]] Result<std::optional<std::string>> scalar_text(std::string_view token);

[[nodiscard]] Result<std::string> key_text(simdjson::ondemand::field& field);

// A Java long: fractions are cut, digits may be quoted, null is 0.
[[nodiscard]] Result<std::int64_t> read_long(std::string_view token);

// Walks over a value of no interest. All of the body must be JSON, also what is skipped. `depth`
// counts the arrays and objects around the value, itself included.
[[nodiscard]] Result<void> skip_json(simdjson::ondemand::value& value, std::size_t depth,
                                     std::size_t depth_max);

// A field that every kind of point has, or one that none has (skipped).
[[nodiscard]] Result<void> read_point_field(std::string_view key, simdjson::ondemand::value& value,
                                            SentPoint& point, std::size_t depth_max);

}  // namespace halite::ingest
