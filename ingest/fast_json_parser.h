// Bodies of /api/put as agents repeat them: points of series whose bytes the cache knows, each an
// object of nothing but metric, timestamp, value and tags. Private to ingest/.
//
// A body is read in one pass without a parser: between metric and tags, which are compared with
// keys that were read completely when they came first, stands nothing but what is looked at here.
// So a body taken here is one that PutJsonParser takes too, with the same points; of any other
// nothing is known, and PutJsonParser has the word.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "ingest/ingest_batch.h"
#include "ingest/series_cache.h"

namespace halite::ingest {

// True: `ingest_batch` has all points of the body and `elements` their texts. False: both are to be
// thrown away.
[[nodiscard]] bool parse_body_fast(std::string_view body, std::size_t points_max,
                                   const SeriesCache& cache, SeriesCache::Reader& reader,
                                   IngestBatch& ingest_batch,
                                   std::vector<std::string_view>& elements);

}  // namespace halite::ingest
