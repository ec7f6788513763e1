#include "web/handlers/body_answer.h"

#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "common/log.h"
#include "storage/meta/metadata.h"

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

std::optional<Response> failed_body(const Call& call, const Result<ingest::BodyOutcome>& put) {
  if (!put) return error_response(call, put.error());
  if (put->retryable_error) return error_response(call, *put->retryable_error);
  return std::nullopt;
}

boost::asio::awaitable<void> keep_families(const Call& call, ingest::BodyOutcome& put) {
  if (put.families.empty()) co_return;
  auto keeping = call.services.metadata.families().put(std::move(put.families));
  const Result<void> kept = co_await std::move(keeping);
  if (!kept) log::warn("metadata of metrics is not kept: {}", kept.error().message);
}

}  // namespace halite::web
