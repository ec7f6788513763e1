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

boost::asio::awaitable<std::optional<Response>> whole_failure(const Call& call,
                                                              ingest::BodyOutcome& put) {
  if (put.retryable_error) co_return error_response(call, *put.retryable_error);
  if (put.families.empty()) co_return std::nullopt;
  auto keeping = call.services.metadata.families().put(std::move(put.families));
  const Result<void> kept = co_await std::move(keeping);
  // The points are durable, and senders repeat their metadata.
  if (!kept) log::warn("metadata of metrics is not kept: {}", kept.error().message);
  co_return std::nullopt;
}

boost::asio::awaitable<std::optional<Response>> whole_failure(const Call& call,
                                                              Result<ingest::BodyOutcome>& put) {
  if (!put) co_return error_response(call, put.error());
  co_return co_await whole_failure(call, *put);
}

}  // namespace halite::web
