#include "ingest/writer.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "ingest/json/json_body_reader.h"
#include "ingest/put_outcome.h"
#include "ingest/writer_impl.h"

namespace halite::ingest {
namespace {

// The number of idle parser pairs; each keeps up to a few MiB.
constexpr std::size_t kParsersKept = 8;
constexpr std::size_t kParserBodyBytesMax = 4 << 20;  // parsers of larger bodies are freed

// Merges the refusals of the parser and of the store in body order.
std::vector<BatchRefusal> merge(std::vector<BatchRefusal> early, std::vector<BatchRefusal> late) {
  early.insert(early.end(), std::make_move_iterator(late.begin()),
               std::make_move_iterator(late.end()));
  std::ranges::sort(early, {}, &BatchRefusal::origin);
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
  return std::make_unique<JsonParsers>(context.options.limits);
}

void Writer::Impl::return_parsers(std::unique_ptr<JsonParsers> pair, std::size_t body_bytes) {
  if (body_bytes > kParserBodyBytesMax) return;  // it holds about six times as much
  const std::scoped_lock lock(mutex);
  if (parsers.size() < kParsersKept) parsers.push_back(std::move(pair));
}

Writer::Writer(storage::PointSink& store, const Clock& clock, IngestOptions options,
               prometheus::Registry& registry)
    : impl_(std::make_unique<Impl>(store, clock, std::move(options), registry)) {}

Writer::~Writer() = default;

Task<PutOutcome> Writer::put_json(std::string body, PutOptions put_options) {
  WriterContext& context = impl_->context;
  auto parsers = impl_->borrow_parsers();
  JsonBodyReader intake(context, *parsers);
  const bool fast = intake.take_fast_path(body);
  Result<void> scanned;
  if (!fast) scanned = parsers->bodies.scan(body, intake);
  if (!scanned) {
    impl_->return_parsers(std::move(parsers), body.size());
    context.stats.body_refused();
    co_return std::unexpected(std::move(scanned).error());
  }
  intake.count_lookups();
  std::vector<BatchRefusal> early = intake.take_refused();
  for (const BatchRefusal& refusal : early) {
    context.stats.refused(Protocol::kHttp, refusal.why, intake.elements()[refusal.origin]);
  }
  IngestBatch ingest_batch = intake.take_batch();
  SentElements elements{.texts = intake.take_elements(), .echo = {}};
  impl_->return_parsers(std::move(parsers), body.size());
  CO_TRY(CommitResult committed,
         co_await context.commit(std::move(ingest_batch), Protocol::kHttp, put_options.once));
  committed.refused = merge(std::move(early), std::move(committed.refused));
  std::optional<SentPointReader> reader;
  elements.echo = [&context, &reader](std::string_view element) {
    if (!reader) reader.emplace(context.options.limits.json_depth_max);
    // It parsed before, so it parses again.
    const auto sent = reader->read(element);
    return sent ? echo_sent_point(*sent) : std::string("null");
  };
  auto summing = put_outcome(context, std::move(committed), std::move(elements), put_options);
  co_return co_await std::move(summing);
}

Task<void> Writer::put_self_metrics(std::vector<SelfPoint> points) {
  WriterContext& context = impl_->context;
  IngestBatch ingest_batch(context.store.pin_series());
  {
    SeriesCache::Reader reader = context.cache.reader(ingest_batch.pin());
    for (std::size_t i = 0; i < points.size(); ++i) {
      NamedPoint point{.series = std::move(points[i].series),
                       .time = points[i].time,
                       .value = points[i].value,
                       .flags = points[i].flags};
      context.add_named(ingest_batch, reader, std::move(point), static_cast<std::uint32_t>(i));
    }
  }
  CO_TRY(CommitResult committed, co_await context.commit(std::move(ingest_batch), Protocol::kSelf));
  if (committed.failed) co_return std::unexpected(*std::move(committed.failed));
  co_return co_await context.await_durable(committed.durable, Protocol::kSelf, committed.taken);
}

Result<void> Writer::check_name(std::string_view what, std::string_view name) const {
  return impl_->context.rules.check_name(what, name);
}

WriterContext& Writer::context() { return impl_->context; }

void Writer::clear_series_cache() { impl_->context.cache.clear(); }

MemoryUser Writer::memory_user() {
  SeriesCache& cache = impl_->context.cache;
  MemoryUser user{.setting = "ingest.series_cache_bytes_max",
                  .used = [&cache] { return cache.bytes(); }};
  user.resize = [&cache](std::uint64_t bytes) { cache.resize(bytes); };
  return user;
}

std::vector<RefusedSample> Writer::refused_samples() const {
  return impl_->context.stats.samples();
}

}  // namespace halite::ingest
