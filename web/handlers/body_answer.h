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

// Keeps the metric families of a body. The answer if the sender should send the body again. Nothing
// if only refused parts, or none, are missing.
boost::asio::awaitable<std::optional<Response>> whole_failure(const Call& call,
                                                              ingest::BodyOutcome& put);
// The same, and the answer if nothing of the body was taken.
boost::asio::awaitable<std::optional<Response>> whole_failure(const Call& call,
                                                              Result<ingest::BodyOutcome>& put);

}  // namespace halite::web
