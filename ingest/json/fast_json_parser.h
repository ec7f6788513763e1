// The fast path for bodies of /api/put: points of cached series, each an object with only metric,
// timestamp, value and tags. Private to ingest/.
//
// It reads a body in one pass without a parser. It compares metric and tags with cached keys that
// were parsed completely, and checks every other byte itself. PutJsonParser accepts every body that
// is accepted here, with identical points. Any other body needs PutJsonParser.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "ingest/ingest_batch.h"
#include "ingest/series_cache/series_cache.h"

namespace halite::ingest {

// If true, `ingest_batch` has all points of the body and `elements` their texts. If false, discard
// both.
[[nodiscard]] bool parse_body_fast(std::string_view body, std::size_t points_max,
                                   const SeriesCache& cache, SeriesCache::Reader& reader,
                                   IngestBatch& ingest_batch,
                                   std::vector<std::string_view>& elements);

}  // namespace halite::ingest
