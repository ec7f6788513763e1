// Turns one body of /api/put into an IngestBatch. Private to ingest/.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/ingest_batch.h"
#include "ingest/json/put_json.h"
#include "ingest/json/sent_point.h"
#include "ingest/writer_context.h"

namespace halite::ingest {

// The parsers for a body. Reused, because they keep their memory.
struct JsonParsers {
  explicit JsonParsers(const IngestLimits& limits)
      : bodies(limits), points(limits.json_depth_max) {}
  PutJsonParser bodies;
  SentPointReader points;
};

class JsonBodyReader final : public JsonSink {
 public:
  // The arguments and the scanned body outlive this object.
  JsonBodyReader(WriterContext& context, JsonParsers& parsers);

  // Takes a body whose points all belong to cached series, in one pass. If false, nothing was taken
  // and the body must be scanned.
  [[nodiscard]] bool take_fast_path(std::string_view body);

  Result<void> take(std::span<const JsonElement> elements) override;

  // Call it after the scan. It releases the cache reader.
  [[nodiscard]] IngestBatch take_batch() {
    reader_.reset();
    return std::move(ingest_batch_);
  }
  // The refusals so far; each origin is an element number.
  [[nodiscard]] std::vector<BatchRefusal> take_refused() { return std::move(refused_); }
  // The texts of the elements, by origin; empty for null.
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
  IngestBatch ingest_batch_;
  std::optional<SeriesCache::Reader> reader_;
  std::vector<BatchRefusal> refused_;
  std::vector<std::string_view> elements_;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
};

}  // namespace halite::ingest
