#include "ingest/writer_core.h"

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

#include <fmt/format.h>

namespace halite::ingest {
namespace {

// Not a source of randomness that anything is repeated from: it only keeps strangers from guessing
// which keys collide.
std::uint64_t cache_seed() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device();
}

// A series' name as one key, whatever grammar it came in.
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

Error for_sender(Error error) {
  if (error.code == Errc::kTimeout) error.code = Errc::kUnavailable;
  return error;
}

std::optional<Error> worth_sending_again(const Committed& committed) {
  if (committed.failed) return for_sender(*committed.failed);
  const auto found = std::ranges::find_if(
      committed.refused, [](const DraftRefusal& refusal) { return refusal.why.passes; });
  if (found == committed.refused.end()) return std::nullopt;
  return Error{Errc::kUnavailable, found->why.text, {}};
}

WriterCore::WriterCore(storage::PointStore& store_in, const Clock& clock, IngestOptions options_in,
                       prometheus::Registry& registry)
    : store(store_in),
      options(std::move(options_in)),
      rules(options.limits, options.special_characters),
      cache(options.limits.series_cache_bytes_max, cache_seed()),
      stats(options.limits, clock, registry) {}

void WriterCore::add_named(Draft& draft, SeriesCache::Reader& reader, NamedPoint point,
                           std::uint32_t origin) const {
  const PointBits bits{.time = point.time, .value = point.value, .flags = point.flags};
  const NamedKey named(point.series);
  const std::uint64_t hash = cache.hash(named.key());
  if (const auto id = reader.find(named.key(), hash)) {
    draft.add(*id, bits, origin);
  } else if (!draft.add_if_waiting(named.key(), hash, bits, origin)) {
    draft.add_waiting(named.key(), hash, std::move(point.series), bits, origin);
  }
}

Task<void> WriterCore::resolve(Draft& draft, Protocol protocol,
                               std::vector<DraftRefusal>& refused) {
  if (draft.waiting().empty()) co_return Result<void>();
  std::vector<SeriesName> names = draft.take_names();
  const std::uint64_t epoch = cache.epoch();
  CO_TRY(const auto answers, co_await store.intern(std::move(names), options.create));
  std::vector<std::optional<storage::SeriesId>> ids;
  ids.reserve(answers.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const WaitingSeries& series = draft.waiting()[i];
    ids.push_back(answers[i] ? std::optional(*answers[i]) : std::nullopt);
    if (answers[i]) cache.insert(series.key(), series.hash, *answers[i], epoch);
  }
  for (const Draft::Lost& lost : draft.resolve(ids)) {
    const WaitingSeries& series = draft.waiting()[lost.series];
    Refused why = refused_by_store(answers[lost.series].error());
    stats.refused(protocol, why, fmt::format("{} {}", series.metric, series.tags));
    refused.push_back({.origin = lost.origin, .why = std::move(why)});
  }
  stats.cache_is(cache.bytes(), cache.keys());
  co_return Result<void>();
}

std::string WriterCore::describe(storage::SeriesId id) const {
  const storage::Series& series = store.series(id);
  std::string text(series.metric);
  for (const storage::SeriesTag& tag : series.tags) {
    text += fmt::format(" {}={}", tag.key, tag.value);
  }
  return text;
}

Task<Committed> WriterCore::commit(Draft draft, Protocol protocol) {
  Committed committed;
  Result<void> handed = co_await resolve(draft, protocol, committed.refused);
  const std::size_t points = draft.points();
  if (handed && points > 0) handed = co_await hand_over(draft, protocol, committed);
  if (!handed) {
    committed.failed = std::move(handed).error();
    committed.not_taken = points;
    stats.refused(protocol, refused_by_store(*committed.failed).reason, points);
  }
  std::ranges::sort(committed.refused, {}, &DraftRefusal::origin);
  stats.taken(protocol, committed.taken);
  co_return std::move(committed);
}

Task<void> WriterCore::hand_over(Draft& draft, Protocol protocol, Committed& committed) {
  const std::size_t points = draft.points();
  storage::PointBatch batch = draft.take_batch();
  const std::vector<storage::SeriesId> series = batch.series;  // to name what is refused
  CO_TRY(auto accepted, co_await store.append(std::move(batch)));
  for (storage::Refusal& refusal : accepted.refused) {
    Refused why = refused_by_store(refusal.error);
    stats.refused(protocol, why, describe(series[refusal.index]));
    committed.refused.push_back({.origin = draft.origin(refusal.index), .why = std::move(why)});
  }
  committed.taken = points - accepted.refused.size();
  committed.durable = std::move(accepted.durable);
  if (protocol == Protocol::kHttp) store.hurry();  // its answer waits for that
  co_return Result<void>();
}

Task<void> WriterCore::settle(Completion durable, Protocol protocol, std::uint64_t points) {
  Result<void> outcome = co_await durable.wait();
  if (!outcome) stats.unknown(protocol, points);
  co_return outcome;
}

}  // namespace halite::ingest
