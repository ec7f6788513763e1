#include "web/handlers/put_answer.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "common/bytes/read_number.h"
#include "common/json_list.h"
#include "common/json_string.h"
#include "common/log.h"
#include "web/json/error_map.h"

namespace halite::web {
namespace {

// 0 = no limit. OpenTSDB takes any 32-bit number, negative ones as no limit, and answers 500 to
// anything else (mistake_response()).
Result<std::int64_t> sync_timeout_ms(const Target& target) {
  if (!target.has("sync_timeout")) return 0;
  const std::string_view text = target.get("sync_timeout");
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  std::int32_t value = 0;
  if (!read_number(digits, value)) {
    return fail(Errc::kInternal, fmt::format("For input string: \"{}\"", text),
                fmt::format("sync_timeout: expected milliseconds from 0 to {}, got \"{}\"",
                            std::numeric_limits<std::int32_t>::max(), text));
  }
  return target.has("sync") ? std::max(value, 0) : 0;
}

std::string counts_json(const ingest::PutOptions& put_options, const ingest::PutOutcome& put) {
  std::string json = fmt::format("{{\"success\":{},\"failed\":{}", put.success, put.failed);
  if (put_options.sync_timeout_ms > 0) {
    fmt::format_to(std::back_inserter(json), ",\"timeouts\":{}", put.timeouts);
  }
  if (put_options.failures) {
    json += ",\"errors\":";
    append_json_list(json, put.failures, [&json](const ingest::PutFailure& failure) {
      fmt::format_to(std::back_inserter(json), "{{\"datapoint\":{},\"error\":", failure.datapoint);
      append_json_string(json, failure.error);
      json += '}';
    });
  }
  json += '}';
  return json;
}

}  // namespace

Result<ingest::PutOptions> parse_put_options(const Target& target) {
  TRY(const std::int64_t timeout_ms, sync_timeout_ms(target));
  return ingest::PutOptions{.failures = target.has("details"), .sync_timeout_ms = timeout_ms};
}

Response put_answer(const Call& call, const ingest::PutOptions& put_options,
                    const Result<ingest::PutOutcome>& put) {
  if (!put) return error_response(call, put.error());
  const bool good = put->failed == 0 && put->timeouts == 0;
  if (put_options.failures || call.target.has("summary")) {
    // Agents drop points after a 400 and send them again after a 503.
    const int bad = put->retryable_error ? http_status(put->retryable_error->code) : 400;
    return json_response(good ? 200 : bad, counts_json(put_options, *put));
  }
  if (good) return json_response(204, "");
  if (put->retryable_error) return error_response(call, *put->retryable_error);
  if (put->timeouts != 0) {
    log::warn("put: {} points were not durable within sync_timeout", put->timeouts);
    return error_response(call, 400,
                          fmt::format("The put call has timedout with {} successful writes, {} "
                                      "failed writes and {} timed out writes.",
                                      put->success, put->failed, put->timeouts),
                          "Please see the TSD logs or append \"details\" to the put request");
  }
  return error_response(call, 400, "One or more data points had errors",
                        "Please see the TSD logs or append \"details\" to the put request");
}

}  // namespace halite::web
