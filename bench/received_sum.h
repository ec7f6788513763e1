// Uses everything that a parser passes on, so that no work of it can be left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/check.h"
#include "ingest/formats/point_receiver.h"

namespace halite::ingest {

class ReceivedSum final : public PointReceiver {
 public:
  void series(const SeriesKey& key) override {
    key_bytes += key.metric.size() + key.tags.size();
    last_tags = key.tags;
  }
  void point(PointBits point) override {
    sum += point.value + static_cast<std::uint64_t>(point.time);
    ++points;
  }
  void refuse(std::string reason) override { HALITE_CHECK(false, reason); }

  std::size_t points = 0;
  std::size_t key_bytes = 0;
  std::uint64_t sum = 0;
  std::string_view last_tags;  // of the body's text
};

}  // namespace halite::ingest
