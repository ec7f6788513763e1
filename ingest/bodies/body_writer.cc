#include "ingest/bodies/body_writer.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "ingest/bodies/received_points.h"
#include "ingest/formats/lines.h"
#include "ingest/writer_context.h"

namespace halite::ingest {
namespace {

// The names of new series in a body, as text and as keys of the cache. A body of the largest size
// that has only new series needs less.
constexpr std::size_t kNewSeriesBytesMax = std::size_t{512} << 20;
constexpr std::size_t kFamiliesMax = 10'000;

// Whether a failed write may succeed when it is repeated.
bool passes(Errc code) {
  return code == Errc::kUnavailable || code == Errc::kOverloaded || code == Errc::kTimeout ||
         code == Errc::kCancelled;
}

// The first refusal of each part, by part; at most kBodyRefusalsMax.
std::vector<BodyRefusal> first_refusals(std::vector<BatchRefusal> refused) {
  std::ranges::sort(refused, {}, &BatchRefusal::origin);
  std::vector<BodyRefusal> first;
  for (BatchRefusal& refusal : refused) {
    if (first.size() == kBodyRefusalsMax) break;
    if (!first.empty() && first.back().part == refusal.origin) continue;
    first.push_back({.part = refusal.origin, .reason = std::move(refusal.why.text)});
  }
  return first;
}

// The number of parts with a refusal: by the parser, or by the store, in the order of the parts.
std::uint64_t count_parts(const std::vector<std::uint32_t>& parsed,
                          const std::vector<BatchRefusal>& stored) {
  std::uint64_t parts = parsed.size();
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const std::uint32_t part = stored[i].origin;
    if (i > 0 && part == stored[i - 1].origin) continue;
    parts += std::ranges::binary_search(parsed, part) ? 0 : 1;
  }
  return parts;
}

}  // namespace

// A body on its way: its parsed points, and what a part looks like, for samples of refused points.
class BodyWriter::Intake {
 public:
  using PartText = std::function<std::string(std::uint32_t part)>;

  Intake(WriterContext& context, ReceivedPoints::SeriesNamer name, PartText text)
      : received(context, std::move(name),
                 {.items_max = context.options.limits.points_per_request_max,
                  .refusals_kept_max = kBodyRefusalsMax,
                  .new_series_bytes_max = kNewSeriesBytesMax,
                  .families_max = kFamiliesMax}),
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
  if (auto over = intake.received.over_limit()) {
    context_.stats.body_refused();
    co_return std::unexpected(*std::move(over));
  }
  ReceivedPoints::Parsed parsed = intake.received.take();
  for (const BatchRefusal& refusal : parsed.refused) {
    context_.stats.refused(protocol, refusal.why, intake.part_text(refusal.origin));
  }
  context_.stats.refused(protocol, RefusalReason::kIllegalArgument, parsed.refused_unkept);
  for (const auto& [what, count] : parsed.skipped) context_.stats.skipped(protocol, what, count);
  BodyOutcome outcome;
  outcome.families = std::move(parsed.families);
  outcome.refused_parts = parsed.refused_parts.size();
  std::vector<BatchRefusal> refused = std::move(parsed.refused);
  if (all_or_nothing && !refused.empty()) {
    outcome.refusals = first_refusals(std::move(refused));
    co_return std::move(outcome);
  }
  CO_TRY(CommitResult committed, co_await context_.commit(std::move(parsed.points), protocol));
  if (committed.failed && !passes(committed.failed->code)) {
    co_return std::unexpected(*std::move(committed.failed));
  }
  outcome.points = committed.taken;
  outcome.retryable_error = retryable_error_of(committed);
  outcome.refused_parts = count_parts(parsed.refused_parts, committed.refused);
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
  outcome.refusals = first_refusals(std::move(refused));
  co_return std::move(outcome);
}

}  // namespace halite::ingest
