// What must hold of any body of OTLP.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/check.h"
#include "ingest/formats/names.h"
#include "ingest/otlp/otlp_body.h"

namespace halite::ingest {

// Points with their series, as text; checks keys, names, times and parts.
class OtlpPoints final : public PointReceiver {
 public:
  explicit OtlpPoints(const PointBody& body) : body_(body) {}

  void part(std::uint32_t number) override {
    HALITE_CHECK(number == part_ + 1, "parts count from 1");
    part_ = number;
  }
  void series(const SeriesKey& key) override {
    HALITE_CHECK(part_ > 0, "a series is of a part");
    HALITE_CHECK(!key.metric.empty() && !key.metric.contains('\0'), "a metric has a name");
    HALITE_CHECK(std::ranges::count(key.tags, '\0') % 2 == 0, "a tag is a key and a value");
    HALITE_CHECK(key.tags.empty() || key.tags.ends_with('\0'), "each ends with a zero byte");
    for (const Tag& tag : tags_of_names(key.tags)) {
      HALITE_CHECK(!tag.key.empty() && !tag.value.empty() && tag.key != kNameLabel, "tags");
    }
    const auto name = body_.series_name(key);
    known_ = name.has_value();
    if (known_) {
      HALITE_CHECK(std::ranges::is_sorted(name->tags), "tags in the order of their keys");
      texts.emplace_back(key.metric).append(key.tags);
    } else {
      refuse(name.error().text);
    }
  }
  void point(PointBits point) override {
    HALITE_CHECK(point.time >= 0 && point.time <= kTimestampMax, "a time in the range");
    if (known_) texts.push_back(std::to_string(point.time) + ' ' + std::to_string(point.value));
  }
  void refuse(std::string reason) override {
    HALITE_CHECK(!reason.empty(), "a refusal has a reason");
    texts.push_back(std::move(reason));
  }

  std::vector<std::string> texts;

 private:
  const PointBody& body_;
  std::uint32_t part_ = 0;
  bool known_ = false;
};

// The first byte chooses the options.
inline void check_otlp_body(OtlpEncoding encoding, const std::uint8_t* data, std::size_t size) {
  if (size == 0) return;
  OtlpOptions options;
  options.limits.name_bytes_max = 64;
  options.limits.tags_max = 1 + data[0] % 8;
  if (data[0] >= 128) options.resource_attributes = {"a.b", "job", "k", ""};
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  std::vector<std::string> first;
  for (int turn = 0; turn < 2; ++turn) {
    const auto body = make_otlp_body(encoding, bytes, options);
    OtlpPoints points(*body);
    const Result<void> read = body->read(points);
    if (!read) points.texts = {read.error().message};
    HALITE_CHECK(read || !read.error().message.empty(), "an error has a reason");
    if (turn == 0) first = std::move(points.texts);
    if (turn == 1) HALITE_CHECK(points.texts == first, "the same bytes give the same points");
  }
}

}  // namespace halite::ingest
