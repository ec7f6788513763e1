// What the query endpoints share: how they read a question, and how they answer what went wrong
// while it ran.
#pragma once

#include "query/parse/parse_context.h"
#include "query/question.h"
#include "web/endpoint.h"

namespace halite::web {

// The server's limits and settings for parsing.
[[nodiscard]] query::ParseContext parse_context(const Call& call);  // query.cc

// A question as /api/query takes it, from the body of a POST or from the URI.
[[nodiscard]] Result<query::Question> parse_question(const Call& call);  // query.cc

// What is wrong with a question, from the parsers of query/: see query/parse/question_parse.h.
[[nodiscard]] Response question_error(const Call& call, const Error& error);  // query.cc

// OpenTSDB says 400 also for names that do not exist, and repeats the text as details.
[[nodiscard]] Response query_run_error(const Call& call, const Error& error);  // query.cc

}  // namespace halite::web
