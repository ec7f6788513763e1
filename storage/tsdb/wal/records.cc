#include "storage/tsdb/wal/records.h"

#include <fmt/format.h>

#include "common/bytes/little_endian.h"
#include "common/bytes/varint.h"
#include "common/check.h"
#include "storage/tsdb/wal/column.h"

namespace halite::storage::log_records {

namespace {

enum Section : std::uint8_t { kName = 1, kSeries = 2, kPoints = 3 };

std::unexpected<Error> corrupt(std::string_view what) {
  return fail(Errc::kCorruption, fmt::format("a log record is damaged: {}", what));
}

Result<std::uint64_t> read_varint(BytesView& rest) {
  const std::optional<std::uint64_t> value = take_varint(rest);
  if (!value) return corrupt("a number that does not end");
  return *value;
}

Result<std::uint64_t> read_bounded(BytesView& rest, std::uint64_t greatest, std::string_view what) {
  TRY(const std::uint64_t value, read_varint(rest));
  if (value > greatest) return corrupt(fmt::format("{} {} is over {}", what, value, greatest));
  return value;
}

void append_text(Bytes& to, BytesView text) {
  HALITE_CHECK(text.size() <= kNameBytesMax, "a name for the log is too long");
  append_varint(to, text.size());
  to.append(text);
}

Result<BytesView> read_text(BytesView& rest) {
  TRY(const std::uint64_t bytes, read_bounded(rest, kNameBytesMax, "a name's length"));
  if (bytes > rest.size()) return corrupt("it ends in a name");
  const BytesView text = rest.substr(0, bytes);
  rest.remove_prefix(bytes);
  return text;
}

Result<std::uint8_t> read_byte(BytesView& rest) {
  if (rest.empty()) return corrupt("it ends early");
  const auto byte = static_cast<std::uint8_t>(rest.front());
  rest.remove_prefix(1);
  return byte;
}

Result<void> read_name(BytesView& rest, SectionVisitor& visitor) {
  NameRecord name;
  TRY(name.kind, read_byte(rest));
  TRY(name.uid, read_varint(rest));
  TRY(name.name, read_text(rest));
  return visitor.name(name);
}

constexpr std::uint64_t kU32Max = 0xFFFFFFFF;

Result<std::uint32_t> read_u32(BytesView& rest, std::string_view what) {
  TRY(const std::uint64_t value, read_bounded(rest, kU32Max, what));
  return static_cast<std::uint32_t>(value);
}

Result<void> read_series(BytesView& rest, SectionVisitor& visitor) {
  TRY(const std::uint32_t id, read_u32(rest, "a series id"));
  TRY(const std::uint32_t shard, read_u32(rest, "a shard"));
  TRY(const BytesView tsuid, read_text(rest));
  return visitor.series({.id = id, .shard = shard, .tsuid = tsuid});
}

std::unexpected<Error> unknown_section(std::uint8_t section) {
  return fail(Errc::kUnsupported,
              fmt::format("a log record has a section of the unknown kind {}", section));
}

}  // namespace

void append_name(Bytes& to, const NameRecord& name) {
  to.push_back(static_cast<char>(kName));
  to.push_back(static_cast<char>(name.kind));
  append_varint(to, name.uid);
  append_text(to, name.name);
}

void append_series(Bytes& to, const SeriesRecord& series) {
  to.push_back(static_cast<char>(kSeries));
  append_varint(to, series.id);
  append_varint(to, series.shard);
  append_text(to, series.tsuid);
}

void append_points(Bytes& to, const PointColumns& points) {
  const std::size_t count = points.series.size();
  HALITE_CHECK(count <= kPointsMax, "too many points for one log section");
  HALITE_CHECK(
      points.times.size() == count && points.values.size() == count && points.flags.size() == count,
      "columns of points differ in length");
  to.push_back(static_cast<char>(kPoints));
  append_varint(to, points.shard);
  append_varint(to, count);
  append_column(to, points.series);
  append_column(to, points.times);
  append_column(to, points.values);
  append_column(to, points.flags);
}

// Columns of width 0 take no bytes, so without a limit a short payload could claim any count.
Result<std::size_t> SectionReader::read_count(BytesView& rest) {
  TRY(const std::uint64_t count, read_bounded(rest, count_left_, "a count"));
  count_left_ -= count;
  return count;
}

Result<void> SectionReader::read_points(BytesView& rest, SectionVisitor& visitor) {
  TRY(const std::uint32_t shard, read_u32(rest, "a shard"));
  TRY(const std::size_t count, read_count(rest));
  TRY_VOID(read_column(rest, count, series_));
  TRY_VOID(read_column(rest, count, times_));
  TRY_VOID(read_column(rest, count, values_));
  TRY_VOID(read_column(rest, count, flags_));
  return visitor.points({shard, series_, times_, values_, flags_});
}

Result<BytesView> read_names(BytesView payload, SectionVisitor& visitor) {
  while (!payload.empty() && static_cast<std::uint8_t>(payload.front()) == kName) {
    payload.remove_prefix(1);
    TRY_VOID(read_name(payload, visitor));
  }
  return payload;
}

Result<std::uint32_t> shard_of(BytesView payload) {
  TRY(const std::uint8_t section, read_byte(payload));
  if (section == kSeries) TRY_VOID(read_u32(payload, "a series id"));
  if (section == kSeries || section == kPoints) return read_u32(payload, "a shard");
  return unknown_section(section);
}

Result<void> SectionReader::read(BytesView payload, SectionVisitor& visitor) {
  count_left_ = points_max_;
  while (!payload.empty()) {
    const auto section = static_cast<std::uint8_t>(payload.front());
    payload.remove_prefix(1);
    if (section == kName) {
      TRY_VOID(read_name(payload, visitor));
    } else if (section == kSeries) {
      TRY_VOID(read_series(payload, visitor));
    } else if (section == kPoints) {
      TRY_VOID(read_points(payload, visitor));
    } else {
      return unknown_section(section);
    }
  }
  return {};
}

}  // namespace halite::storage::log_records
