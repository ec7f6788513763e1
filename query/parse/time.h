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

// Milliseconds of "90s", "1h", "2n" (a month is 30 days, a year 365). Only the last letter counts
// ("10min" is ten months) and a fraction is cut ("1.5h" is one hour), as in OpenTSDB.
[[nodiscard]] Result<std::int64_t> parse_duration(std::string_view text);

// Reads which time zones the system has, so that no question waits for that. Thread-safe.
void load_time_zone_names();

// A zone of the system's time zone data ("Europe/Paris"); empty is UTC. The first call for a zone
// reads its small file. Thread-safe.
[[nodiscard]] std::optional<cctz::time_zone> find_time_zone(std::string_view name);

// The instant of a local time: one that a clock change repeats is its second coming, one that it
// skips is pushed on by the change. As Java's calendar does it.
[[nodiscard]] std::int64_t local_to_seconds(const cctz::civil_second& local,
                                            const cctz::time_zone& zone);

// A decimal integer with an optional sign, with OpenTSDB's messages.
[[nodiscard]] Result<std::int64_t> parse_integer(std::string_view text);

// One greater than the greatest time OpenTSDB takes (13 digits of milliseconds).
inline constexpr TimestampMs kTimeEnd = 10'000'000'000'000;

}  // namespace halite::query
