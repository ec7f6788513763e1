// OpenTSDB's cells for annotations: JSON in cells among the points.
//
//   local    in the series' row of the annotation's hour
//   global   in a row of metric zero without tags and without a salt
//   cell     01 + seconds in the hour(2), or 01 + milliseconds in the hour(4)
//
// A start time that is a multiple of 1000 is divided by 1000 for the qualifier, whether it was in
// milliseconds or seconds; the row key uses the time as it is. So 1357002000, the first second of
// its hour, is at second 3402. Read the time from startTime in the JSON, not from the qualifier.
#pragma once

#include <cstdint>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/cells/layouts/opentsdb_layout.h"

namespace halite::storage {

struct AnnotationKey {
  Bytes row;
  Bytes qualifier;
};

// start_time is in seconds, or in milliseconds from 2^32 on; an empty tsuid means global.
// kInvalidArgument if no row can contain it.
[[nodiscard]] Result<AnnotationKey> annotation_key(const OpentsdbLayout& layout, BytesView tsuid,
                                                   std::int64_t start_time);

[[nodiscard]] bool is_annotation(BytesView qualifier);

// The rows with the global annotations of this range; they may also contain others of those hours.
[[nodiscard]] KeyRange global_annotation_rows(const OpentsdbLayout& layout, TimeRange range);

}  // namespace halite::storage
