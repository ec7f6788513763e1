#include "storage/cells/counters/counter_metrics.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

namespace halite::storage {
namespace {

constexpr std::string_view kRow = "counters";

// Series that are known at once.
class OnePart final : public SeriesIterator {
 public:
  explicit OnePart(std::vector<Bytes> series) : series_(std::move(series)) {}
  Task<std::optional<std::vector<Bytes>>> next() override {
    co_return std::exchange(series_, std::nullopt);
  }

 private:
  std::optional<std::vector<Bytes>> series_;
};

}  // namespace

Task<CounterMetrics::Names> CounterMetrics::stored() {
  std::vector<RowRead> reads;
  reads.push_back({Bytes(kRow), 0, {}});
  CO_TRY(const std::vector<Row> rows, co_await settings_->read(std::move(reads)));
  Names names;
  for (const Cell& cell : rows.front().cells) names[cell.qualifier] = cell.value;
  co_return names;
}

Task<void> CounterMetrics::add(UidTable& uids, std::vector<std::string> metrics, bool create) {
  if (metrics.empty()) co_return Result<void>();
  const std::shared_ptr<const SeriesPin> pin = uids.pin();
  std::vector<UidTable::NameRequest> requests;
  for (const std::string& metric : metrics) {
    requests.push_back({.kind = NameKind::kMetric, .name = metric, .create = create});
  }
  CO_TRY(const auto resolved, co_await uids.resolve(std::move(requests)));
  Names fresh;
  std::vector<UidTable::UidRequest> kept;
  RowWrite write{.row = Bytes(kRow), .puts = {}, .deletes = {}};
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (!resolved[i]) continue;
    const Bytes uid = uids.uid_bytes(NameKind::kMetric, resolved[i]->uid);
    if (!fresh.try_emplace(uid, metrics[i]).second) continue;
    kept.push_back({.kind = NameKind::kMetric, .uid = resolved[i]->uid});
    write.puts.push_back({{0, uid}, metrics[i], 0});
  }
  if (fresh.empty()) co_return Result<void>();
  CO_TRY_VOID(co_await uids.flush_rows());
  CO_TRY_VOID(co_await uids.keep(std::move(kept)));  // also while they have no series
  std::vector<RowWrite> writes(1, std::move(write));
  CO_TRY_VOID(co_await settings_->write(std::move(writes)));
  keep(fresh);
  co_return Result<void>();
}

void CounterMetrics::keep(const Names& names) {
  const std::unique_lock lock(mutex_);
  map_to_rules(names);
  if (changes_ != nullptr) changes_->changed_from(std::numeric_limits<TimestampMs>::min());
}

void CounterMetrics::set_rules(const CounterRules& rules, const Names& names) {
  const std::unique_lock lock(mutex_);
  rules_ = &rules;
  map_to_rules(names);
}

void CounterMetrics::map_to_rules(const Names& names) {
  for (const auto& [uid, name] : names) {
    const CounterRule* const rule = rules_->find(name);
    by_uid_[uid] = by_name_[name] = rule == nullptr ? &rules_->without_rule() : rule;
  }
}

const CounterRule* CounterMetrics::rule_of(std::string_view name) const {
  const std::shared_lock lock(mutex_);
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

const CounterRule* CounterMetrics::rule_of(const Series& series) const {
  const std::shared_lock lock(mutex_);
  const auto found = by_uid_.find(Bytes(series.tsuid.metric()));
  return found == by_uid_.end() ? nullptr : found->second;
}

std::unique_ptr<SeriesIterator> CounterMetrics::series_among(const std::vector<Bytes>& tsuids,
                                                             std::size_t width) const {
  std::vector<Bytes> among;
  const std::shared_lock lock(mutex_);
  for (const Bytes& tsuid : tsuids) {
    if (by_uid_.contains(tsuid.substr(0, width))) among.push_back(tsuid);
  }
  return std::make_unique<OnePart>(std::move(among));
}

}  // namespace halite::storage
