#include "ingest/writer.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "ingest/json_intake.h"
#include "ingest/writer_impl.h"

namespace halite::ingest {
namespace {

// So many pairs of parsers wait for their next body; they keep up to a few MiB each.
constexpr std::size_t kParsersKept = 8;
constexpr std::size_t kParserBodyBytesMax = 4 << 20;  // those that read more are not kept

// The two kinds of refusal, the parser's and the store's, as one list in body order.
std::vector<DraftRefusal> merge(std::vector<DraftRefusal> early, std::vector<DraftRefusal> late) {
  early.insert(early.end(), std::make_move_iterator(late.begin()),
               std::make_move_iterator(late.end()));
  std::ranges::sort(early, {}, &DraftRefusal::origin);
  return early;
}

std::vector<PutFailure> failures_of(const std::vector<DraftRefusal>& refused,
                                    const std::vector<std::string_view>& elements,
                                    SentPointReader& reader) {
  std::vector<PutFailure> failures;
  failures.reserve(refused.size());
  for (const DraftRefusal& refusal : refused) {
    const std::string_view element = elements[refusal.origin];
    // It could be read before, so that it can be read again; "null" is what null was.
    const auto sent = element.empty() ? fail(Errc::kNotFound, "null") : reader.read(element);
    failures.push_back(
        {.datapoint = sent ? echo_sent_point(*sent) : "null", .error = http_refusal(refusal.why)});
  }
  return failures;
}

}  // namespace

std::unique_ptr<JsonParsers> Writer::Impl::borrow_parsers() {
  {
    const std::scoped_lock lock(mutex);
    if (!parsers.empty()) {
      auto pair = std::move(parsers.back());
      parsers.pop_back();
      return pair;
    }
  }
  return std::make_unique<JsonParsers>(core.options.limits);
}

void Writer::Impl::return_parsers(std::unique_ptr<JsonParsers> pair, std::size_t body_bytes) {
  if (body_bytes > kParserBodyBytesMax) return;  // it holds some six times as much
  const std::scoped_lock lock(mutex);
  if (parsers.size() < kParsersKept) parsers.push_back(std::move(pair));
}

Writer::Writer(storage::PointStore& store, const Clock& clock, IngestOptions options,
               prometheus::Registry& registry)
    : impl_(std::make_unique<Impl>(store, clock, std::move(options), registry)) {}

Writer::~Writer() = default;

Task<PutOutcome> Writer::put_json(std::string body, bool keep_failures) {
  WriterCore& core = impl_->core;
  const std::shared_ptr<const storage::SeriesHold> hold = core.hold_series();
  auto parsers = impl_->borrow_parsers();
  JsonIntake intake(core, *parsers);
  const bool usual = intake.take_usual(body);
  Result<void> scanned;
  if (!usual) scanned = parsers->bodies.scan(body, intake);
  if (!scanned) {
    impl_->return_parsers(std::move(parsers), body.size());
    core.stats.body_refused();
    co_return std::unexpected(std::move(scanned).error());
  }
  intake.count_lookups();
  std::vector<DraftRefusal> early = intake.take_refused();
  for (const DraftRefusal& refusal : early) {
    core.stats.refused(Protocol::kHttp, refusal.why, intake.elements()[refusal.origin]);
  }
  Draft draft = intake.take_draft();
  auto committed = co_await core.commit(std::move(draft), Protocol::kHttp);
  if (!committed) {
    impl_->return_parsers(std::move(parsers), body.size());
    core.stats.body_refused();
    co_return std::unexpected(std::move(committed).error());
  }
  const auto refused = merge(std::move(early), std::move(committed->refused));
  PutOutcome outcome{.success = committed->taken,
                     .failed = refused.size(),
                     .failures = {},
                     .away = away_for(refused),
                     .durable = std::move(committed->durable)};
  if (keep_failures) outcome.failures = failures_of(refused, intake.elements(), parsers->points);
  impl_->return_parsers(std::move(parsers), body.size());
  co_return std::move(outcome);
}

Task<Completion> Writer::put_own(std::vector<OwnPoint> points) {
  WriterCore& core = impl_->core;
  const std::shared_ptr<const storage::SeriesHold> hold = core.hold_series();
  Draft draft;
  {
    SeriesCache::Reader reader = core.cache.reader();
    for (std::size_t i = 0; i < points.size(); ++i) {
      NamedPoint point{.series = std::move(points[i].series),
                       .time = points[i].time,
                       .value = points[i].value,
                       .flags = points[i].flags};
      core.add_named(draft, reader, std::move(point), static_cast<std::uint32_t>(i));
    }
  }
  CO_TRY(Committed committed, co_await core.commit(std::move(draft), Protocol::kOwn));
  co_return std::move(committed.durable);
}

Result<void> Writer::check_name(std::string_view what, std::string_view name) const {
  return impl_->core.rules.check_name(what, name);
}

void Writer::forget_series() { impl_->core.cache.clear(); }

std::vector<RefusedSample> Writer::refused_samples() const { return impl_->core.stats.samples(); }

}  // namespace halite::ingest
