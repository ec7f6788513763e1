// Parsing of queries and answers to failed queries, shared by the query endpoints.
#pragma once

#include "query/parse/parse_context.h"
#include "query/question.h"
#include "web/endpoint.h"

namespace halite::web {

// The server's limits and settings for parsing.
[[nodiscard]] query::ParseContext parse_context(const Call& call);  // query.cc

// A query in the syntax of /api/query, from the body of a POST or from the URI.
[[nodiscard]] Result<query::Question> parse_question(const Call& call);  // query.cc

// The answer to an error of the parsers of query/: see query/parse/question_parse.h.
[[nodiscard]] Response question_error(const Call& call, const Error& error);  // query.cc

// As in OpenTSDB, 400 also for unknown names, and the text again as details.
[[nodiscard]] Response query_run_error(const Call& call, const Error& error);  // query.cc

}  // namespace halite::web
