#include "ingest/rules/histogram_rules.h"

#include <utility>

#include <fmt/format.h>

#include "ingest/rules/refusal.h"

namespace halite::ingest {

Bytes encode_histogram(std::uint8_t codec, const storage::SimpleHistogram& histogram) {
  Bytes bytes(1, static_cast<char>(codec));
  histogram.append_to(bytes);
  return bytes;
}

std::expected<void, Refused> add_bucket(storage::SimpleHistogram& histogram,
                                        std::string_view bounds, std::int64_t count) {
  const std::size_t comma = bounds.find(',');
  if (comma == std::string_view::npos || bounds.find(',', comma + 1) != std::string_view::npos) {
    return illegal(fmt::format("Unable to parse bucket bounds: {}", bounds));
  }
  const auto lower = parse_java_float(bounds.substr(0, comma));
  const auto upper = lower ? parse_java_float(bounds.substr(comma + 1)) : lower;
  if (!upper) {
    return refuse(RefusalReason::kInvalidValue, upper.error());
  }
  const Result<void> set = histogram.set(*lower, *upper, count);
  if (!set) return illegal(set.error().message);
  return {};
}

std::expected<std::uint8_t, Refused> HistogramRules::simple_id() const {
  if (config_.simple_id) return *config_.simple_id;
  return illegal("No codec ID assigned to class class net.opentsdb.core.SimpleHistogramDecoder");
}

std::expected<Bytes, Refused> HistogramRules::recode(std::int64_t codec, BytesView bytes) const {
  if (!config_.simple_id || codec != *config_.simple_id) {
    return illegal(fmt::format("No codec found mapped to ID {}", codec));
  }
  constexpr std::size_t kBytesMin = 6;
  if (bytes.size() < kBytesMin) {
    return illegal("Byte array shorter than 6 bytes detected: " + storage::pretty_bytes(bytes));
  }
  const auto histogram = storage::SimpleHistogram::read(bytes);
  if (histogram) return encode_histogram(*config_.simple_id, *histogram);
  return std::unexpected(
      Refused{.reason = RefusalReason::kStorage, .text = histogram.error().message});
}

std::expected<NamedHistogram, Refused> HistogramRules::validate(SentHistogram sent,
                                                                Bytes value) const {
  if (sent.timestamp > kTimestampMax) {
    return std::unexpected(bad_timestamp(sent.metric, sent.timestamp, value, 0, sent.tags));
  }
  auto series = points_.validate_series(sent.metric, std::move(sent.tags));
  if (!series) return std::unexpected(std::move(series).error());
  return NamedHistogram{.series = *std::move(series),
                        .time = to_ms(sent.timestamp),
                        .millis = is_millis(sent.timestamp),
                        .value = std::move(value)};
}

}  // namespace halite::ingest
