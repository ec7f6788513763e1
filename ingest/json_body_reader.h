// One body of /api/put, from text to a draft. Private to ingest/.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/ingest_batch.h"
#include "ingest/put_json.h"
#include "ingest/sent_point.h"
#include "ingest/writer_context.h"

namespace halite::ingest {

// The parsers a body needs; they are used again, for they keep their memory.
struct JsonParsers {
  explicit JsonParsers(const IngestLimits& limits)
      : bodies(limits), points(limits.json_depth_max) {}
  PutJsonParser bodies;
  SentPointReader points;
};

class JsonBodyReader final : public JsonSink {
 public:
  // All three outlive the intake; the body that is scanned does, too.
  JsonBodyReader(WriterContext& context, JsonParsers& parsers);

  // The whole of a body whose every point is of a known series, in one quick pass; false: nothing
  // was taken, and the body is to be scanned.
  [[nodiscard]] bool take_fast_path(std::string_view body);

  Result<void> take(std::span<const JsonElement> elements) override;

  // After the scan; ends the hold on the cache.
  [[nodiscard]] IngestBatch take_draft() {
    reader_.reset();
    return std::move(ingest_batch_);
  }
  // What was refused so far; origins are the numbers of the elements.
  [[nodiscard]] std::vector<BatchRefusal> take_refused() { return std::move(refused_); }
  // The elements' texts by origin; null has none.
  [[nodiscard]] const std::vector<std::string_view>& elements() const { return elements_; }
  [[nodiscard]] std::vector<std::string_view> take_elements() { return std::move(elements_); }
  void count_lookups() const { context_.stats.looked_up(hits_, misses_); }

 private:
  Result<void> take_one(const JsonElement& element, std::uint64_t hash);
  Result<void> take_completely(const JsonElement& element, std::uint64_t hash,
                               std::uint32_t origin);
  void refuse(std::uint32_t origin, Refused why);

  WriterContext& context_;
  JsonParsers& parsers_;
  std::optional<SeriesCache::Reader> reader_;
  IngestBatch ingest_batch_;
  std::vector<BatchRefusal> refused_;
  std::vector<std::string_view> elements_;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
};

}  // namespace halite::ingest
