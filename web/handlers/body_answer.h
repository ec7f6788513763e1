// Answers to bodies of other protocols.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/result.h"
#include "ingest/bodies/body_writer.h"
#include "web/endpoint.h"

namespace halite::web {

// "line 2: no value; line 7: no time; and 5 more". `part` is what a part of the body is: "line".
[[nodiscard]] std::string refusals_text(const ingest::BodyOutcome& outcome, std::string_view part);

// The answer if nothing of a body was taken, or if the sender should send it again. Nothing if only
// refused parts, or none, are missing.
[[nodiscard]] std::optional<Response> failed_body(const Call& call,
                                                  const Result<ingest::BodyOutcome>& put);

// Stores what the body says about metric families. An error is only logged: the points are durable,
// and senders repeat their metadata.
boost::asio::awaitable<void> keep_families(const Call& call, ingest::BodyOutcome& put);

}  // namespace halite::web
