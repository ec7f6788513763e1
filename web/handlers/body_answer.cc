#include "web/handlers/body_answer.h"

#include <iterator>

#include <fmt/format.h>

#include "web/json/error_map.h"

namespace halite::web {

std::string refusals_text(const ingest::BodyOutcome& outcome, std::string_view part) {
  std::string text;
  for (const ingest::BodyRefusal& refusal : outcome.refusals) {
    if (!text.empty()) text += "; ";
    fmt::format_to(std::back_inserter(text), "{} {}: {}", part, refusal.part, refusal.reason);
  }
  const std::uint64_t more = outcome.refused_parts - outcome.refusals.size();
  if (more > 0) fmt::format_to(std::back_inserter(text), "; and {} more", more);
  return text;
}

std::optional<Response> whole_failure(const Call& call, const Result<ingest::BodyOutcome>& put) {
  if (!put) return error_response(call, put.error());
  if (put->retryable_error) return error_response(call, *put->retryable_error);
  return std::nullopt;
}

}  // namespace halite::web
