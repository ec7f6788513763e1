// What the annotation endpoints are asked for, from a body or from the URI.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "common/clock.h"
#include "query/parse/parse_context.h"
#include "storage/meta/objects/annotation.h"
#include "web/endpoint.h"

namespace halite::web {

// The body where there is one, else tsuid, start_time, end_time (any time text; kept in seconds),
// description and notes; or the answer to what is wrong with them.
[[nodiscard]] std::expected<storage::Annotation, Response> parse_annotation_request(
    const Call& call);

// How time texts are read.
[[nodiscard]] query::ParseContext time_context(const Call& call);

// "[{..},{..}]"
[[nodiscard]] std::string annotations_json(const std::vector<storage::Annotation>& notes);

}  // namespace halite::web
