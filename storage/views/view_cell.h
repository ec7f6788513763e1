// The totals of a bucket, and the bytes of a unit's buckets in a cell (docs/formats/views.md).
//
//   cell    version(1) = 1, then for each bucket with a point, in order:
//             buckets skipped since the last(varint), count(varint), then sum, min, max and
//             sketch, each only if the view stores it
//   number  an integer of at most 53 bits: varint of zigzag · 2; otherwise the byte 1 and the
//           double(8, big-endian)
//   sketch  common/sketch.h
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "common/sketch.h"
#include "storage/views/view_rules.h"

namespace halite::storage {

struct BucketTotals {
  bool any = false;         // there is a point
  std::uint64_t count = 0;  // of points except NaN
  double sum = 0;
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  Sketch sketch = {};  // of the points, if the view stores it

  void add(double number);  // not to the sketch
  void add(const BucketTotals& more);
  bool operator==(const BucketTotals&) const = default;
};

// Empty if no bucket has a point.
[[nodiscard]] Bytes view_cell(const ViewFunctions& functions, std::span<const BucketTotals> unit);

// Replaces the buckets of the unit. kCorruption: not written by view_cell().
[[nodiscard]] Result<void> parse_view_cell(const ViewFunctions& functions, BytesView cell,
                                           std::span<BucketTotals> unit);

}  // namespace halite::storage
