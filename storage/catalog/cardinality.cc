#include "storage/catalog/cardinality.h"

#include <algorithm>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "storage/cells/layouts/tsuid.h"

namespace halite::storage {
namespace {

constexpr std::uint32_t kRowsTogether = 4096;
constexpr std::size_t kNamesTogether = 4096;
constexpr std::size_t kMembersTogether = 16'384;
constexpr std::int64_t kYoungMinMs = 1000;
constexpr std::int64_t kYoungTimes = 20;  // multiple of the count's duration
constexpr std::int64_t kBaseMs = 60 * 60 * 1000;

}  // namespace

// Counts by uid.
class CardinalityCounter::Tally {
 public:
  explicit Tally(const UidWidths& widths) : widths_(widths) {}

  // kInvalidArgument: not a tsuid.
  Result<void> add(BytesView tsuid) {
    TRY(const SeriesUids uids, parse_tsuid(widths_, tsuid));
    ++series;
    ++metrics[uids.metric];
    for (const UidPair& pair : uids.pairs) {
      TagKey& key = keys[pair.key];
      ++key.series;
      add_uid(pair.value, key.values);
    }
    return {};
  }

  struct TagKey {
    std::uint64_t series = 0;
    IdSet values;
  };
  std::uint64_t series = 0;
  ByMetric metrics;
  boost::unordered_flat_map<std::uint64_t, TagKey> keys;

 private:
  const UidWidths widths_;
};

// The turn of the caller that counts. Wakes the others also if its coroutine is destroyed.
class CardinalityCounter::Turn {
 public:
  explicit Turn(CardinalityCounter& cardinality_counter)
      : cardinality_counter_(cardinality_counter) {}
  Turn(const Turn&) = delete;
  ~Turn() {
    if (!ours) return;
    {
      const std::lock_guard lock(cardinality_counter_.mutex_);
      cardinality_counter_.counting_.reset();
    }
    done.finish({});
  }

  // The result to return at once, if there is one.
  std::shared_ptr<const Cardinality> take() {
    const std::lock_guard lock(cardinality_counter_.mutex_);
    const bool busy = cardinality_counter_.counting_.has_value();
    if (cardinality_counter_.last_ != nullptr && (busy || cardinality_counter_.is_young()))
      return cardinality_counter_.last_;
    if (busy) {
      others = cardinality_counter_.counting_;
    } else {
      cardinality_counter_.counting_ = done;
      ours = true;
    }
    return nullptr;
  }

  Completion done;
  std::optional<Completion> others;
  bool ours = false;

