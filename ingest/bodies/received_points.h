// Collects the points that a parser passes on, with the ids of known series. Private to
// ingest/bodies and ingest/import.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/formats/point_receiver.h"
#include "ingest/ingest_batch.h"
#include "ingest/series_cache/series_cache.h"
#include "ingest/writer_context.h"
#include "storage/api/families.h"

namespace halite::ingest {

class ReceivedPoints final : public PointReceiver {
 public:
  // PointParser::series_name() or PointBody::series_name().
  using SeriesNamer = std::function<std::expected<SeriesName, Refused>(const SeriesKey&)>;

  // More than points_max points are counted, but not kept.
  ReceivedPoints(WriterContext& context, SeriesNamer name, std::size_t points_max);

  struct Parsed {
    IngestBatch points;
    std::vector<BatchRefusal> refused;  // by part
    std::map<std::string, std::uint64_t, std::less<>> skipped;
    storage::Families families;
  };
  // Everything so far. Releases what it holds of the series cache: nothing may follow.
  [[nodiscard]] Parsed take();

  [[nodiscard]] std::size_t points() const { return points_; }  // also those not kept

  void part(std::uint32_t number) override { part_ = number; }
  void series(const SeriesKey& key) override;
  [[nodiscard]] SeriesKey likely_series() const override;
  void take_likely_series() override;
  void point(PointBits point) override;
  void refuse(std::string reason) override;
  void skip(std::string_view what) override;
  void metadata(const MetricMetadata& about) override;

 private:
  WriterContext& context_;
  const SeriesNamer name_;
  const std::size_t points_max_;
  Parsed parsed_;
  std::optional<SeriesCache::Reader> reader_;
  std::size_t points_ = 0;
  std::uint32_t part_ = 0;
  // The series of the next points: its id, or the bytes that name it.
  std::optional<storage::SeriesId> id_;
  KeyGrammar grammar_ = KeyGrammar::kPutLine;
  std::string metric_;
  std::string tags_;
  std::uint64_t hash_ = 0;
};

}  // namespace halite::ingest
