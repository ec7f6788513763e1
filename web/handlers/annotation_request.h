// The parameters of the annotation endpoints, from a body or from the URI.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "common/clock.h"
#include "query/parse/parse_context.h"
#include "storage/meta/objects/annotation.h"
#include "web/endpoint.h"

namespace halite::web {

// The body if there is one, else tsuid, start_time, end_time (any time text; stored in seconds),
// description and notes. On an error, the answer.
[[nodiscard]] std::expected<storage::Annotation, Response> parse_annotation_request(
    const Call& call);

// How to parse time texts.
[[nodiscard]] query::ParseContext time_context(const Call& call);

// "[{..},{..}]"
[[nodiscard]] std::string annotations_json(const std::vector<storage::Annotation>& notes);

}  // namespace halite::web
