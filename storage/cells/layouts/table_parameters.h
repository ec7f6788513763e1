// The fixed parameters of a point table. They are stored as JSON in a settings cell, so that the
// table is never opened with others.
//
//   {"format":1,"layout":"cyclic","uid_widths":[3,3,3],"salt_width":1,"salt_buckets":16,
//    "span_ms":86400000,"slots":1024}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {

inline constexpr std::string_view kOpentsdbLayout = "opentsdb";
inline constexpr std::string_view kCyclicLayout = "cyclic";

struct TableParameters {
  std::string layout;  // kOpentsdbLayout or kCyclicLayout
  UidWidths widths;
  std::uint8_t salt_width = 0;     // bytes
  std::uint32_t salt_buckets = 1;  // 1 if rows are not salted
  std::int64_t span_ms = 0;        // of a slot; cyclic only, else 0
  std::uint32_t slots = 0;         // length of the ring; 0 = slots are used once
  bool operator==(const TableParameters&) const = default;

  [[nodiscard]] Bytes to_bytes() const;
  // kCorruption: to_bytes() cannot have written it. kUnsupported: a later version wrote it.
  static Result<TableParameters> from_bytes(BytesView bytes);
};

// kInvalidArgument if a table made with `stored` cannot be opened with `configured`; the message
// names the setting and both values.
[[nodiscard]] Result<void> check_same_table(const TableParameters& stored,
                                            const TableParameters& configured);

}  // namespace halite::storage
