// What the records of the point log say, as bytes: names and series made, and points.
// docs/formats/log.md has every byte.
//
// A payload is one or more sections, one after the other: append sections to a Bytes, hand it to
// Log::append(); read_sections() takes it apart again.
//
//   Errors  kCorruption for bytes that no writer wrote; kUnsupported for a section kind of a newer
//           Halite. No input makes it read outside, or take memory out of proportion.
//   Threads pure functions; a visitor is called on the caller's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/bytes.h"
#include "common/clock.h"
#include "common/data_point.h"
#include "common/result.h"

namespace halite::storage::log_records {

inline constexpr std::size_t kPointsMax = 1 << 20;      // of all sections of one payload
inline constexpr std::size_t kNameBytesMax = 64 << 10;  // of one name or tsuid

// A name got an id. `kind` is a NameKind.
struct NameRecord {
  std::uint8_t kind = 0;
  std::uint64_t uid = 0;
  BytesView name;
};

// A series got an id.
struct SeriesRecord {
  std::uint32_t id = 0;
  std::uint32_t shard = 0;
  BytesView tsuid;
};

// Points of one shard, a column each, all of one length, in order of arrival.
struct PointColumns {
  std::uint32_t shard = 0;
  std::span<const std::uint32_t> series;
  std::span<const TimestampMs> times;
  std::span<const ValueBits> values;
  std::span<const std::uint8_t> flags;  // PointFlag bits
};

void append_name(Bytes& to, const NameRecord& name);
void append_series(Bytes& to, const SeriesRecord& series);
void append_points(Bytes& to, const PointColumns& points);

// Views are valid during the call. An error ends the reading with it.
class SectionVisitor {
 public:
  virtual ~SectionVisitor() = default;
  virtual Result<void> name(const NameRecord& name) = 0;
  virtual Result<void> series(const SeriesRecord& series) = 0;
  virtual Result<void> points(const PointColumns& points) = 0;
};

// Reads payloads; keeps its column buffers, so use one for many. For one thread at a time.
class SectionReader {
 public:
  // points_max: of all sections of one payload; more are an error.
  explicit SectionReader(std::size_t points_max = kPointsMax) : points_max_(points_max) {}

  Result<void> read(BytesView payload, SectionVisitor& visitor);

 private:
  Result<void> read_points(BytesView& rest, SectionVisitor& visitor);
  Result<std::size_t> read_count(BytesView& rest);

  const std::size_t points_max_;
  std::size_t count_left_ = 0;  // of points_max_, in this payload
  std::vector<std::uint32_t> series_;
  std::vector<TimestampMs> times_;
  std::vector<ValueBits> values_;
  std::vector<std::uint8_t> flags_;
};

}  // namespace halite::storage::log_records
