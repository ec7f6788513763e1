#include "storage/backends/hbase/rpc/fault.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace halite::storage::hbase {

namespace {

struct Rule {
  std::string_view class_name;  // without package
  Remedy remedy;
  Errc code;
};

// A region may be split between look-up and call. After three in a row, the row is at fault.
constexpr unsigned kSanityTriesMax = 3;

// In alphabetical order. Checked against the exception hierarchy of HBase 2.6.4.
constexpr auto kRules = std::to_array<Rule>({
    {"AccessDeniedException", Remedy::kGiveUp, Errc::kInvalidArgument},
    {"CallDroppedException", Remedy::kOverloaded, Errc::kOverloaded},
    {"CallQueueTooBigException", Remedy::kOverloaded, Errc::kOverloaded},
    {"CallerDisconnectedException", Remedy::kWait, Errc::kUnavailable},
    {"DamagedWALException", Remedy::kRelocate, Errc::kUnavailable},
    {"DoNotRetryIOException", Remedy::kGiveUp, Errc::kInvalidArgument},
    {"FailedLogCloseException", Remedy::kRelocate, Errc::kUnavailable},
    {"FailedSanityCheckException", Remedy::kRelocate, Errc::kInvalidArgument},
    {"LeaseException", Remedy::kReopen, Errc::kUnavailable},
    {"MasterNotRunningException", Remedy::kReconnect, Errc::kUnavailable},
    {"MasterStoppedException", Remedy::kReconnect, Errc::kUnavailable},
    {"MultiActionResultTooLarge", Remedy::kAtOnce, Errc::kUnavailable},
    {"NamespaceNotFoundException", Remedy::kGiveUp, Errc::kNotFound},
    {"NoSuchColumnFamilyException", Remedy::kGiveUp, Errc::kNotFound},
    {"NotServingRegionException", Remedy::kRelocate, Errc::kUnavailable},
    {"OutOfOrderScannerNextException", Remedy::kReopen, Errc::kUnavailable},
    {"PleaseHoldException", Remedy::kWait, Errc::kUnavailable},
    {"QuotaExceededException", Remedy::kGiveUp, Errc::kTooLarge},
    {"RegionMovedException", Remedy::kRelocate, Errc::kUnavailable},
    {"RegionOpeningException", Remedy::kWait, Errc::kUnavailable},
    {"RegionServerAbortedException", Remedy::kReconnect, Errc::kUnavailable},
    {"RegionServerStoppedException", Remedy::kReconnect, Errc::kUnavailable},
    {"RegionTooBusyException", Remedy::kOverloaded, Errc::kOverloaded},
    {"RequestTooBigException", Remedy::kGiveUp, Errc::kTooLarge},
    {"RetryImmediatelyException", Remedy::kAtOnce, Errc::kUnavailable},
    {"RpcThrottlingException", Remedy::kOverloaded, Errc::kOverloaded},
    {"ScannerResetException", Remedy::kReopen, Errc::kUnavailable},
    {"ServerNotRunningYetException", Remedy::kReconnect, Errc::kUnavailable},
    {"SpaceLimitingException", Remedy::kGiveUp, Errc::kTooLarge},
    {"TableExistsException", Remedy::kGiveUp, Errc::kConflict},
    {"TableNotDisabledException", Remedy::kGiveUp, Errc::kConflict},
    {"TableNotEnabledException", Remedy::kGiveUp, Errc::kConflict},
    {"TableNotFoundException", Remedy::kGiveUp, Errc::kNotFound},
    {"TimeoutIOException", Remedy::kWait, Errc::kTimeout},
    {"UnknownScannerException", Remedy::kReopen, Errc::kUnavailable},
    {"WALSyncTimeoutIOException", Remedy::kRelocate, Errc::kUnavailable},
    {"WrongRegionException", Remedy::kRelocate, Errc::kUnavailable},
});
static_assert(std::ranges::is_sorted(kRules, {}, &Rule::class_name));

// The classes above for which the request may have been executed nevertheless.
bool leaves_doubt(std::string_view class_name) {
  return class_name == "WALSyncTimeoutIOException" || class_name == "DamagedWALException" ||
         class_name == "FailedLogCloseException" || class_name == "TimeoutIOException" ||
         class_name == "CallerDisconnectedException" ||
         class_name == "RegionServerAbortedException" ||
         class_name == "RegionServerStoppedException";
}

// The number after `mark`, or -1.
std::int64_t number_after(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return -1;
  const std::string_view digits = text.substr(at + mark.size());
  std::int64_t value = -1;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

// "Region moved to: hostname=H port=P startCode=S. As of locationSeqNum=N."
std::optional<RegionMoved> moved_to(std::string_view text) {
  constexpr std::string_view kHost = "hostname=";
  const std::size_t host = text.find(kHost);
  if (host == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(host + kHost.size());
  const std::int64_t port = number_after(rest, " port=");
  if (port <= 0 || port > 65535) return std::nullopt;
  RegionMoved moved;
  moved.host = rest.substr(0, rest.find(' '));
  moved.port = static_cast<std::uint16_t>(port);
  moved.start_code =
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, number_after(rest, "startCode=")));
  moved.sequence = number_after(rest, "locationSeqNum=");
  return moved;
}

// "... - wait 1hrs, 2mins, 3sec, 400ms", each part optional; 0 if no pause is requested.
std::uint32_t asked_pause_ms(std::string_view text) {
  constexpr std::string_view kWait = "wait ";
  constexpr std::uint32_t kPauseMax = 600'000;
  const std::size_t at = text.rfind(kWait);
  if (at == std::string_view::npos) return 0;
  const char* from = text.data() + at + kWait.size();
  const char* const end = text.data() + text.size();
  std::uint64_t pause = 0;
  while (from < end) {
    std::uint32_t value = 0;
    const auto [stop, problem] = std::from_chars(from, end, value);
    if (problem != std::errc()) break;
    const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
    std::uint64_t factor = 1;
    if (unit.starts_with("hr")) factor = 3'600'000;
    if (unit.starts_with("min")) factor = 60'000;
    if (unit.starts_with("sec")) factor = 1'000;
    pause = std::min<std::uint64_t>(kPauseMax, pause + value * factor);
    from = std::find_if(stop, end, [](char c) { return c == ' '; });
    while (from < end && *from == ' ') ++from;
  }
  return static_cast<std::uint32_t>(pause);
}

}  // namespace

