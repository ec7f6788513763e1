// The payload of log records: new names and series, and points. Every byte: docs/formats/log.md.
//
// A payload consists of one or more sections. Append sections to a Bytes and pass it to
// Log::append(). SectionReader::read() parses it.
//
//   Errors   kCorruption: not written by this code; kUnsupported: a section kind of a newer Halite.
//            No input causes reads out of bounds or memory use out of proportion.
//   Threads  pure functions; visitors run on the caller's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "common/data_point.h"
#include "common/result.h"

namespace halite::storage::log_records {

inline constexpr std::size_t kPointsMax = 1 << 20;      // in all sections of one payload
inline constexpr std::size_t kNameBytesMax = 64 << 10;  // of one name or tsuid

// A name and its UID. `kind` is a NameKind.
struct NameRecord {
  std::uint8_t kind = 0;
  std::uint64_t uid = 0;
  BytesView name;
};

// A series and its id.
struct SeriesRecord {
  std::uint32_t id = 0;
  std::uint32_t shard = 0;
  BytesView tsuid;
};

// Points of one shard in columns of equal length, in order of arrival.
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

// Views are valid during the call. An error ends the read with it.
class SectionVisitor {
 public:
  virtual ~SectionVisitor() = default;
  virtual Result<void> name(const NameRecord& name) = 0;
  virtual Result<void> series(const SeriesRecord& series) = 0;
  virtual Result<void> points(const PointColumns& points) = 0;
};

// Passes the names at the beginning of a payload to the visitor and returns the rest.
[[nodiscard]] Result<BytesView> read_names(BytesView payload, SectionVisitor& visitor);
// The shard of the section that a payload without names begins with.
[[nodiscard]] Result<std::uint32_t> shard_of(BytesView payload);

// Reads payloads. Reuse it: it keeps its column buffers. Not thread-safe.
class SectionReader {
 public:
  // points_max: limit for all sections of one payload; more is an error.
  explicit SectionReader(std::size_t points_max = kPointsMax) : points_max_(points_max) {}

  Result<void> read(BytesView payload, SectionVisitor& visitor);

 private:
  Result<void> read_points(BytesView& rest, SectionVisitor& visitor);
  Result<std::size_t> read_count(BytesView& rest);

  const std::size_t points_max_;
  std::size_t count_left_ = 0;  // rest of points_max for this payload
  std::vector<std::uint32_t> series_;
  std::vector<TimestampMs> times_;
  std::vector<ValueBits> values_;
  std::vector<std::uint8_t> flags_;
};

}  // namespace halite::storage::log_records
