// The names that Prometheus gives to OTLP's metrics and attributes by its default strategy
// (UnderscoreEscapingWithSuffixes). Private to ingest/otlp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace halite::ingest {

// What a metric's name depends on.
enum class MetricKind : std::uint8_t {
  kGauge,
  kSum,      // may fall
  kCounter,  // a monotonic sum
  kHistogram,
  kSummary,
};

// "http.server.duration" in "s" is "http_server_duration_seconds"; a counter ends with "_total", a
// gauge in "1" with "_ratio". Empty: neither name nor unit has a letter, a digit or ':'.
[[nodiscard]] std::string metric_name(std::string_view name, std::string_view unit,
                                      MetricKind kind);

// "http.method" is "http_method". Empty: the key has no such name.
[[nodiscard]] std::string label_name(std::string_view key);

}  // namespace halite::ingest
