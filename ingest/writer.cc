#include "ingest/writer.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "ingest/json_intake.h"
#include "ingest/put_outcome.h"
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

Task<PutOutcome> Writer::put_json(std::string body, PutWish wish) {
  WriterCore& core = impl_->core;
  std::shared_ptr<const storage::SeriesHold> hold = core.hold_series();
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
  SentElements elements{.texts = intake.take_elements(), .echo = {}};
  impl_->return_parsers(std::move(parsers), body.size());
  CO_TRY(Committed committed, co_await core.commit(std::move(draft), Protocol::kHttp));
  hold.reset();  // ids are not needed any more
  committed.refused = merge(std::move(early), std::move(committed.refused));
  std::optional<SentPointReader> reader;
  elements.echo = [&core, &reader](std::string_view element) {
    if (!reader) reader.emplace(core.options.limits.json_depth_max);
    // It could be read before, so that it can be read again.
    const auto sent = reader->read(element);
    return sent ? echo_sent_point(*sent) : std::string("null");
  };
  auto summing = put_outcome(core, std::move(committed), std::move(elements), wish);
  co_return co_await std::move(summing);
}

Task<void> Writer::put_own(std::vector<OwnPoint> points) {
  WriterCore& core = impl_->core;
  std::shared_ptr<const storage::SeriesHold> hold = core.hold_series();
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
  hold.reset();
  if (committed.failed) co_return std::unexpected(*std::move(committed.failed));
  co_return co_await core.settle(committed.durable, Protocol::kOwn, committed.taken);
}

Result<void> Writer::check_name(std::string_view what, std::string_view name) const {
  return impl_->core.rules.check_name(what, name);
}

void Writer::forget_series() { impl_->core.cache.clear(); }

std::vector<RefusedSample> Writer::refused_samples() const { return impl_->core.stats.samples(); }

}  // namespace halite::ingest
