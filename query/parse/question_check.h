// The last step for both syntaxes: reads times, checks names, removes duplicates.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "query/parse/parse_context.h"
#include "query/question.h"

namespace halite::query {

struct DraftSubQuestion {
  SubQuestion question;             // aggregator, metric, filters, explicit_tags, rate
  std::string downsample;           // not yet parsed; empty = none
  std::vector<std::string> tsuids;  // hexadecimal
  bool operator==(const DraftSubQuestion&) const = default;
};

// Parses "ROLLUP_RAW" and so on, in any case. Other texts mean kNoFallback, as in OpenTSDB.
[[nodiscard]] RollupUsage parse_rollup_usage(std::string_view text);

// A query as written, not yet checked.
struct DraftQuestion {
  std::string start;
  std::string end;  // empty = now
  bool use_calendar = false;
  bool dates_in_timezone = true;  // flags.timezone applies to `start` and `end`, too
  std::vector<DraftSubQuestion> queries;
  Question flags;  // timezone and the switches; check_question() sets the rest
};

// Adds a sub-query. kTooLarge: there are too many.
[[nodiscard]] Result<void> add_sub_question(DraftQuestion& draft, DraftSubQuestion sub,
                                            const ParseContext& context);

// Validates in OpenTSDB's order, with OpenTSDB's messages.
[[nodiscard]] Result<Question> check_question(DraftQuestion draft, const ParseContext& context);

}  // namespace halite::query
