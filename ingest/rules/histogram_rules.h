// Validation of histograms with OpenTSDB's messages, and their stored bytes.
#pragma once

#include <cstdint>
#include <expected>
#include <string_view>

#include "common/bytes/bytes.h"
#include "ingest/rules/point_rules.h"
#include "storage/cells/layouts/values/simple_histogram.h"
#include "storage/cells/rollups/rollup_config.h"

namespace halite::ingest {

struct NamedHistogram {
  SeriesName series;
  TimestampMs time = 0;
  bool millis = false;  // the timestamp was given in milliseconds
  Bytes value;          // codec id (1 byte), then the codec's bytes
};

// Timestamp, name and tags of a histogram as sent. The timestamp is positive.
struct SentHistogram {
  std::string_view metric;
  std::int64_t timestamp = 0;
  TagMap tags;
};

class HistogramRules {
 public:
  // `points` outlives the rules.
  HistogramRules(const PointRules& points, storage::HistogramConfig config)
      : points_(points), config_(config) {}

  // The codec id of simple histograms.
  [[nodiscard]] std::expected<std::uint8_t, Refused> simple_id() const;

  // Decodes bytes that a client encoded and encodes them again. The refusal is kStorage where
  // OpenTSDB fails unexpectedly.
  [[nodiscard]] std::expected<Bytes, Refused> recode(std::int64_t codec, BytesView bytes) const;

  [[nodiscard]] std::expected<NamedHistogram, Refused> validate(SentHistogram sent,
                                                                Bytes value) const;

 private:
  const PointRules& points_;
  const storage::HistogramConfig config_;
};

// The stored bytes.
[[nodiscard]] Bytes encode_histogram(std::uint8_t codec, const storage::SimpleHistogram& histogram);

// Adds the bucket "0,1.75" to the histogram. Errors are those of OpenTSDB for a body.
[[nodiscard]] std::expected<void, Refused> add_bucket(storage::SimpleHistogram& histogram,
                                                      std::string_view bounds, std::int64_t count);

}  // namespace halite::ingest
