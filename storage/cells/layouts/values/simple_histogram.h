// OpenTSDB's simple histogram: counts in buckets with bounds, and what fell outside of them.
//
//   bytes    number of buckets(2), then for each lower(4, single) upper(4, single) count(varint),
//            then underflow(varint) overflow(varint)
//   varint   7 bits a byte, lowest first, high bit = more follows; the ninth byte carries 8 bits
//
// Buckets are ordered by lower, then upper bound, as Java's Float.compare orders them: -0 before 0,
// NaN after everything. Counts wrap around as Java's do.
#pragma once

#include <cstdint>
#include <vector>

#include "common/bytes.h"
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

  // Sets the count of a bucket, which may be there already. kTooLarge: more buckets than the
  // bytes can count.
  Result<void> set(float lower, float upper, std::int64_t count);

  [[nodiscard]] const std::vector<HistogramBucket>& buckets() const { return buckets_; }
  // The count of a bucket with exactly these bounds; 0 where there is none.
  [[nodiscard]] std::int64_t count(float lower, float upper) const;

  // Adds another's counts to the buckets of the same bounds. kTooLarge as set().
  Result<void> add(const SimpleHistogram& other);

  // The middle of the bucket in which the cumulated share reaches `percentile`; what fell outside
  // of the buckets does not count. -1 unless 1 <= percentile <= 100; 0 when no bucket reaches it.
  [[nodiscard]] double percentile(double percentile) const;

  // Appends the bytes.
  void append_to(Bytes& to) const;
  // What is behind the end is not looked at. kCorruption: the bytes end too early.
  [[nodiscard]] static Result<SimpleHistogram> read(BytesView bytes);

  [[nodiscard]] std::size_t memory_bytes() const {
    return sizeof *this + buckets_.capacity() * sizeof(HistogramBucket);
  }

 private:
  [[nodiscard]] std::vector<HistogramBucket>::iterator place(float lower, float upper);
  std::vector<HistogramBucket> buckets_;  // in order
};

// A byte string as OpenTSDB's messages show it: a text where most of it is one, else numbers.
[[nodiscard]] std::string pretty_bytes(BytesView bytes);

}  // namespace halite::storage
