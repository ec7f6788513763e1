// The three kinds of names: their names in OpenTSDB, legal names, and errors for unknown names.
#pragma once

#include <array>
#include <string_view>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/api/point_store.h"

namespace halite::storage {

inline constexpr std::array kNameKinds = {NameKind::kMetric, NameKind::kTagKey,
                                          NameKind::kTagValue};

[[nodiscard]] std::string_view name_kind_text(NameKind kind);  // "metrics", "tagk", "tagv"

// kInvalidArgument unless the length is 1 to 32 767 bytes, and for the one byte 0, whose row holds
// the counters.
[[nodiscard]] Result<void> check_name(NameKind kind, std::string_view name);

// "No such name for 'metrics': 'x'" and "No such unique ID for 'metrics': [0, 0, 1]", kNotFound.
[[nodiscard]] Error no_such_name(NameKind kind, std::string_view name);
[[nodiscard]] Error no_such_uid(NameKind kind, BytesView uid);

}  // namespace halite::storage