Fault classify(const RemoteException& exception, const std::string& where) {
  std::string_view name = exception.class_name;
  name.remove_prefix(name.rfind('.') == std::string_view::npos ? 0 : name.rfind('.') + 1);
  Fault fault;
  fault.class_name = name;
  const auto rule = std::ranges::lower_bound(kRules, name, {}, &Rule::class_name);
  if (rule != kRules.end() && rule->class_name == name) {
    fault.remedy = rule->remedy;
    fault.error.code = rule->code;
    fault.maybe_done = leaves_doubt(name);
  } else if (exception.do_not_retry) {
    fault.remedy = Remedy::kGiveUp;
    fault.error.code = Errc::kInvalidArgument;
  } else {
    fault.remedy = exception.overloaded ? Remedy::kOverloaded : Remedy::kRelocate;
    fault.error.code = exception.overloaded ? Errc::kOverloaded : Errc::kUnavailable;
    // It may have been executed, for example if a server dies while it waits for its log.
    fault.maybe_done = !exception.overloaded;
  }
  const std::string& text = exception.text.empty() ? exception.class_name : exception.text;
  fault.error.message = fmt::format("{} says: {}", where, text);
  if (name == "RegionMovedException") {
    fault.moved = moved_to(exception.text);
    if (fault.moved) fault.remedy = Remedy::kMoved;
  }
  // A batch gets this for a row that has left the region, and for one that no region accepts. Only
  // another look-up can tell which.
  if (name == "FailedSanityCheckException") fault.tries_max = kSanityTriesMax;
  if (name == "RpcThrottlingException") fault.pause_ms = asked_pause_ms(exception.text);
  return fault;
}

}  // namespace halite::storage::hbase
