#include "storage/cells/layouts/column.h"

#include "common/check.h"

namespace halite::storage {
namespace {

// The trailing byte of a compacted column.
constexpr char kOneResolution = 0;
constexpr char kMixedResolutions = 1;

// A time that is not a whole second keeps its milliseconds whatever the flag.
PointQualifier place(TimestampMs base_ms, TimestampMs time, std::uint8_t flags) {
  const std::int64_t offset = time - base_ms;
  HALITE_CHECK(offset >= 0 && offset < kRowMs, "a point belongs to its row's hour");
  return {static_cast<std::uint32_t>(offset), (flags & kMillis) != 0 || time % 1000 != 0, 0};
}

}  // namespace

std::optional<ColumnReader> ColumnReader::open(BytesView qualifier, BytesView value) {
  if (qualifier == kAppendQualifier) return ColumnReader(Form::kAppend, value, {});
  if (qualifier.empty() || qualifier.size() % 2 != 0) return std::nullopt;
  const bool single = qualifier.size() <= qualifier_size(qualifier.front());
  return ColumnReader(single ? Form::kSingle : Form::kCompacted, qualifier, value);
}

ColumnReader::Step ColumnReader::next(ColumnPoint& point) {
  if (problem_ != nullptr) return Step::kCorrupt;
  if (done_) return Step::kEnd;
  switch (form_) {
    case Form::kSingle:
      return next_single(point);
    case Form::kCompacted:
      return next_compacted(point);
    case Form::kAppend:
      return next_appended(point);
  }
  return Step::kEnd;
}

ColumnReader::Step ColumnReader::corrupt(const char* problem) {
  problem_ = problem;
  return Step::kCorrupt;
}

ColumnReader::Step ColumnReader::next_single(ColumnPoint& point) {
  const auto qualifier = read_qualifier(qualifiers_);
  if (!qualifier) return corrupt("invalid qualifier of a point");
  const auto value = read_value(qualifier->flags, values_);
  if (!value) return corrupt("the value does not match its qualifier");
  point = {*qualifier, *value};
  done_ = true;
  return Step::kPoint;
}

ColumnReader::Step ColumnReader::next_compacted(ColumnPoint& point) {
  if (qualifiers_.empty()) {
    if (values_.size() != 1) return corrupt("the values do not have the announced length");
    if (values_.front() != kOneResolution && values_.front() != kMixedResolutions) {
      return corrupt("the last byte is not a known version of compacted columns");
    }
    done_ = true;
    return Step::kEnd;
  }
  const auto qualifier = read_qualifier(qualifiers_);
  if (!qualifier) return corrupt("invalid qualifier of a compacted column");
  const std::size_t size = value_size(qualifier->flags);
  if (values_.size() < size) return corrupt("the values do not have the announced length");
  const auto value = read_value(qualifier->flags, values_.substr(0, size));
  if (!value) return corrupt("a value has an invalid length");
  qualifiers_.remove_prefix(qualifier_size(qualifiers_.front()));
  values_.remove_prefix(size);
  point = {*qualifier, *value};
  return Step::kPoint;
}

ColumnReader::Step ColumnReader::next_appended(ColumnPoint& point) {
  if (qualifiers_.empty()) {
    done_ = true;
    return Step::kEnd;
  }
  const auto qualifier = read_qualifier(qualifiers_);
  if (!qualifier) return corrupt("invalid start of a point in an append column");
  qualifiers_.remove_prefix(qualifier_size(qualifiers_.front()));
  const std::size_t size = value_size(qualifier->flags);
  if (qualifiers_.size() < size) return corrupt("the append column ends within a value");
  const auto value = read_value(qualifier->flags, qualifiers_.substr(0, size));
  if (!value) return corrupt("a value has an invalid length");
  qualifiers_.remove_prefix(size);
  point = {*qualifier, *value};
  return Step::kPoint;
}

std::uint8_t point_flags(const ColumnPoint& point) {
  return point.value.flags | (point.qualifier.millis ? kMillis : 0);
}

PointCell compacted_cell(TimestampMs base_ms, std::span<const TimestampMs> times,
                         std::span<const ValueBits> values, std::span<const std::uint8_t> flags) {
  HALITE_CHECK(!times.empty(), "a column holds a point");
  PointCell cell;
  bool seconds = false;
  bool millis = false;
  for (std::size_t i = 0; i < times.size(); ++i) {
    HALITE_CHECK(i == 0 || times[i - 1] < times[i], "compacted points are in time order");
    PointQualifier qualifier = place(base_ms, times[i], flags[i]);
    qualifier.flags = append_value(cell.value, values[i], flags[i]);
    append_qualifier(cell.qualifier, qualifier);
    (qualifier.millis ? millis : seconds) = true;
  }
  if (times.size() > 1) {
    cell.value.push_back(seconds && millis ? kMixedResolutions : kOneResolution);
  }
  return cell;
}

void append_entry(Bytes& column, TimestampMs base_ms, TimestampMs time, ValueBits value,
                  std::uint8_t flags) {
  PointQualifier qualifier = place(base_ms, time, flags);
  Bytes bytes;
  qualifier.flags = append_value(bytes, value, flags);
  append_qualifier(column, qualifier);
  column += bytes;
}

}  // namespace halite::storage
