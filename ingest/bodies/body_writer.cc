#include "ingest/bodies/body_writer.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "ingest/bodies/received_points.h"
#include "ingest/formats/lines.h"
#include "ingest/writer_context.h"

namespace halite::ingest {
namespace {

// The first refusals of each part, by part, and how many parts have any.
void summarize(std::vector<BatchRefusal> refused, BodyOutcome& outcome) {
  std::ranges::sort(refused, {}, &BatchRefusal::origin);
  std::optional<std::uint32_t> last;
  for (BatchRefusal& refusal : refused) {
    if (last == refusal.origin) continue;
    last = refusal.origin;
    ++outcome.refused_parts;
    if (outcome.refusals.size() < kBodyRefusalsMax) {
      outcome.refusals.push_back({.part = refusal.origin, .reason = std::move(refusal.why.text)});
    }
  }
}

}  // namespace

// A body on its way: its parsed points, and what a part looks like, for samples of refused points.
class BodyWriter::Intake {
 public:
  using PartText = std::function<std::string(std::uint32_t part)>;

  Intake(WriterContext& context, ReceivedPoints::SeriesNamer name, PartText text)
      : received(context, std::move(name), context.options.limits.points_per_request_max),
        part_text(std::move(text)) {}

  ReceivedPoints received;
  PartText part_text;
};

const IngestLimits& BodyWriter::limits() const { return context_.options.limits; }

Task<BodyOutcome> BodyWriter::put(PointBody& body, Protocol protocol) {
  Intake intake(
      context_, [&body](const SeriesKey& key) { return body.series_name(key); },
      [](std::uint32_t part) { return fmt::format("part {}", part); });
  Result<void> read = body.read(intake.received);
  if (!read) {
    context_.stats.body_refused();
    co_return std::unexpected(std::move(read).error());
  }
  co_return co_await store(intake, protocol, false);
}

Task<BodyOutcome> BodyWriter::put(LinesBody body, Protocol protocol) {
  const std::unique_ptr<PointParser> parser =
      make_parser(body.format, body.options, context_.rules);
  Intake intake(
      context_, [&parser](const SeriesKey& key) { return parser->series_name(key); },
      [&body](std::uint32_t part) { return std::string(line_of(body.text, part)); });
  std::uint32_t number = 0;
  for (std::string_view rest = body.text; !rest.empty();) {
    intake.received.part(++number);
    parser->line(take_line(rest), intake.received);
  }
  parser->end(intake.received);
  co_return co_await store(intake, protocol, body.all_or_nothing);
}

void BodyWriter::refuse(Protocol protocol, std::string reason, std::string_view part) {
  context_.stats.refused(protocol, {.text = std::move(reason)}, part);
}

Task<BodyOutcome> BodyWriter::store(Intake& intake, Protocol protocol, bool all_or_nothing) {
  const IngestLimits& limits = context_.options.limits;
  if (intake.received.points() > limits.points_per_request_max) {
    context_.stats.body_refused();
    co_return fail(
        Errc::kTooLarge,
        fmt::format("More than {} data points in one request", limits.points_per_request_max),
        "Send fewer at a time or raise ingest.points_per_request_max");
  }
  ReceivedPoints::Parsed parsed = intake.received.take();
  std::vector<BatchRefusal> refused = std::move(parsed.refused);
  for (std::size_t sampled = 0; const BatchRefusal& refusal : refused) {
    if (sampled++ < kBodyRefusalsMax) {
      context_.stats.refused(protocol, refusal.why, intake.part_text(refusal.origin));
    } else {
      context_.stats.refused(protocol, refusal.why.reason, 1);
    }
  }
  BodyOutcome outcome;
  outcome.skipped = std::move(parsed.skipped);
  outcome.families = std::move(parsed.families);
  if (all_or_nothing && !refused.empty()) {
    summarize(std::move(refused), outcome);
    co_return std::move(outcome);
  }
  CO_TRY(CommitResult committed, co_await context_.commit(std::move(parsed.points), protocol));
  outcome.points = committed.taken;
  outcome.retryable_error = retryable_error_of(committed);
  std::ranges::move(committed.refused, std::back_inserter(refused));
  if (committed.taken > 0) {
    Result<void> settled =
        co_await context_.await_durable(committed.durable, protocol, committed.taken);
    if (!settled) {
      outcome.points = 0;
      outcome.retryable_error = Error{Errc::kUnavailable, std::move(settled).error().message,
                                      "Points may be stored or not: send them again"};
    }
  }
  summarize(std::move(refused), outcome);
  co_return std::move(outcome);
}

}  // namespace halite::ingest
