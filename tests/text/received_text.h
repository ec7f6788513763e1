// What parsers pass on, as the answers of text tests say it.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/formats/point_receiver.h"

namespace halite::ingest {

// Control characters, and all bytes of a text that is not UTF-8, as \xHH.
[[nodiscard]] std::string printable(std::string_view text);

// metric{key=value, key=value}
[[nodiscard]] std::string series_text(const SeriesName& name);

// "1.0 @ 1700000000000", with " ms" if the time was given so. Integers have no point; a double that
// is no number is bits:7FF0000000000000.
[[nodiscard]] std::string point_text(PointBits point);

// Of a body, each line with the number of its part: the series and points, "refused: ..",
// "skipped: ..", "metadata: ..".
class BodyAnswers final : public PointReceiver {
 public:
  explicit BodyAnswers(const PointBody& body) : body_(body) {}

  void part(std::uint32_t number) override;
  void series(const SeriesKey& key) override { name_ = body_.series_name(key); }
  void point(PointBits point) override;
  void refuse(std::string reason) override { add("refused: " + printable(reason)); }
  void skip(std::string_view what) override { add("skipped: " + std::string(what)); }
  void metadata(const MetricMetadata& about) override;

  std::vector<std::string> lines;

 private:
  void add(std::string_view line);

  const PointBody& body_;
  std::uint32_t part_ = 0;
  std::expected<SeriesName, Refused> name_;
};

}  // namespace halite::ingest
