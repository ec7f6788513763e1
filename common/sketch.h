// A DDSketch: counts of numbers in buckets whose bounds grow by 2 %. It answers any percentile with
// a relative error of at most 1 %.
//
// Bucket i holds the numbers in (g^(i-1), g^i], with g = 1.01 / 0.99; negative numbers have buckets
// of their own. Infinite numbers are counted apart, so a percentile can be infinite. Numbers nearer
// to zero than the smallest normal double count as zeros; NaN does not count. If a sketch had more
// than kBucketsMax buckets besides that of the zeros, those nearest to zero become zeros: then only
// percentiles that fall on these are less exact.
//
// To merge is to add counts. The result does not depend on the order of numbers and merges.
//
//   bytes  number of buckets(varint), then for each bucket, in ascending order of its numbers:
//            key (of the first: varint of zigzag; then varint of the distance to the last, less 1),
//            count(varint), which is not 0
//   key    0: zeros; 65536 + i: bucket i; 131072: infinity; negated for negative numbers
//
//   Threads  not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/bytes/bytes.h"

namespace halite {

class Sketch {
 public:
  static constexpr double kRelativeError = 0.01;
  static constexpr std::size_t kBucketsMax = 2048;

  void add(double number);
  void add(const Sketch& more);

  [[nodiscard]] bool empty() const { return buckets_.empty(); }
  [[nodiscard]] std::uint64_t count() const;
  // The percentile, 0 to 100, as OpenTSDB computes it from the numbers: interpolated between the
  // two at the position percentile / 100 * (count + 1). If one is infinite and no value lies
  // between, the lower one. NaN if the sketch is empty.
  [[nodiscard]] double percentile(double percentile) const;

  void append_to(Bytes& to) const;
  // Removes a sketch from the front of `rest`. nullopt: the bytes are damaged; `rest` is then
  // unspecified.
  [[nodiscard]] static std::optional<Sketch> take(BytesView& rest);

  // The memory that it uses besides sizeof.
  [[nodiscard]] std::size_t bytes() const { return buckets_.capacity() * sizeof(Bucket); }
  bool operator==(const Sketch&) const = default;

 private:
  struct Bucket {
    std::int32_t key = 0;
    std::uint64_t count = 0;
    bool operator==(const Bucket&) const = default;
  };
  static std::int32_t key_of(double number);
  static double value_of(std::int32_t key);
  void limit();

  std::vector<Bucket> buckets_;  // by key; none is empty
};

}  // namespace halite
