// The two versions of a request. Private to ingest/remote_write.
#pragma once

#include <memory>

#include "ingest/remote_write/remote_write_body.h"

namespace halite::ingest {

[[nodiscard]] std::unique_ptr<RemoteWriteBody> make_request_v1(BytesView bytes,
                                                               const IngestLimits& limits);
[[nodiscard]] std::unique_ptr<RemoteWriteBody> make_request_v2(BytesView bytes,
                                                               const IngestLimits& limits);

// The name of a type by its number in both versions: "counter". Unknown numbers are "unknown".
[[nodiscard]] std::string_view metric_type_name(std::uint64_t number);

}  // namespace halite::ingest
