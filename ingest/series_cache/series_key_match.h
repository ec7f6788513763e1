// Whether a sender's bytes name a given series.
#pragma once

#include "ingest/series_cache/series_key.h"
#include "storage/api/series.h"

namespace halite::ingest {

// True if the key's names are exactly those of the series. False for texts that only a full parser
// can read (escapes, values that are not strings, more than 64 tags), whatever they name.
[[nodiscard]] bool names_series(const SeriesKey& key, const storage::Series& series);

}  // namespace halite::ingest
