// OpenTSDB's simple histogram: counts in buckets with bounds, and counts below and above all
// buckets.
//
//   bytes    number of buckets(2), then for each lower(4, single) upper(4, single) count(varint),
//            then underflow(varint) overflow(varint)
//   varint   7 bits in each byte, lowest first, high bit = more follows; the ninth byte has 8 bits
//
// Buckets are ordered by lower, then upper bound, as by Java's Float.compare: -0 before 0, NaN
// after everything. Counts wrap around as in Java.
#pragma once

#include <cstdint>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/result.h"

namespace halite::storage {

struct HistogramBucket {
  float lower = 0;
  float upper = 0;
  std::int64_t count = 0;
};

class SimpleHistogram {
 public:
  std::int64_t underflow = 0;
  std::int64_t overflow = 0;

  // Sets the count of a bucket, new or existing. kTooLarge: more buckets than the format can count.
  Result<void> set(float lower, float upper, std::int64_t count);

  [[nodiscard]] const std::vector<HistogramBucket>& buckets() const { return buckets_; }
  // The count of the bucket with exactly these bounds; 0 if there is none.
  [[nodiscard]] std::int64_t count(float lower, float upper) const;

  // Adds another histogram's counts to the buckets with equal bounds. kTooLarge as in set().
  Result<void> add(const SimpleHistogram& other);

  // The middle of the bucket in which the cumulative share reaches `percentile`; counts outside the
  // buckets are ignored. -1 unless 1 <= percentile <= 100; 0 if no bucket reaches it.
  [[nodiscard]] double percentile(double percentile) const;

  // Appends the encoded histogram.
  void append_to(Bytes& to) const;
  // Ignores bytes after the end. kCorruption: the bytes end too early.
  [[nodiscard]] static Result<SimpleHistogram> read(BytesView bytes);

  [[nodiscard]] std::size_t memory_bytes() const {
    return sizeof *this + buckets_.capacity() * sizeof(HistogramBucket);
  }

 private:
  [[nodiscard]] std::vector<HistogramBucket>::iterator place(float lower, float upper);
  std::vector<HistogramBucket> buckets_;  // in order
};

// A byte string as in OpenTSDB's messages: as text if most of it is text, else as numbers.
[[nodiscard]] std::string pretty_bytes(BytesView bytes);

}  // namespace halite::storage
