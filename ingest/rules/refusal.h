// Why a point was refused. A refusal does not affect other points.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "common/result.h"

namespace halite::ingest {

enum class RefusalReason : std::uint8_t {
  kIllegalArgument,  // names, tags, timestamps, a limit
  kInvalidValue,     // not a number
  kUnknownName,      // a name without an id, which must not be created
  kThrottled,        // the store is overloaded
  kTimeout,
  kNoSuchRollup,  // an interval that is not configured
  kStorage,       // any other error of the store
};

inline constexpr std::array kRefusalReasons = {
    RefusalReason::kIllegalArgument, RefusalReason::kInvalidValue, RefusalReason::kUnknownName,
    RefusalReason::kThrottled,       RefusalReason::kTimeout,      RefusalReason::kNoSuchRollup,
    RefusalReason::kStorage};

struct Refused {
  RefusalReason reason = RefusalReason::kIllegalArgument;
  std::string text;     // OpenTSDB's message where one exists
  bool passes = false;  // temporary: the point may be accepted later
  // With kInvalidValue: the time is no number, which OpenTSDB's replies call a value, too.
  bool bad_time = false;
};

// "invalid value: ..." or "invalid time: ...": the reason without the protocol's words.
[[nodiscard]] std::string plain_refusal(const Refused& refused);

[[nodiscard]] std::unexpected<Refused> refuse(RefusalReason reason, std::string text);
// A refusal of kIllegalArgument.
[[nodiscard]] std::unexpected<Refused> illegal(std::string text);

// The value of a metric's label: "illegal_argument".
[[nodiscard]] std::string_view refusal_name(RefusalReason reason);

// The refusal for a store's error about a point or its names.
[[nodiscard]] Refused refused_by_store(const Error& error);

// How replies to a telnet command begin.
struct TelnetWords {
  std::string_view command = "put";
  bool opentsdb = false;  // report storage errors as "HBase error", as OpenTSDB does
};

// The reply to a telnet command, with its end: "put: illegal argument: ...\n".
[[nodiscard]] std::string telnet_refusal(const Refused& refused, TelnetWords words = {});

// The reply if many points failed for one reason.
[[nodiscard]] std::string telnet_not_stored(Refused why, std::uint64_t points,
                                            TelnetWords words = {});
// The reply if the store accepted points but could not make them durable.
[[nodiscard]] std::string telnet_may_be_stored(const Error& error, std::uint64_t points,
                                               TelnetWords words = {});

// True if the store caused the refusal. These replies can be switched off for telnet.
[[nodiscard]] bool is_storage_error(RefusalReason reason);

// The text of an entry in the errors of /api/put.
[[nodiscard]] std::string http_refusal(const Refused& refused);

}  // namespace halite::ingest
