// Where OpenTSDB keeps annotations: cells among the points, JSON in them.
//
//   local    the series' row of the annotation's hour
//   global   a row of metric zero without tags and without a salt
//   cell     01 + seconds in the hour(2), or 01 + milliseconds in the hour(4)
//
// A start time that 1000 divides is divided by it before the qualifier is made, whether it was
// milliseconds or seconds; the row is not. So 1357002000, the first second of its hour, stands at
// second 3402. Read the time from the JSON's startTime; a qualifier is only a place.
#pragma once

#include <cstdint>

#include "common/bytes.h"
#include "common/result.h"
#include "storage/cells/layouts/opentsdb_layout.h"

namespace halite::storage {

struct AnnotationKey {
  Bytes row;
  Bytes qualifier;
};

// start_time in seconds, or in milliseconds from 2^32 on; an empty tsuid means global.
// kInvalidArgument when no row can hold it.
[[nodiscard]] Result<AnnotationKey> annotation_key(const OpentsdbLayout& layout, BytesView tsuid,
                                                   std::int64_t start_time);

[[nodiscard]] bool is_annotation(BytesView qualifier);

// The rows in which global annotations of this time lie; they may hold others of the same hours.
[[nodiscard]] KeyRange global_annotation_rows(const OpentsdbLayout& layout, TimeRange range);

}  // namespace halite::storage
