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

// What one body may contain. Reaching a limit never keeps memory growing.
struct ReceivedLimits {
  std::size_t items_max = 0;             // points and refusals; more are counted, but not kept
  bool every_reason = false;             // of a part; otherwise only the first
  std::size_t refusals_kept_max = 0;     // with their reasons; the others are only counted
  std::size_t new_series_bytes_max = 0;  // names and keys of series without an id
  std::size_t families_max = 0;          // metadata of more is skipped
};

class ReceivedPoints final : public PointReceiver {
 public:
  // PointParser::series_name() or PointBody::series_name().
  using SeriesNamer = std::function<std::expected<SeriesName, Refused>(const SeriesKey&)>;

  ReceivedPoints(WriterContext& context, SeriesNamer name, const ReceivedLimits& limits);

  struct Parsed {
    IngestBatch points;
    std::vector<BatchRefusal> refused;         // the first ones, by part
    std::vector<std::uint32_t> refused_parts;  // with any refusal, in order
    std::uint64_t refused_unkept = 0;          // refusals that are not in `refused`
    std::map<std::string, std::uint64_t, std::less<>> skipped;
    storage::Families families;
  };
  // Everything so far. Releases what it holds of the series cache: nothing may follow.
  [[nodiscard]] Parsed take();

  // Why the body as a whole must be refused; nothing if it is within its limits.
  [[nodiscard]] std::optional<Error> over_limit() const;

  void part(std::uint32_t number) override { part_ = number; }
  void series(const SeriesKey& key) override;
  [[nodiscard]] SeriesKey likely_series() const override;
  void take_likely_series() override;
  void point(PointBits point) override;
  void refuse(std::string reason) override;
  [[nodiscard]] bool keeps_reasons() const override {
    return parsed_.refused.size() < limits_.refusals_kept_max;
  }
  void skip(std::string_view what) override;
  void metadata(const MetricMetadata& about) override;

 private:
  [[nodiscard]] bool is_over_limit() const { return items_ > limits_.items_max || !names_fit_; }
  void note_refusal(std::string reason);

  WriterContext& context_;
  const SeriesNamer name_;
  const ReceivedLimits limits_;
  Parsed parsed_;
  std::optional<SeriesCache::Reader> reader_;
  std::size_t items_ = 0;
  std::uint64_t looked_up_ = 0;
  std::uint64_t missed_ = 0;
  bool names_fit_ = true;
  std::uint32_t part_ = 0;
  std::optional<std::uint32_t> refused_part_;  // of the last refusal
  std::string refused_reason_;
  // The series of the next points: its id, its place among those that wait for one, or the bytes
  // that name it.
  std::optional<storage::SeriesId> id_;
  std::optional<IngestBatch::Waiting> waiting_;
  KeyGrammar grammar_ = KeyGrammar::kPutLine;
  std::string metric_;
  std::string tags_;
  std::uint64_t hash_ = 0;
  std::optional<std::string> no_name_;  // why it has none
};

}  // namespace halite::ingest
