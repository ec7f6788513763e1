#include "ingest/writer_context.h"

#include <algorithm>
#include <random>
#include <utility>

#include <fmt/format.h>

namespace halite::ingest {
namespace {

// Not a seed for repeatable runs: it only stops clients from guessing which keys collide.
std::uint64_t cache_seed() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device();
}

// A series' names as one key, for all grammars.
struct NamedKey {
  explicit NamedKey(const SeriesName& name) : metric(name.metric) {
    for (const Tag& tag : name.tags) {
      tags += tag.key;
      tags += '\0';
      tags += tag.value;
      tags += '\0';
    }
  }
  [[nodiscard]] SeriesKey key() const {
    return {.grammar = KeyGrammar::kNames, .metric = metric, .tags = tags};
  }

  std::string metric;
  std::string tags;
};

}  // namespace

Error error_for_sender(Error error) {
  if (error.code == Errc::kTimeout) error.code = Errc::kUnavailable;
  return error;
}

std::optional<Error> retryable_error_of(const CommitResult& committed) {
  if (committed.failed) return error_for_sender(*committed.failed);
  const auto found = std::ranges::find_if(
      committed.refused, [](const BatchRefusal& refusal) { return refusal.why.passes; });
  if (found == committed.refused.end()) return std::nullopt;
  return Error{Errc::kUnavailable, found->why.text, {}};
}

WriterContext::WriterContext(storage::PointSink& store_in, const Clock& clock,
                             IngestOptions options_in, prometheus::Registry& registry)
    : store(store_in),
      options(std::move(options_in)),
      rules(options.limits, options.special_characters),
      cache(options.limits.series_cache_bytes_max, cache_seed(), &store),
      stats(options.limits, clock, registry) {}

void WriterContext::add_named(IngestBatch& ingest_batch, SeriesCache::Reader& reader,
                              NamedPoint point, std::uint32_t origin) const {
  const PointBits bits{.time = point.time, .value = point.value, .flags = point.flags};
  const NamedKey named(point.series);
  const std::uint64_t hash = cache.hash(named.key());
  if (const auto id = reader.find(named.key(), hash)) {
    return ingest_batch.add(*id, bits, origin);
  }
  auto series = ingest_batch.find_waiting(named.key(), hash);
  if (!series) series = ingest_batch.add_waiting(named.key(), hash, std::move(point.series));
  ingest_batch.add(*series, bits, origin);
}

Task<void> WriterContext::resolve(IngestBatch& ingest_batch, Protocol protocol,
                                  std::vector<BatchRefusal>& refused) {
  if (ingest_batch.waiting().empty()) co_return Result<void>();
  std::vector<SeriesName> names = ingest_batch.take_names();
  const std::uint64_t epoch = cache.epoch();
  CO_TRY(const auto answers, co_await store.intern(std::move(names), options.create));
  std::vector<std::optional<storage::SeriesId>> ids;
  ids.reserve(answers.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const UnresolvedSeries& series = ingest_batch.waiting()[i];
    ids.push_back(answers[i] ? std::optional(*answers[i]) : std::nullopt);
    if (answers[i]) cache.insert(series.key(), series.hash, *answers[i], epoch);
  }
  for (const IngestBatch::Lost& lost : ingest_batch.resolve(ids)) {
    const UnresolvedSeries& series = ingest_batch.waiting()[lost.series];
    Refused why = refused_by_store(answers[lost.series].error());
    stats.refused(protocol, why, fmt::format("{} {}", series.metric, series.tags));
    refused.push_back({.origin = lost.origin, .why = std::move(why)});
  }
  stats.cache_is(cache.bytes(), cache.keys());
  co_return Result<void>();
}

std::string WriterContext::describe(storage::SeriesId id) const {
  const storage::Series& series = store.series(id);
  std::string text(series.metric);
  for (const storage::SeriesTag& tag : series.tags) {
    text += fmt::format(" {}={}", tag.key, tag.value);
  }
  return text;
}

Task<CommitResult> WriterContext::commit(IngestBatch ingest_batch, Protocol protocol, Bytes once) {
  CommitResult committed;
  Result<void> handed = co_await resolve(ingest_batch, protocol, committed.refused);
  const std::size_t points = ingest_batch.points();
  if (handed && points > 0) {
    handed = co_await append_to_store(ingest_batch, protocol, std::move(once), committed);
  }
  if (!handed) {
    committed.failed = std::move(handed).error();
    committed.not_taken = points;
    stats.refused(protocol, refused_by_store(*committed.failed).reason, points);
  }
  std::ranges::sort(committed.refused, {}, &BatchRefusal::origin);
  stats.taken(protocol, committed.taken);
  co_return std::move(committed);
}

Task<void> WriterContext::append_to_store(IngestBatch& ingest_batch, Protocol protocol, Bytes once,
                                          CommitResult& committed) {
  const std::size_t points = ingest_batch.points();
  storage::PointBatch batch = ingest_batch.take_batch();
  batch.settle = is_request(protocol);
  batch.once = std::move(once);
  const std::vector<storage::SeriesId> series = batch.series;  // to name refused points
  CO_TRY(auto accepted, co_await store.append(std::move(batch)));
  for (storage::Refusal& refusal : accepted.refused) {
    Refused why = refused_by_store(refusal.error);
    stats.refused(protocol, why, describe(series[refusal.index]));
    committed.refused.push_back(
        {.origin = ingest_batch.origin(refusal.index), .why = std::move(why)});
  }
  committed.taken = points - accepted.refused.size();
  committed.durable = std::move(accepted.durable);
  if (is_request(protocol)) store.request_sync();  // the answer waits for it
  co_return Result<void>();
}

Task<void> WriterContext::await_durable(Completion durable, Protocol protocol,
                                        std::uint64_t points) {
  Result<void> outcome = co_await durable.wait();
  if (!outcome) stats.unknown(protocol, points);
  co_return outcome;
}

}  // namespace halite::ingest
