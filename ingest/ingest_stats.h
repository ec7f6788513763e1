// Counters of accepted and refused points, for /metrics and the status page. Call from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "ingest/options.h"
#include "ingest/rules/refusal.h"

namespace prometheus {
class Counter;
template <class T>
class Family;
class Gauge;
class Registry;
}  // namespace prometheus

namespace halite::ingest {

enum class Protocol : std::uint8_t {
  kTelnet,
  kHttp,  // OpenTSDB's bodies
  kSelf,
  kRemoteWrite,
  kOtlp,
  kInflux,
  kGraphite,
  kPrometheus,  // text, OpenMetrics too
  kVmJson,
};
inline constexpr std::array kProtocols = {
    Protocol::kTelnet,      Protocol::kHttp,       Protocol::kSelf,
    Protocol::kRemoteWrite, Protocol::kOtlp,       Protocol::kInflux,
    Protocol::kGraphite,    Protocol::kPrometheus, Protocol::kVmJson};

// Points come in requests whose answers wait until they are durable.
[[nodiscard]] constexpr bool is_request(Protocol protocol) {
  return protocol != Protocol::kTelnet && protocol != Protocol::kSelf;
}

[[nodiscard]] std::string_view protocol_name(Protocol protocol);

// A refused point, shown on the status page.
struct RefusedSample {
  TimestampMs time = 0;  // when it was refused
  Protocol protocol = Protocol::kTelnet;
  RefusalReason reason = RefusalReason::kIllegalArgument;
  std::string error;
  std::string point;  // the first bytes of what was sent
};

class IngestStats {
 public:
  IngestStats(const IngestLimits& limits, const Clock& clock, prometheus::Registry& registry);

  void taken(Protocol protocol, std::uint64_t points);
  // Counts one point; `point` is what was sent.
  void refused(Protocol protocol, const Refused& why, std::string_view point);
  // Counts many points, without samples.
  void refused(Protocol protocol, RefusalReason reason, std::uint64_t points);
  // Counts what was sent, is legal, and is no point: "a string", "an exemplar".
  void skipped(Protocol protocol, std::string_view what, std::uint64_t count);
  // Counts accepted points that the store could not make durable: they may be stored or not.
  void unknown(Protocol protocol, std::uint64_t points);
  void body_refused();
  void looked_up(std::uint64_t hits, std::uint64_t misses);
  void cache_is(std::size_t bytes, std::size_t keys);

  // Oldest first.
  [[nodiscard]] std::vector<RefusedSample> samples() const;

 private:
  void log_refused(const RefusedSample& sample);  // call with mutex_ locked

  using ByReason = std::array<prometheus::Counter*, kRefusalReasons.size()>;

  const IngestLimits limits_;
  const Clock& clock_;
  std::array<prometheus::Counter*, kProtocols.size()> taken_{};
  std::array<ByReason, kProtocols.size()> refused_{};
  std::array<prometheus::Counter*, kProtocols.size()> unknown_{};
  prometheus::Family<prometheus::Counter>* skipped_;
  prometheus::Counter* bodies_refused_;
  prometheus::Counter* hits_;
  prometheus::Counter* misses_;
  prometheus::Gauge* cache_bytes_;
  prometheus::Gauge* cache_keys_;
  mutable std::mutex mutex_;
  std::deque<RefusedSample> samples_;  // guarded by mutex_
  TimestampMs log_second_ = 0;         // guarded by mutex_
  std::size_t log_lines_ = 0;          // in that second; guarded by mutex_
};

}  // namespace halite::ingest
