// Points with the names of their series, outside of any store.
#pragma once

#include <string>
#include <vector>

#include "common/data_point.h"
#include "ingest/ingest_batch.h"

namespace halite::ingest {

// "metric k=v k=v", for messages.
[[nodiscard]] std::string text_of(const SeriesName& name);

struct SeriesPoints {
  SeriesName series;
  std::vector<PointBits> points;  // in time order
};

}  // namespace halite::ingest
