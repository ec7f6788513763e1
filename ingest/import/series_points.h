// Points with the names of their series, outside of any store.
#pragma once

#include <vector>

#include "common/data_point.h"
#include "ingest/ingest_batch.h"

namespace halite::ingest {

struct SeriesPoints {
  SeriesName series;
  std::vector<PointBits> points;  // in time order
};

}  // namespace halite::ingest
