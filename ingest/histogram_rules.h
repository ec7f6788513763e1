// Which histograms are legal, in OpenTSDB's words, and the bytes that are stored of them.
#pragma once

#include <cstdint>
#include <expected>
#include <string_view>

#include "common/bytes.h"
#include "ingest/point_rules.h"
#include "storage/cells/layouts/values/simple_histogram.h"
#include "storage/cells/rollups/rollup_config.h"

namespace halite::ingest {

struct NamedHistogram {
  SeriesName series;
  TimestampMs time = 0;
  bool millis = false;  // its time was given in milliseconds
  Bytes value;          // codec id(1) + what the codec wrote
};

// A histogram's time, name and tags as they were sent; the time is positive.
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

  // The id of simple histograms.
  [[nodiscard]] std::expected<std::uint8_t, Refused> simple_id() const;

  // Bytes of a codec, as somebody encoded them, read and written again. Text of kStorage where
  // OpenTSDB meets something unexpected.
  [[nodiscard]] std::expected<Bytes, Refused> recode(std::int64_t codec, BytesView bytes) const;

  [[nodiscard]] std::expected<NamedHistogram, Refused> validate(SentHistogram sent,
                                                                Bytes value) const;

 private:
  const PointRules& points_;
  const storage::HistogramConfig config_;
};

// As it is stored.
[[nodiscard]] Bytes encode_histogram(std::uint8_t codec, const storage::SimpleHistogram& histogram);

// "0,1.75" becomes a bucket of the histogram. Errors as OpenTSDB's for a body.
[[nodiscard]] std::expected<void, Refused> add_bucket(storage::SimpleHistogram& histogram,
                                                      std::string_view bounds, std::int64_t count);

}  // namespace halite::ingest
