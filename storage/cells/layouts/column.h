// OpenTSDB's columns that contain several points of a row.
//
// Compacted  qualifiers in order of their offsets; values likewise, then one byte: 0, or 1 if
//            2-byte and 4-byte qualifiers are mixed. A single point has no such byte.
// Append     qualifier 05 00 00; the value is a sequence of (qualifier, value), as they arrived.
//
// A reader describes damage in a few words; the caller adds the row.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "storage/cells/layouts/row_layout.h"
#include "storage/cells/layouts/values/cell_value.h"
#include "storage/cells/layouts/values/qualifier.h"

namespace halite::storage {

inline constexpr BytesView kAppendQualifier{"\x05\x00\x00", 3};

// One point of such a column.
struct ColumnPoint {
  PointQualifier qualifier;
  PointValue value;
};

// Iterates over the points of one cell, also of an ordinary cell, in stored order.
class ColumnReader {
 public:
  enum class Form : std::uint8_t { kSingle, kCompacted, kAppend };

  // Detects the form from the qualifier; nullopt if the cell contains no points (an odd or empty
  // qualifier that is not the append column's). The views must outlive the reader.
  static std::optional<ColumnReader> open(BytesView qualifier, BytesView value);

  [[nodiscard]] Form form() const { return form_; }

  enum class Step : std::uint8_t { kPoint, kEnd, kCorrupt };
  // After kCorrupt, `problem()` describes the damage.
  [[nodiscard]] Step next(ColumnPoint& point);
  [[nodiscard]] const char* problem() const { return problem_; }

 private:
  ColumnReader(Form form, BytesView qualifiers, BytesView values)
      : form_(form), qualifiers_(qualifiers), values_(values) {}
  Step next_single(ColumnPoint& point);
  Step next_compacted(ColumnPoint& point);
  Step next_appended(ColumnPoint& point);
  Step corrupt(const char* problem);

  Form form_;
  bool done_ = false;
  BytesView qualifiers_;  // kAppend: the entries; otherwise the remaining qualifiers
  BytesView values_;
  const char* problem_ = nullptr;
};

// The PointFlag bits that write the point back unchanged.
[[nodiscard]] std::uint8_t point_flags(const ColumnPoint& point);

// The compacted column of at least one point of a row, with ascending times in the hour that begins
// at base_ms. One point becomes an ordinary cell.
[[nodiscard]] PointCell compacted_cell(TimestampMs base_ms, std::span<const TimestampMs> times,
                                       std::span<const ValueBits> values,
                                       std::span<const std::uint8_t> flags);

// Appends an entry to an append column.
void append_entry(Bytes& column, TimestampMs base_ms, TimestampMs time, ValueBits value,
                  std::uint8_t flags);

}  // namespace halite::storage
