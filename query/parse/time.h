// Times, durations and time zones in OpenTSDB's syntax.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <cctz/time_zone.h>

#include "common/clock.h"
#include "common/result.h"
#include "query/parse/parse_context.h"

namespace halite::query {

// "1h-ago", "2013/01/01-00:00:00", "1356998400", "now", ...
[[nodiscard]] Result<TimestampMs> parse_time(std::string_view text, const ParseContext& context);

// Parses "90s", "1h", "2n" to milliseconds (a month has 30 days, a year 365). As in OpenTSDB, only
// the last letter counts ("10min" is ten months), and fractions are dropped ("1.5h" is one hour).
[[nodiscard]] Result<std::int64_t> parse_duration(std::string_view text);

// Lists the system's time zones in advance, so that no query waits for it. Thread-safe.
void load_time_zone_names();

// Finds a zone in the system's time zone data ("Europe/Paris"); empty is UTC. The first call for a
// zone reads a small file. Thread-safe.
[[nodiscard]] std::optional<cctz::time_zone> find_time_zone(std::string_view name);

// The instant of a local time, as in Java's calendar. If a clock change repeats the time, this is
// the second occurrence. If a clock change skips it, the result moves forward by the change.
[[nodiscard]] std::int64_t local_to_seconds(const cctz::civil_second& local,
                                            const cctz::time_zone& zone);

// Parses a decimal integer with an optional sign. Messages are OpenTSDB's.
[[nodiscard]] Result<std::int64_t> parse_integer(std::string_view text);

// One more than the greatest time that OpenTSDB accepts (13 digits of milliseconds).
inline constexpr TimestampMs kTimeEnd = 10'000'000'000'000;

}  // namespace halite::query
