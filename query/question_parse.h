// The two syntaxes of /api/query: URI parameters (question_uri.cc) and a JSON body
// (question_json.cc). Both end in a Question whose every name, number and time was checked, with
// OpenTSDB's error texts.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "common/result.h"
#include "query/question.h"

namespace halite::query {

// Query-string parameters in the order they came, percent-decoded.
using Parameters = std::vector<std::pair<std::string, std::string>>;

struct ParseContext {
  TimestampMs now = 0;
  std::string timezone;  // the server's zone, for dates of a question without one; empty = UTC
  std::size_t json_depth_max = 16;
  std::size_t regexp_bytes_max = 1 << 20;  // of one compiled regular expression
  std::size_t sub_queries_max = 256;       // query.sub_queries_max
  std::size_t metric_width = 3;            // bytes of a metric's id, for TSUIDs
  // With --opentsdb-conf: timezone= of a URI sets no dates, and texts are OpenTSDB's to the letter.
  bool opentsdb_words = false;
};

// Errors have Errc::kInternal where OpenTSDB answers 500 to a mistake of the asker's (most of the
// URI's syntax): the message is what it says, the details are what was wanted and found where that
// does not say it. They have kInvalidArgument where it answers 400; their details are what its
// envelope says there.
[[nodiscard]] Result<Question> parse_question_uri(const Parameters& parameters,
                                                  const ParseContext& context);
[[nodiscard]] Result<Question> parse_question_json(std::string_view body,
                                                   const Parameters& parameters,
                                                   const ParseContext& context);

// OpenTSDB's time texts ("1h-ago", "2013/01/01-00:00:00", "1356998400", "now", ...).
[[nodiscard]] Result<TimestampMs> parse_time(std::string_view text, const ParseContext& context);

}  // namespace halite::query
