#include "ingest/rules/refusal.h"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/utf8.h"

namespace halite::ingest {

std::string_view refusal_name(RefusalReason reason) {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"illegal_argument", "invalid_value", "unknown_name",
                                       "throttled", "timeout", "no_such_rollup", "storage"});
  static_assert(kNames.size() == kRefusalReasons.size());
  return kNames[static_cast<std::size_t>(reason)];
}

std::string plain_refusal(const Refused& refused) {
  if (refused.reason != RefusalReason::kInvalidValue) return refused.text;
  return (refused.bad_time ? "invalid time: " : "invalid value: ") + refused.text;
}

std::unexpected<Refused> refuse(RefusalReason reason, std::string text) {
  return std::unexpected(Refused{.reason = reason, .text = std::move(text)});
}

std::unexpected<Refused> illegal(std::string text) {
  return refuse(RefusalReason::kIllegalArgument, std::move(text));
}

Refused refused_by_store(const Error& error) {
  RefusalReason reason = RefusalReason::kStorage;
  switch (error.code) {
    case Errc::kNotFound:
      reason = RefusalReason::kUnknownName;
      break;
    case Errc::kInvalidArgument:
    case Errc::kTooLarge:
      reason = RefusalReason::kIllegalArgument;
      break;
    case Errc::kOverloaded:
      reason = RefusalReason::kThrottled;
      break;
    case Errc::kTimeout:
      reason = RefusalReason::kTimeout;
      break;
    default:
      break;
  }
  const bool passes = error.code == Errc::kUnavailable || error.code == Errc::kTimeout;
  return {.reason = reason, .text = error.message, .passes = passes};
}

bool is_storage_error(RefusalReason reason) {
  return reason == RefusalReason::kStorage || reason == RefusalReason::kThrottled ||
         reason == RefusalReason::kTimeout;
}

std::string telnet_refusal(const Refused& refused, TelnetWords words) {
  static constexpr auto kKinds = std::to_array<std::string_view>(
      {"illegal argument", "invalid value", "unknown metric", "Please throttle writes",
       "Request timed out", "No such rollup", "storage error"});
  static_assert(kKinds.size() == kRefusalReasons.size());
  const bool hbase = words.opentsdb && refused.reason == RefusalReason::kStorage;
  const std::string_view kind =
      hbase ? "HBase error" : kKinds[static_cast<std::size_t>(refused.reason)];
  // It may contain a lone surrogate, which has no UTF-8 form.
  const std::string text = is_utf8(refused.text) ? refused.text : repair_utf8(refused.text);
  return fmt::format("{}: {}: {}\n", words.command, kind, text);
}

std::string telnet_not_stored(Refused why, std::uint64_t points, TelnetWords words) {
  why.text = fmt::format("{} points not stored: {}", points, why.text);
  return telnet_refusal(why, words);
}

std::string telnet_may_be_stored(const Error& error, std::uint64_t points, TelnetWords words) {
  const Refused why{.reason = RefusalReason::kStorage,
                    .text = fmt::format("{} points may not be stored: {}", points, error.message)};
  return telnet_refusal(why, words);
}

std::string http_refusal(const Refused& refused) {
  switch (refused.reason) {
    case RefusalReason::kIllegalArgument:
      return refused.text;
    case RefusalReason::kInvalidValue:
      return "Unable to parse value to a number";
    case RefusalReason::kUnknownName:
      return "Unknown metric";
    case RefusalReason::kThrottled:
      return "Please throttle";
    case RefusalReason::kTimeout:
      return "Timeout exception";
    case RefusalReason::kNoSuchRollup:
      return "Unexpected exception";
    case RefusalReason::kStorage:
      break;
  }
  return fmt::format("Storage exception: {}", refused.text);
}

}  // namespace halite::ingest
