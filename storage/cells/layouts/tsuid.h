// A series as uids: metric uid, then (tag key uid, tag value uid) pairs by key uid; no salt or
// time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {

struct UidPair {
  std::uint64_t key = 0;
  std::uint64_t value = 0;
  auto operator<=>(const UidPair&) const = default;
};

// Pairs in any order. Uids must fit their widths; otherwise their high bytes are lost.
[[nodiscard]] Bytes make_tsuid(const UidWidths& widths, std::uint64_t metric_uid,
                               std::span<const UidPair> pairs);

struct SeriesUids {
  std::uint64_t metric = 0;
  std::vector<UidPair> pairs;  // as stored
};

// kInvalidArgument unless the length is that of a metric and any number of pairs.
[[nodiscard]] Result<SeriesUids> parse_tsuid(const UidWidths& widths, BytesView tsuid);

// Whether the length is that of a metric uid and whole pairs.
[[nodiscard]] bool is_tsuid_length(const UidWidths& widths, std::size_t length);

// kInvalidArgument unless every width is 1 to 8.
[[nodiscard]] Result<void> check_widths(const UidWidths& widths);

}  // namespace halite::storage
