#include "ingest/ingest_stats.h"

#include <utility>

#include <prometheus/registry.h>

#include "common/bytes/utf8.h"
#include "common/json_string.h"
#include "common/log.h"
#include "common/metrics.h"

namespace halite::ingest {
namespace {

// Lone surrogates may be among the characters: a rule may name half a one.
bool is_utf8_with_surrogates(std::string_view text) {
  while (!text.empty()) {
    const CodePoint next = decode_utf8(text);
    if (next.bytes == 0) return false;
    text.remove_prefix(next.bytes);
  }
  return true;
}

// Truncates without splitting a character. Texts are UTF-8 or else ISO-8859-1.
std::string beginning_of(std::string_view text, std::size_t bytes_max) {
  const std::string_view kept = utf8_prefix(text, bytes_max);
  std::string beginning;
  if (is_utf8(kept)) {
    beginning = kept;
  } else {
    beginning = is_utf8_with_surrogates(kept) ? repair_utf8(kept) : latin1_to_utf8(kept);
  }
  if (kept.size() < text.size()) beginning += "...";
  return beginning;
}

}  // namespace

std::string_view protocol_name(Protocol protocol) {
  switch (protocol) {
    case Protocol::kTelnet:
      return "telnet";
    case Protocol::kHttp:
      return "http";
    case Protocol::kRemoteWrite:
      return "remote_write";
    case Protocol::kOtlp:
      return "otlp";
    case Protocol::kInflux:
      return "influx";
    case Protocol::kGraphite:
      return "graphite";
    case Protocol::kPrometheus:
      return "prometheus";
    case Protocol::kVmJson:
      return "vmjson";
    case Protocol::kSelf:
      break;
  }
  return "own";
}

IngestStats::IngestStats(const IngestLimits& limits, const Clock& clock,
                         prometheus::Registry& registry)
    : limits_(limits), clock_(clock) {
  auto& taken = counter_family(registry, "halite_ingest_points_total",
                               "Points passed to the store.", {"protocol"});
  auto& refused = counter_family(registry, "halite_ingest_points_refused_total", "Points refused.",
                                 {"protocol", "reason"});
  auto& unknown = counter_family(
      registry, "halite_ingest_points_unknown_total",
      "Points passed to the store whose durability is unknown after an error.", {"protocol"});
  for (const Protocol protocol : kProtocols) {
    const auto at = static_cast<std::size_t>(protocol);
    const std::string name(protocol_name(protocol));
    taken_[at] = &taken.Add({{"protocol", name}});
    unknown_[at] = &unknown.Add({{"protocol", name}});
    for (const RefusalReason reason : kRefusalReasons) {
      refused_[at][static_cast<std::size_t>(reason)] =
          &refused.Add({{"protocol", name}, {"reason", std::string(refusal_name(reason))}});
    }
  }
  skipped_ =
      &counter_family(registry, "halite_ingest_skipped_total",
                      "Values that no point can hold, by protocol and kind: strings, exemplars.",
                      {"protocol", "what"});
  bodies_refused_ = &add_counter(registry, "halite_ingest_bodies_refused_total",
                                 "Request bodies with points that could not be parsed.");
  auto& lookups = counter_family(registry, "halite_ingest_series_cache_lookups_total",
                                 "Series cache lookups, by result.", {"result"});
  hits_ = &lookups.Add({{"result", "hit"}});
  misses_ = &lookups.Add({{"result", "miss"}});
  cache_bytes_ =
      &add_gauge(registry, "halite_ingest_series_cache_bytes", "Memory used by the series cache.");
  cache_keys_ = &add_gauge(registry, "halite_ingest_series_cache_keys",
                           "Keys in both halves of the series cache.");
}

void IngestStats::taken(Protocol protocol, std::uint64_t points) {
  if (points > 0) {
    taken_[static_cast<std::size_t>(protocol)]->Increment(static_cast<double>(points));
  }
}

void IngestStats::refused(Protocol protocol, const Refused& why, std::string_view point) {
  refused(protocol, why.reason, 1);
  RefusedSample sample{.time = clock_.now_ms(),
                       .protocol = protocol,
                       .reason = why.reason,
                       .error = beginning_of(why.text, limits_.refused_sample_bytes_max),
                       .point = beginning_of(point, limits_.refused_sample_bytes_max)};
  const std::scoped_lock lock(mutex_);
  if (is_request(protocol)) log_refused(sample);
  if (limits_.refused_samples_max == 0) return;
  if (samples_.size() == limits_.refused_samples_max) samples_.pop_front();
  samples_.push_back(std::move(sample));
}

// OpenTSDB's answer to a bad body refers to the log, so the points are logged. The limit keeps a
// stream of bad points from filling it.
void IngestStats::log_refused(const RefusedSample& sample) {
  const TimestampMs second = sample.time / 1000;
  if (second != log_second_) {
    log_second_ = second;
    log_lines_ = 0;
  }
  if (limits_.refused_log_lines_max == 0 || log_lines_ > limits_.refused_log_lines_max) return;
  if (log_lines_++ < limits_.refused_log_lines_max) {
    const std::string_view from =
        sample.protocol == Protocol::kHttp ? "put" : protocol_name(sample.protocol);
    log::warn("{}: point refused: {} in {}", from, json_string(sample.error),
              json_string(sample.point));
  } else {
    log::warn(
        "further points refused in this second are not logged (ingest.refused_log_lines_max)");
  }
}

void IngestStats::refused(Protocol protocol, RefusalReason reason, std::uint64_t points) {
  refused_[static_cast<std::size_t>(protocol)][static_cast<std::size_t>(reason)]->Increment(
      static_cast<double>(points));
}

void IngestStats::skipped(Protocol protocol, std::string_view what, std::uint64_t count) {
  skipped_->Add({{"protocol", std::string(protocol_name(protocol))}, {"what", std::string(what)}})
      .Increment(static_cast<double>(count));
}

void IngestStats::unknown(Protocol protocol, std::uint64_t points) {
  unknown_[static_cast<std::size_t>(protocol)]->Increment(static_cast<double>(points));
}

void IngestStats::body_refused() { bodies_refused_->Increment(); }

void IngestStats::looked_up(std::uint64_t hits, std::uint64_t misses) {
  if (hits > 0) hits_->Increment(static_cast<double>(hits));
  if (misses > 0) misses_->Increment(static_cast<double>(misses));
}

void IngestStats::cache_is(std::size_t bytes, std::size_t keys) {
  cache_bytes_->Set(static_cast<double>(bytes));
  cache_keys_->Set(static_cast<double>(keys));
}

std::vector<RefusedSample> IngestStats::samples() const {
  const std::scoped_lock lock(mutex_);
  return {samples_.begin(), samples_.end()};
}

}  // namespace halite::ingest
