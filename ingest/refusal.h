// Why a point was not taken. One point's refusal never costs another point.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "common/result.h"

namespace halite::ingest {

enum class RefusalReason : std::uint8_t {
  kIllegalArgument,  // names, tags, times, a limit
  kInvalidValue,     // a number that is none
  kUnknownName,      // a name without an id, and none may be made
  kThrottled,        // the store has too much to do
  kTimeout,
  kNoSuchRollup,  // an interval that is not configured
  kStorage,       // anything else the store said
};

inline constexpr std::array kRefusalReasons = {
    RefusalReason::kIllegalArgument, RefusalReason::kInvalidValue, RefusalReason::kUnknownName,
    RefusalReason::kThrottled,       RefusalReason::kTimeout,      RefusalReason::kNoSuchRollup,
    RefusalReason::kStorage};

struct Refused {
  RefusalReason reason = RefusalReason::kIllegalArgument;
  std::string text;     // OpenTSDB's words where it has any
  bool passes = false;  // the store is away: sent again later, the point may be taken
};

[[nodiscard]] std::unexpected<Refused> refuse(RefusalReason reason, std::string text);
// As kIllegalArgument.
[[nodiscard]] std::unexpected<Refused> illegal(std::string text);

// As a metric's label: "illegal_argument".
[[nodiscard]] std::string_view refusal_name(RefusalReason reason);

// What a store says about a point or its names.
[[nodiscard]] Refused refused_by_store(const Error& error);

// How answers of telnet commands begin.
struct TelnetWords {
  std::string_view command = "put";
  bool opentsdb = false;  // what the store could not do is an "HBase error", as clients know it
};

// The answer line of a telnet command, with its end: "put: illegal argument: ...\n".
[[nodiscard]] std::string telnet_refusal(const Refused& refused, TelnetWords words = {});

// The same for many points at once: none of them was taken for this reason.
[[nodiscard]] std::string telnet_not_stored(Refused why, std::uint64_t points,
                                            TelnetWords words = {});
// Or the store took them, and then could not make them durable.
[[nodiscard]] std::string telnet_may_be_stored(const Error& error, std::uint64_t points,
                                               TelnetWords words = {});

// Whether it is the store that refuses: telnet senders may not want to hear of it.
[[nodiscard]] bool is_storage_error(RefusalReason reason);

// The text of an entry in the errors of /api/put.
[[nodiscard]] std::string http_refusal(const Refused& refused);

}  // namespace halite::ingest
