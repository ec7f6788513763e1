// Argument checks that all wide-column stores share. All errors are kInvalidArgument and contain
// the bad value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <vector>

#include "common/result.h"
#include "storage/api/wide_column.h"

namespace halite::storage {

inline constexpr std::size_t kFamiliesMax = 255;  // Family is one byte

[[nodiscard]] Result<void> check_row_key(BytesView row);
[[nodiscard]] Result<void> check_family(Family family, std::size_t families);

// Names have letters, digits, '-' and '_'. At least one family; no duplicate name; no negative TTL.
[[nodiscard]] Result<void> check_table_spec(const TableSpec& spec);

// kConflict: a table with families `found` is opened with other families. TTLs may differ.
[[nodiscard]] Result<void> check_same_families(const std::vector<FamilySpec>& found,
                                               const TableSpec& spec);

// Checks keys, families and times (none below 0) of a whole call before it starts.
[[nodiscard]] Result<void> check_writes(const std::vector<RowWrite>& rows, std::size_t families);
[[nodiscard]] Result<void> check_adds(const std::vector<CounterAdd>& adds, std::size_t families);
[[nodiscard]] Result<void> check_reads(const std::vector<RowRead>& reads, std::size_t families);

// The sum in a counter's cell (nullopt: absent), or the outcome that forbids the addition.
[[nodiscard]] std::expected<std::int64_t, AddOutcome> counter_sum(std::optional<BytesView> current,
                                                                  std::int64_t delta);

// Whether no row can be in it: it ends at its start or before.
[[nodiscard]] inline bool is_empty(const KeyRange& range) {
  return !range.end.empty() && range.begin >= range.end;
}

// Non-empty bounds follow the rule for row keys. Ranges must be in order, except empty ones.
[[nodiscard]] Result<void> check_scan(const ScanSpec& spec, std::size_t families);
[[nodiscard]] Result<void> check_scan_limit(ScanLimit limit);

// A cell expires when its time is ttl_ms or more in the past; ttl_ms 0 = never.
[[nodiscard]] inline bool is_expired(TimestampMs time, std::int64_t ttl_ms, TimestampMs now) {
  return ttl_ms > 0 && time <= now - ttl_ms;
}

}  // namespace halite::storage