 private:
  CardinalityCounter& cardinality_counter_;
};

CardinalityCounter::CardinalityCounter(SeriesRegistry& registry, const UidWidths& widths,
                                       const Clock& clock, boost::asio::any_io_executor executor)
    : registry_(registry), widths_(widths), clock_(clock), executor_(std::move(executor)) {}

bool CardinalityCounter::is_young() const {
  const std::int64_t age = clock_.now_ms() - last_->counted_ms;
  return age < std::max(kYoungMinMs, took_ms_ * kYoungTimes);
}

Result<void> CardinalityCounter::check_stop() const {
  if (!stopped_) return {};
  return fail(Errc::kUnavailable, "the server is stopping");
}

Task<std::shared_ptr<const Cardinality>> CardinalityCounter::counts() {
  for (;;) {
    Turn turn(*this);
    std::shared_ptr<const Cardinality> known = turn.take();
    if (known != nullptr) co_return known;
    if (turn.others) {
      const Result<void> waited = co_await turn.others->wait();
      static_cast<void>(waited);  // if that count failed, this one retries
      continue;
    }
    const TimestampMs begin = clock_.now_ms();
    auto counting = boost::asio::co_spawn(executor_, count(), boost::asio::use_awaitable);
    CO_TRY(std::shared_ptr<const Cardinality> counted, co_await std::move(counting));
    const std::lock_guard lock(mutex_);
    took_ms_ = clock_.now_ms() - begin;
    last_ = counted;
    co_return counted;
  }
}

// Counts the series in memory, then stored series that are not: new series have no rows yet.
Task<std::shared_ptr<const Cardinality>> CardinalityCounter::count() {
  const SeriesTable& table = registry_.table();
  const std::shared_ptr<const SeriesPin> pin = table.pin();
  const auto executor = co_await boost::asio::this_coro::executor;
  Tally tally(widths_);
  SeriesTable::NameUids uids;
  table.add_uids(uids);
  for (const std::uint32_t metric : uids[static_cast<std::size_t>(NameKind::kMetric)]) {
    for (std::size_t at = 0;;) {
      CO_TRY_VOID(check_stop());
      const auto members = table.of_metric(metric, at, kMembersTogether);
      for (const SeriesTable::Member& member : members) {
        CO_TRY_VOID(tally.add(table.at(member.id).tsuid.bytes()));
      }
      at += members.size();
      if (members.size() < kMembersTogether) break;
      co_await boost::asio::post(executor, boost::asio::use_awaitable);
    }
  }
  const std::unique_ptr<Scanner> rows = registry_.scan_series();
  for (;;) {
    auto reading = rows->next({.rows_max = kRowsTogether});
    CO_TRY(const std::vector<Row> some, co_await std::move(reading));
    if (some.empty()) break;
    CO_TRY_VOID(check_stop());
    for (const Row& row : some) {
      if (!table.find(row.key)) CO_TRY_VOID(tally.add(row.key));
    }
  }
  auto counts = std::make_shared<Cardinality>();
  counts->counted_ms = clock_.now_ms();
  counts->series = tally.series;
  remember(counts->counted_ms, tally.metrics);
  counts->grown_since_ms = base_->time;
  auto metrics = name_metrics(&tally, counts.get());
  CO_TRY_VOID(co_await std::move(metrics));
  auto keys = name_tag_keys(&tally, counts.get());
  CO_TRY_VOID(co_await std::move(keys));
  co_return counts;
}

// The base is a count from 1 to 2 hours ago.
void CardinalityCounter::remember(TimestampMs now, const ByMetric& metrics) {
  if (!base_) {
    base_ = Past{.time = now, .metrics = metrics};
  } else if (now - (next_ ? next_->time : base_->time) >= kBaseMs) {
    if (next_) base_ = std::move(*next_);
    next_ = Past{.time = now, .metrics = metrics};
  }
}

Task<void> CardinalityCounter::name_metrics(const Tally* tally, Cardinality* counts) {
  std::vector<UidTable::UidRequest> asked;
  for (const auto& [uid, series] : tally->metrics) asked.push_back({NameKind::kMetric, uid});
  for (std::size_t at = 0; at < asked.size(); at += kNamesTogether) {
    const std::size_t end = std::min(asked.size(), at + kNamesTogether);
    std::vector<UidTable::UidRequest> some(asked.begin() + static_cast<std::ptrdiff_t>(at),
                                           asked.begin() + static_cast<std::ptrdiff_t>(end));
    auto naming = registry_.uids().names_of(std::move(some));
    CO_TRY(const auto names, co_await std::move(naming));
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!names[i]) continue;  // removed meanwhile
      const std::uint64_t uid = asked[at + i].uid;
      const std::uint64_t series = tally->metrics.at(uid);
      const auto before = base_->metrics.find(uid);
      const std::uint64_t then = before == base_->metrics.end() ? 0 : before->second;
      counts->metrics.push_back(
          {.name = std::string(names[i]->name),
           .series = series,
           .grown = static_cast<std::int64_t>(series) - static_cast<std::int64_t>(then)});
    }
  }
  std::ranges::sort(counts->metrics, {}, &Cardinality::Metric::name);
  co_return Result<void>();
}

Task<void> CardinalityCounter::name_tag_keys(const Tally* tally, Cardinality* counts) {
  std::vector<UidTable::UidRequest> asked;
  for (const auto& [uid, key] : tally->keys) asked.push_back({NameKind::kTagKey, uid});
  const std::vector<UidTable::UidRequest> order = asked;
  auto naming = registry_.uids().names_of(std::move(asked));
  CO_TRY(const auto names, co_await std::move(naming));
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i]) continue;
    const Tally::TagKey& key = tally->keys.at(order[i].uid);
    counts->tag_keys.push_back({.name = std::string(names[i]->name),
                                .series = key.series,
                                .values = key.values.cardinality()});
  }
  std::ranges::sort(counts->tag_keys, {}, &Cardinality::TagKey::name);
  co_return Result<void>();
}

}  // namespace halite::storage
