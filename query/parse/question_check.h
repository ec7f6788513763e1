// The last step of both syntaxes: times read, names checked, duplicates collapsed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "query/parse/parse_context.h"
#include "query/question.h"

namespace halite::query {

struct DraftSubQuestion {
  SubQuestion question;             // aggregator, metric, filters, explicit_tags, rate
  std::string downsample;           // not yet read; empty = none
  std::vector<std::string> tsuids;  // hexadecimal
  bool operator==(const DraftSubQuestion&) const = default;
};

// "ROLLUP_RAW" and the like, in any case; what is none of them means kNoFallback, as in OpenTSDB.
[[nodiscard]] RollupUsage parse_rollup_usage(std::string_view text);

// A question as written: nothing checked yet.
struct DraftQuestion {
  std::string start;
  std::string end;  // empty = now
  bool use_calendar = false;
  bool dates_in_timezone = true;  // flags.timezone counts for `start` and `end`, too
  std::vector<DraftSubQuestion> queries;
  Question flags;  // timezone and the switches; the rest is filled in by check_question()
};

// Adds a sub-query as it is read; one over the limit is kTooLarge.
[[nodiscard]] Result<void> add_sub_question(DraftQuestion& draft, DraftSubQuestion sub,
                                            const ParseContext& context);

// Validates in OpenTSDB's order, with its texts.
[[nodiscard]] Result<Question> check_question(DraftQuestion draft, const ParseContext& context);

}  // namespace halite::query
